"""Programs that look for files, weights and packages that a task has not, and what it is told instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.hints.hints import Hints
from sources.infer.forward.starts import starts
from sources.infer.forward.variants import left_out
from sources.infer.inputs import Many
from sources.infer.running.initial import HUGE, quicken, settle
from sources.mine import replacements
from sources.text.danger import touches_system
from sources.text.symbols import Package
from tests.attempts import attempted
from tests.cuts import HEAD, cut

SETTINGS = """
import os


class Config:
    def __init__(self):
        self.home = os.path.join(os.getcwd(), "data")
        self.sets = [s for s in os.listdir(self.home)]
        scripts = [f for f in os.listdir(".") if f == "train.sh"]
        if scripts:
            with open(scripts[0]) as f:
                self.lines = f.readlines()
        self.width = 8
        self.workers = min(4, os.cpu_count())


config = Config()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(config.width, config.width)

    def forward(self, x):
        return self.line(x)
"""
WEIGHTS = """
from nowhere import load_file_from_url, hf_hub_url, SynchronizedBatchNorm2d
import sys, logging
LOGGER = logging.getLogger(sys.argv[0])


def url_of(name):
    return hf_hub_url(repo_id="some/one", filename=name)


urls = {"net": url_of("net.pth")}


def load_pretrained_network(net, path, strict=True):
    if path.startswith("https"):
        path = load_file_from_url(path)
    LOGGER.info(path)
    state = torch.load(path)
    state = state["params"]
    net.load_state_dict(state, strict=strict)


class Net(nn.Module):
    def __init__(self, pretrained=True):
        super().__init__()
        self.norm = SynchronizedBatchNorm2d(8)
        if pretrained:
            LOGGER.info("loading")
            load_pretrained_network(self, urls["net"])

    def forward(self, x):
        return self.norm(x)
"""
OLD = """
from torch.autograd import Function


class Scaled(Function):
    def __init__(self, factor):
        super(Scaled, self).__init__()
        self.factor = factor

    def forward(self, x):
        self.save_for_backward(x)
        return x * self.factor

    def backward(self, grad):
        return grad * self.factor


class New(Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1

    @staticmethod
    def backward(ctx, grad):
        return grad


class Net(nn.Module):
    def forward(self, x):
        return New.apply(Scaled(2)(x))
"""


def _run(text: str, shape: tuple[int, ...]) -> torch.Tensor:
    made = cut({"net.py": HEAD + text}, "net.py", "Net")
    space: dict[str, Any] = {}
    exec(made, space)
    assert not touches_system(made)
    answer: torch.Tensor = space["Net"]()(torch.ones(shape))
    return answer


TIMED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.cuda.set_device(0)
        self.where = torch.device(torch.cuda.current_device())

    def forward(self, x):
        torch.cuda.nvtx.range_push("add")
        y = x.to(self.where) + 1
        torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
        return y if torch.cuda.get_device_capability() >= (7, 0) else x
"""


@pytest.mark.parametrize(("text", "shape"), [(SETTINGS, (2, 8)), (WEIGHTS, (2, 8, 4, 4)), (TIMED, (3,))])
def test_a_class_runs_without_the_files_or_the_gpu_that_its_program_looks_for(
    text: str, shape: tuple[int, ...]
) -> None:
    assert _run(text, shape).shape == shape


def test_a_function_of_old_is_called_as_the_plain_method_that_it_was() -> None:
    assert torch.equal(_run(OLD, (3,)), torch.full((3,), 3.0))


def test_deformable_convolutions_of_a_compiled_extension_are_plain_torch() -> None:
    text = """
import _ext as _backend


class Net(nn.Module):
    def forward(self, x):
        weight, offset, mask = torch.ones(4, 3, 3, 3), torch.zeros(1, 18, 6, 6), torch.ones(1, 9, 6, 6)
        return _backend.dcn_v2_forward(x, weight, torch.zeros(4), offset, mask, 3, 3, 1, 1, 1, 1, 1, 1, 1)
"""
    expected = torch.nn.functional.conv2d(torch.ones(1, 3, 6, 6), torch.ones(4, 3, 3, 3), padding=1)
    torch.testing.assert_close(_run(text, (1, 3, 6, 6)), expected)


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from .. import deform_conv_cuda as ops", "deform_conv_forward_cuda"),
        ("try:\n    from . import deform_conv_ext as ops\nexcept ImportError:\n    ops = None", "deform_conv_forward"),
    ],
)
def test_what_was_compiled_beside_a_file_is_plain_torch_off_a_gpu(imported: str, called: str) -> None:
    text = f"""{HEAD}{imported}


class Deformed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, offset, weight):
        answer = x.new_empty(1, 4, 6, 6)
        if not x.is_cuda:
            raise NotImplementedError
        else:
            ops.{called}(x, weight, offset, answer, x.new_empty(0), x.new_empty(0), 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1)
        return answer


class Net(nn.Module):
    def forward(self, x):
        return Deformed.apply(x, torch.zeros(1, 18, 6, 6), torch.ones(4, 3, 3, 3))
"""
    space: dict[str, Any] = {}
    files = {"net/ops/__init__.py": "", "net/ops/functions/__init__.py": "", "net/ops/functions/net.py": text}
    exec(cut(files, "net/ops/functions/net.py", "Net"), space)
    expected = torch.nn.functional.conv2d(torch.ones(1, 3, 6, 6), torch.ones(4, 3, 3, 3), padding=1)
    torch.testing.assert_close(space["Net"]()(torch.ones(1, 3, 6, 6)), expected)


