"""Cutting: what reaches outside of a program, into files, weights and the system, is left out or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.cutting import cut_package
from sources.infer.rewritten.drawn import drawn
from tests.cuts import HEAD, cut


def test_arguments_that_touch_the_system_are_left_out_and_an_exit_is_no_harm(tmp_path: Path) -> None:
    text = HEAD + (
        "import sys\nclass Reads(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.text = open('x').read()\nclass Net(nn.Module):\n    def __init__(self, part, size):\n"
        "        super().__init__()\n        if size < 0:\n            sys.exit(1)\n        self.line = nn.Linear(8, size)\n"
        "    def forward(self, x):\n        return self.line(x)\ndef make():\n    return Net(Reads(), 4)\n"
    )
    payload = {"files": {"net.py": text}, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
               "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    assert "raise RuntimeError(1)" in found["source"]
    assert "open" not in found["source"]


def test_an_extension_that_is_built_at_import_is_not_built() -> None:
    text = (
        HEAD + "import subprocess\nfrom torch.utils import cpp_extension\n"
        "def version():\n    return subprocess.check_output(['nvcc', '-V'])\n"
        "def load():\n    version()\n    return cpp_extension.load(name='fast', sources=['fast.cu'])\n"
        "def table():\n    return [1, 2]\n"
        "fast = load()\nSIZES = table()\n"
        "class Net(nn.Module):\n    def __init__(self, quick=False):\n        super().__init__()\n"
        "        self.quick, self.line = quick, nn.Linear(SIZES[0], SIZES[1])\n"
        "    def forward(self, x):\n        return fast.forward(x) if self.quick else self.line(x)\n"
    )
    namespace: dict[str, Any] = {}
    source = cut({"net.py": text}, "net.py", "Net")
    exec(source, namespace)
    assert namespace["Net"]()(torch.ones(3, 1)).shape == (3, 2)
    assert "fast = None" in source


def test_setters_of_properties_stay_setters() -> None:
    text = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, rate):\n        super().__init__()\n"
        "        self._rate = rate\n\n    @property\n    def rate(self):\n        return self._rate\n\n"
        "    @rate.setter\n    def rate(self, new):\n        self._rate = new\n\n"
        "    def forward(self, x):\n        return x * self.rate\n"
    )
    assert "@rate.setter" in cut({"net.py": text}, "net.py", "Net")


def test_a_module_with_a_lock_runs_and_one_that_opens_a_file_on_a_branch_is_cut_without_it() -> None:
    text = (
        "import os, queue, threading\nimport torch.nn as nn\nfrom torch.utils import model_zoo\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, path=None):\n        super().__init__()\n"
        "        self.lock, self.waiting = threading.Lock(), queue.Queue()\n"
        "        if path:\n            os.makedirs(path)\n"
        "        elif path is False:\n            self.load_state_dict(model_zoo.load_url('http://x'))\n\n"
        "    def forward(self, x):\n        with self.lock:\n            return x * 2\n"
    )
    made = cut({"net.py": text}, "net.py", "Net")
    assert "makedirs" not in made
    assert "load_url" not in made
    assert made.count("raise NotImplementedError") == 1
    namespace: dict[str, Any] = {}
    exec(made, namespace)
    x = torch.ones(2, 3)
    assert torch.equal(namespace["Net"]()(x), x * 2)
    namespace["Net"](False)  # keeps the weights it was made with
    with pytest.raises(NotImplementedError):
        namespace["Net"]("somewhere")


def test_a_block_that_only_fetches_weights_is_passed_over_and_one_that_others_build_on_is_not() -> None:
    text = HEAD + (
        "from huggingface_hub import hf_hub_download\n\n\ndef filled(net, weights='imagenet'):\n"
        "    if weights is not None:\n        if weights not in ('imagenet',):\n            raise KeyError(weights)\n"
        "        place = hf_hub_download(weights, filename='m.bin')\n        net.load_state_dict(torch.load(place))\n"
        "    return net\n\n\ndef sized(weights):\n    size = 3\n    if weights:\n"
        "        size = len(hf_hub_download(weights))\n    return size\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, weights=''):\n        super().__init__()\n"
        "        self.layer = filled(nn.Linear(3, sized(weights)))\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(2, 3)).shape == (2, 3)
    with pytest.raises(NotImplementedError):
        namespace["Net"]("imagenet")


def test_of_a_branch_that_loads_weights_the_rest_stays() -> None:
    text = HEAD + (
        "from torch.hub import load_state_dict_from_url\n\n\ndef net(pretrained=None, classes=3):\n"
        "    model = nn.Linear(4, classes)\n    if pretrained:\n"
        "        state = load_state_dict_from_url('http://x')\n        if classes != 3:\n"
        "            state['bias'] = model.state_dict()['bias']\n        model.load_state_dict(state)\n"
        "        model = nn.Sequential(model, nn.ReLU())\n    return model\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, weights='imagenet'):\n        super().__init__()\n"
        "        self.layer = net(weights)\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert isinstance(namespace["Net"]().layer, torch.nn.Sequential)
    assert isinstance(namespace["Net"](None).layer, torch.nn.Linear)


def test_weights_are_not_loaded_from_files_but_copies_of_weights_stay() -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, dim, path='weights.pth'):\n        super().__init__()\n"
        "        self.up = nn.Linear(dim, dim)\n        self.down = nn.Linear(dim, dim)\n"
        "        self.down.load_state_dict(self.up.state_dict())\n        self.restore(path)\n"
        "        own = self.state_dict()\n        saved = torch.load(path)\n        kept = {}\n"
        "        for name, value in saved.items():\n            kept[name] = value\n"
        "        self.load_state_dict(kept)\n\n"
        "    def restore(self, path):\n        self.load_state_dict(torch.load(path, map_location='cpu'))\n\n"
        "    def forward(self, x):\n        return self.down(self.up(x))\n"
    )
    source = cut({"net.py": text}, "net.py", "Net")
    assert "torch.load" not in source
    assert "saved" not in source
    assert "self.down.load_state_dict(self.up.state_dict())" in source
    scope: dict[str, Any] = {}
    exec(source, scope)
    assert scope["Net"](4)(torch.ones(1, 4)).shape == (1, 4)


def test_what_only_says_where_weights_are_goes_with_them() -> None:
    text = HEAD + (
        "def found(name):\n    with open(name, 'rb') as file:\n        return file.name\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, dim, name='a'):\n        super().__init__()\n"
        "        size = int(dim)\n        self.line = nn.Linear(dim, size)\n        place = found(name)\n"
        "        self.load_state_dict(torch.load(place, map_location=str(size)))\n        print('loaded', place)\n\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    source = cut({"net.py": text}, "net.py", "Net")
    assert "found" not in source
    scope: dict[str, Any] = {}
    exec(source, scope)
    assert scope["Net"](4)(torch.ones(1, 4)).shape == (1, 4)


def test_what_loads_weights_and_logs_answers_though_its_package_is_absent() -> None:
    text = (
        HEAD + "from mmdet.utils import get_root_logger\nfrom mmcv.runner import _load_checkpoint\n"
        "from rich.logging import RichHandler\n"
        "class Net(nn.Module):\n    def __init__(self, init_cfg=None):\n        super().__init__()\n"
        "        self.line = nn.Linear(3, 2)\n        self.start(init_cfg)\n"
        "    def start(self, init_cfg):\n        logger = get_root_logger()\n"
        "        handler = RichHandler(show_time=False)\n        handler.setLevel('INFO')\n"
        "        logger.addHandler(handler)\n"
        "        if init_cfg is None:\n            logger.warning('from scratch')\n"
        "        else:\n            state = _load_checkpoint(init_cfg, map_location='cpu')\n"
        "            if 'model' in state:\n                raise ValueError(state)\n"
        "        self.path = NowhereBound(3) if init_cfg == 'dropped' else nn.Identity()\n"
        "    def explain(self):\n        return nowhere_bound(self)\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]({"checkpoint": "x.pth"})(torch.ones(1, 3)).shape == (1, 2)
    assert namespace["Net"]()(torch.ones(1, 3)).shape == (1, 2)


def test_weights_of_old_spelling_that_start_as_nothing_are_drawn() -> None:
    text = "class Net:\n    def __init__(self):\n        nn.init.constant(self.norm.weight, 0)\n        self.x = 1\n"
    assert "constant" not in drawn(text) and "self.x = 1" in drawn(text)


def test_a_branch_for_tensors_that_override_torch_is_never_taken() -> None:
    text = HEAD + (
        "from torch.overrides import handle_torch_function, has_torch_function\n\n\n"
        "def attend(x, width=None):\n    if not torch.jit.is_scripting():\n"
        "        if any(type(t) is not torch.Tensor for t in (x,)) and has_torch_function((x,)):\n"
        "            return handle_torch_function(attend, (x,), x)\n    return x * width\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return attend(x, width=2)\n"
    )
    assert "handle_torch_function" not in cut({"net.py": text}, "net.py", "Net")


def test_what_the_host_is_refused_at_the_second_question_is_refused() -> None:
    text = HEAD + (
        "import cupy\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        out = x.new_zeros(x.shape)\n"
        "        if x.is_cuda == True:\n            cupy.launch(x, out)\n"
        "        elif x.is_cuda == False:\n            raise NotImplementedError()\n        return out\n"
    )
    exec(cut({"net.py": text}, "net.py", "Net"), space := dict[str, Any]())
    with pytest.raises(NotImplementedError):  # nothing was computed where neither way was gone
        space["Net"]()(torch.ones(2))


def test_what_an_absent_package_says_of_processes_is_that_there_is_one() -> None:
    text = HEAD + (
        "from farm import get_rank, is_dist_avail_and_initialized, is_main_process, world_size\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        if is_dist_avail_and_initialized():\n"
        "            raise NotImplementedError\n"
        "        return x / world_size() + get_rank() + is_main_process()\n"
    )
    exec(cut({"net.py": text}, "net.py", "Net"), space := dict[str, Any]())
    assert torch.equal(space["Net"]()(torch.ones(2)), torch.full((2,), 2.0))
