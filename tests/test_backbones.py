"""Networks of other packages that classes are built on: taken over by name, without trained weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sources.cut import slicer
from sources.cut.pruning import pruned
from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.mine import replacements
from sources.probe import load
from sources.text.registries import Registries
from sources.text.roots import Roots
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.wheels import wheel

NETS = {
    "timm/__init__.py": "from .models import create_model\n",
    "timm/models/__init__.py": "from ._factory import create_model\nfrom .tiny import *\n",
    "timm/models/_factory.py": "def create_model(name):\n    raise SystemExit('of its own')\n",
    "timm/models/_registry.py": "import sys\n\n\ndef register_model(fn):\n    sys.modules[fn.__module__].x = fn\n    return fn\n",
    "timm/models/_builder.py": "def build_model_with_cfg(*a):\n    raise SystemExit('of its own')\n",
    "timm/models/_features.py": "class FeatureListNet:\n    pass\n",
    "timm/layers/__init__.py": "from .create_norm import get_norm_layer\n",
    "timm/layers/create_norm.py": "get_norm_layer = 1 / 0\n",
    "timm/layers/norm.py": "import torch.nn as nn\n\n\n" + "\n\n".join(
        f"class {name}(nn.LayerNorm):\n    theirs = True\n\n" for name in ("GroupNorm", "GroupNorm1", "LayerNorm", "LayerNorm2d")),
    "timm/models/tiny.py": (
        "import torch.nn as nn\nfrom timm.layers import get_norm_layer\nfrom ._builder import build_model_with_cfg\n"
        "from ._registry import register_model\n\n\n"
        "class Tiny(nn.Module):\n    def __init__(self, num_classes=10, depth=1):\n        super().__init__()\n"
        "        self.norm = get_norm_layer('layernorm2d')(4)\n"
        "        self.head = nn.Linear(4, num_classes)\n\n    def forward(self, x):\n        return self.head(self.norm(x))\n\n\n"
        "def checkpoint_filter_fn(state, model):\n    return unheard_of(state)\n\n\n"
        "def _create(variant, pretrained=False, **kwargs):\n    return build_model_with_cfg(\n"
        "        Tiny, variant, pretrained, pretrained_filter_fn=checkpoint_filter_fn, **kwargs)\n\n\n"
        "@register_model\ndef tiny_net(pretrained=False, **kwargs):\n    return _create('tiny_net', pretrained, **kwargs)\n\n\n"
        "@register_model\ndef tiny_other(pretrained=False, **kwargs):\n    return _create('tiny_other', pretrained, **kwargs)\n"
    ),
}  # fmt: skip
VISION = {
    "torchvision/__init__.py": "",
    "torchvision/models/__init__.py": "from .small import *\n",
    "torchvision/models/_api.py": "import enum\n\n\nclass WeightsEnum(enum.Enum):\n    pass\n\n\ndef register_model():\n    1 / 0\n",
    "torchvision/models/small.py": (
        "import functools\nimport torch.nn as nn\nfrom ._api import WeightsEnum, register_model\n\n\n"
        "class Small_Weights(WeightsEnum):\n    IMAGENET1K_V1 = 1 / 0\n    DEFAULT = IMAGENET1K_V1\n\n\n"
        "def legacy(weights):\n    def outer(builder):\n        @functools.wraps(builder)\n        def inner(*a, pretrained=None, **k):\n"
        "            return builder(*a, **k)\n        return inner\n    return outer\n\n\n"
        "@register_model()\n@legacy(weights=('pretrained', Small_Weights.IMAGENET1K_V1))\n"
        "def smallnet(*, weights=None, classes=3):\n    weights = Small_Weights.verify(weights)\n"
        "    net = nn.Linear(4, classes)\n    if weights is not None:\n        net.load_state_dict(weights.get_state_dict())\n"
        "    return net\n"
    ),
}  # fmt: skip


def run(text: str, files: dict[str, str], module: str, tmp_path: Path) -> tuple[str, torch.Tensor]:
    """The text of a class ``Net`` with what it needs, and its answer."""
    roots = Roots([(f"{module}-1.0-py3-none-any.whl", wheel(files), module)])
    made = cut(Slicer(Package({"a.py": text}, replacements(), roots=roots)), "a.py", "Net")
    source = pruned(made.source, [made.name])
    answer: torch.Tensor = load(source, tmp_path)["Net"]()(torch.ones(2, 4))
    return source, answer


def test_a_network_of_timm_is_found_by_its_name(tmp_path: Path) -> None:
    text = (
        "import timm\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, backbone='tiny_net'):\n"
        "        super().__init__()\n        self.net = timm.create_model(backbone, pretrained=True, num_classes=7)\n\n"
        "    def forward(self, x):\n        return self.net(x)\n"
    )
    source, answer = run(text, NETS, "timm", tmp_path)
    assert answer.shape == (2, 7)
    assert "def tiny_net" in source
    assert "tiny_other" not in source
    assert "sys.modules" not in source
    assert "theirs = True" in source  # its layers are its own, not those of ours that others are given
    assert "what converts trained weights is not here" in source


def test_a_network_of_torchvision_has_no_trained_weights(tmp_path: Path) -> None:
    text = (
        "import torch.nn as nn\nfrom torchvision import models\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.a = models.smallnet(pretrained=True)\n"
        "        self.b = models.smallnet(weights=models.Small_Weights.DEFAULT)\n"
        "        self.c = models.smallnet(weights='DEFAULT', classes=3)\n\n"
        "    def forward(self, x):\n        return self.a(x) + self.b(x) + self.c(x)\n"
    )
    source, answer = run(text, VISION, "torchvision", tmp_path)
    assert answer.shape == (2, 3)
    assert "IMAGENET1K_V1 = DEFAULT = None" in source
    assert "functools.wraps(builder)" in source


def test_a_network_of_torchvision_is_made_where_trained_weights_are_asked_for_by_place(tmp_path: Path) -> None:
    refusing = "def handle_legacy_interface(**weights):\n    raise SystemExit('no weights available')\n"
    legacy = VISION["torchvision/models/small.py"].replace("@legacy(", "@handle_legacy_interface(")
    files = VISION | {"torchvision/models/_utils.py": refusing,
                      "torchvision/models/small.py": "from ._utils import handle_legacy_interface\n" + legacy}  # fmt: skip
    text = (
        "import torch.nn as nn\nfrom torchvision import models\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.a = models.smallnet(True, 5)\n"
        "        self.b = models.smallnet(pretrained=True, classes=5)\n\n"
        "    def forward(self, x):\n        return self.a(x) + self.b(x)\n"
    )
    source, answer = run(text, files, "torchvision", tmp_path)
    assert answer.shape == (2, 5)
    assert "no weights available" not in source


def test_only_the_file_of_a_wanted_entry_is_parsed() -> None:
    files = NETS | {"timm/models/broken.py": "@register_model\ndef broken_net(:\n"}
    package = Package({}, replacements(), roots=Roots([("timm-1.0-py3-none-any.whl", wheel(files), "timm")]))
    container = Here("timm/models/_registry.py", "_model_entrypoints")
    (entry,) = Registries(package).wanted([container], {"tiny_net", "resnet18"})
    assert entry.key == Here("_roots/timm==1.0/timm/models/tiny.py", "tiny_net")
    assert not package.broken


FACTORIES = {
    "parts/__init__.py": "from .factories import Layers\n",
    "parts/factories.py": (
        "import torch.nn as nn\n\n\nclass Factory:\n    def __init__(self):\n        self.known = {}\n\n"
        "    def function(self, name):\n        def add(made):\n            self.known[name] = made\n"
        "            return made\n\n        return add\n\n    def __getitem__(self, name):\n        return self.known[name]()\n\n\n"
        "Layers = Factory()\n\n\n@Layers.function('plain')\ndef plain():\n    return nn.Linear\n\n\n"
        "@Layers.function('strange')\ndef strange():\n    return nn.Bilinear\n"
    ),
}  # fmt: skip


def test_a_factory_of_another_package_comes_with_what_fills_it(tmp_path: Path) -> None:
    text = (
        "import torch.nn as nn\nfrom parts import Layers\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.line = Layers['plain'](4, 3)\n\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    source, answer = run(text, FACTORIES, "parts", tmp_path)
    assert answer.shape == (2, 3)
    assert "@Layers.function('plain')" in source
    assert "Bilinear" not in source


def test_entries_that_need_too_much_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "import timm\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, backbone=None):\n"
        "        super().__init__()\n        self.line = nn.Linear(4, 2)\n        if backbone == 'tiny_net':\n"
        "            self.line = timm.create_model(backbone)\n\n    def forward(self, x):\n        return self.line(x)\n"
    )
    assert "class Tiny" in run(text, NETS, "timm", tmp_path)[0]
    monkeypatch.setattr(slicer, "MAX_PIECES", 6)
    source, answer = run(text, NETS, "timm", tmp_path)
    assert "class Tiny" not in source
    assert answer.shape == (2, 2)