def test_what_a_parser_is_told_to_take_for_granted_is_a_default() -> None:
    text = "def change(parser):\n    parser.set_defaults(norm_G='spectral')\n    return parser\n"
    assert Hints(Package({"a.py": text}, replacements())).defaults(["norm_G"]) == {"norm_G": "'spectral'"}


def test_either_or_of_settings_is_tried_with_one_of_them_left_out(tmp_path: Path) -> None:
    assert left_out({"a": "1", "b": "None"}, "TypeError: a", "a is not None") == []
    outcome = attempted("""
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        named, told = config.kind is not None, config.width is not None
        assert named ^ told
        self.line = nn.Linear(config.width or {"small": 8}[config.kind], 8)

    def forward(self, x):
        return self.line(x)
""", tmp_path)  # fmt: skip
    assert not outcome["reason"], outcome["detail"]


class Joined(torch.nn.Module):
    """Takes as many maps as there are."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other, self.third = (torch.nn.Conv2d(n, 8, 1) for n in (8, 16, 32))

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.one(inputs[-1]) + self.other(inputs[-2]) + self.third(inputs[-3])


def test_of_inputs_that_are_counted_from_the_end_there_are_as_many_as_are_taken() -> None:
    assert any(len(specs) == 3 and not any(isinstance(s, Many) for s in specs) for specs in starts(Joined()))


def test_huge_weights_are_filled_when_it_is_known_that_they_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("normal_", "uniform_"):
        monkeypatch.setattr(torch.Tensor, name, getattr(torch.Tensor, name))
    monkeypatch.setattr(torch.nn.init, "trunc_normal_", torch.nn.init.trunc_normal_)
    quicken()
    kept = torch.nn.Parameter(torch.zeros(HUGE + 1))
    gone = torch.nn.Parameter(torch.zeros(HUGE + 1))
    held = gone.data
    with torch.no_grad():
        kept.uniform_(1, 2)
        gone.normal_()
    del gone
    assert not kept.any()
    settle()
    assert bool((kept >= 1).all()) and not held.any()


def test_what_asks_where_a_tensor_is_goes_the_way_without_compiled_files() -> None:
    text = f"""{HEAD}import os
from net.build import load_plugin
_plugin = None


def _init():
    global _plugin
    _plugin = load_plugin(os.listdir("."))
    return True


def bias_act(x, impl="cuda"):
    assert impl in ["ref", "cuda"]
    if impl == "cuda" and x.device.type == "cuda" and _init():
        return _plugin.bias_act(x)
    return x.sin()


class Net(nn.Module):
    def forward(self, x):
        assert x.is_cuda
        return bias_act(x)
"""
    build = "import os\n\n\ndef load_plugin(files):\n    return os.popen(' '.join(files))\n"
    source = cut({"net/__init__.py": "", "net/build.py": build, "net/net.py": text}, "net/net.py", "Net")
    assert "if impl == 'cuda'" in source.replace('"', "'")
    assert "is_cuda" not in source and "device.type" not in source
    space: dict[str, Any] = {}
    exec(source, space)
    torch.testing.assert_close(space["Net"]()(torch.ones(2, 3)), torch.ones(2, 3).sin())


def test_who_asks_for_its_rank_is_the_only_process() -> None:
    text = f"""{HEAD}import os


def rank():
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


class Net(nn.Module):
    def forward(self, x):
        number, world = rank()
        return x.sin()[number::world]
"""
    space: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), space)
    torch.testing.assert_close(space["Net"]()(torch.ones(2, 3)), torch.ones(2, 3).sin())
