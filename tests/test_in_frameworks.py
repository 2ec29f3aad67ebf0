"""What frameworks do: mappings with attributes, parts that are handed on as makers, modules that projects install."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from kdata.task import execute
from sources.hints.demands import Demand
from sources.hints.mappings import gone_through
from sources.infer.constructor.configs import CONFIG, Config, untold, with_attributes
from sources.infer.constructor.parts import named
from sources.infer.constructor.suspects import meant
from sources.infer.constructor.trouble import wanted
from sources.infer.forward.variants import rescaled
from sources.mine import LARGE
from sources.probe import attempt_one
from tests.attempts import HEAD
from tests.cuts import cut

NESTED = (
    "class Net(nn.Module):\n    def __init__(self, cfg):\n        super().__init__()\n        count = 0\n"
    "        for kind in cfg.inputs:\n            for name in kind:\n                count += kind[name].channels\n"
    "        self.conv = nn.Conv2d(count, cfg.width, 3)\n"
    "    def forward(self, x):\n        return self.conv(x)\n"
)
LOOKED_FOR = NESTED.replace("count += ", "count += cfg.classes[name] if name in cfg.classes else ")
THROUGH = (
    "class Net(nn.Module):\n    def __init__(self, dim, heads):\n        super().__init__()\n        self.heads = heads\n"
    "        for name in heads:\n            head = heads[name]\n            layers = [nn.Conv2d(dim, dim, 3) for _ in range(head['num_conv'])]\n"
    "            self.__setattr__(name, nn.Sequential(*layers, nn.Conv2d(dim, head['out_channels'], 3)))\n"
    "    def forward(self, x):\n        return {name: self.__getattr__(name)(x) for name in self.heads}\n"
)
BY_NAME = (
    "from types import SimpleNamespace\n\n\n"
    "class Net(nn.Module):\n    NEEDED = ['width']\n"
    "    def __init__(self, modules=None, cfg=None):\n        super().__init__()\n"
    "        self.mods = nn.ModuleDict(modules)\n        for name in self.NEEDED:\n            if name not in cfg:\n"
    "                raise ValueError(f'cfg has no {name}')\n        self.cfg = SimpleNamespace(**cfg)\n"
    "    def forward(self, x, lengths):\n        found = self.mods.norm(self.mods.encoder(x, lengths))\n"
    "        return found * self.cfg.width + self.cfg.bias + lengths\n"
)
UNPACKED = (
    "class Block(nn.Module):\n    def __init__(self, dim, **kwargs):\n        super().__init__()\n"
    "        self.conv = nn.Conv2d(dim, dim, **kwargs)\n"
    "    def forward(self, x):\n        return self.conv(x)\n\n\n"
    "class Net(nn.Module):\n    def __init__(self, cfg):\n        super().__init__()\n"
    "        self.block = Block(cfg.width, **cfg.args)\n"
    "    def forward(self, x):\n        return self.block(x).relu()\n"
)
MAKES = (
    "class Net(nn.Module):\n    def __init__(self, block):\n        super().__init__()\n"
    "        self.inner = nn.Sequential(nn.Conv2d(3, 8, 3), block(8, 8, kernel_size=3, padding=1))\n"
    "    def forward(self, x):\n        return self.inner(x)\n"
)


def outcome(text: str, scratch: Path, defaults: dict[str, str] | None = None) -> dict[str, Any]:
    told = {"sites": [], "defaults": defaults or {}, "users": []}
    return attempt_one({"source": HEAD + text, "name": "Net", "lacks": [], "told": told}, LARGE, scratch)


def test_mappings_of_a_configuration_have_attributes_where_these_are_read(tmp_path: Path) -> None:
    made = outcome(NESTED, tmp_path, {"inputs": "[{'image': {'channels': 3}}, {'label': {'channels': 2}}]"})
    assert made["reason"] == "", made["detail"]
    program = execute(made["source"], "Net")
    (x,) = program.inputs()
    assert x.shape[1] == 5
    assert program.build()(x).shape[0] == len(x)


def test_a_setting_in_which_names_are_looked_for_is_no_number(tmp_path: Path) -> None:
    made = outcome(LOOKED_FOR, tmp_path, {"inputs": "[{'image': {'channels': 3}}]", "classes": "16"})
    assert made["reason"] == "", made["detail"]
    assert execute(made["source"], "Net").inputs()[0].shape[1] == 3


def test_mappings_whose_keys_are_gone_through_hold_what_is_looked_up(tmp_path: Path) -> None:
    made = outcome(THROUGH, tmp_path)
    assert made["reason"] == "", made["detail"]
    assert "'b': {'num_conv': " in made["source"]
    configured = THROUGH.replace("dim, heads):", "dim, cfg):").replace(
        "self.heads = heads", "self.heads = heads = cfg.heads"
    )
    made = outcome(configured, tmp_path)
    assert made["reason"] == "", made["detail"]


def test_only_what_is_looked_up_by_its_own_keys_is_a_mapping() -> None:
    def of(text: str) -> dict[str, str]:
        return gone_through(ast.parse(text))

    assert of("for name in self.heads.keys():\n    use(self.heads[name])") == {"heads": "{'a': 64, 'b': 64}"}
    text = "for name in cfg.heads:\n    head = cfg.heads[name]\n    use(head['dropout'])"
    assert of(text) == {"heads": "{'a': {'dropout': 0.0}, 'b': {'dropout': 0.0}}"}
    assert of("for i in order:\n    use(parts[i])") == {}
    assert of("for name in heads:\n    heads[name] = 1") == {}
    assert of("for i in range(3):\n    use(parts[i])") == {}


def test_only_mappings_that_lack_an_attribute_are_given_any() -> None:
    message = "AttributeError: 'dict' object has no attribute 'a'"
    assert with_attributes("[{'a': {}}]", message) == ["[Configuration({'a': Configuration({})})]"]
    assert with_attributes("[{'a': {}}]", "KeyError: 'a'") == []
    assert with_attributes("[1, 2]", message) == []


def test_keywords_tell_which_layers_are_made(tmp_path: Path) -> None:
    made = outcome(MAKES, tmp_path)
    assert made["reason"] == "", made["detail"]
    assert "return [nn.Conv2d]" in made["source"]
    message = "TypeError: Identity.forward() got an unexpected keyword argument 'scale_factor'"
    assert wanted(message, "") == ["nn.Upsample"]


def test_channels_of_which_a_package_counts_none_are_as_many_as_are_given() -> None:
    message = "expected input[4, 32, 8, 8] to have 0 channels, but got 32 channels instead"
    assert rescaled({"channels": "0", "width": "64"}, message) == [{"channels": "32", "width": "64"}]


def test_a_module_is_found_in_the_folder_of_the_project_that_installs_it() -> None:
    texts = {
        "lib/scale/setup.py": "",
        "lib/scale/scale.py": "import torch.nn as nn\n\n\nclass Scale(nn.Module):\n    def forward(self, x):\n        return 2 * x\n",
        "lib/nets/net.py": "import torch.nn as nn\nimport scale\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.scale = scale.Scale()\n"
        "    def forward(self, x):\n        return self.scale(x)\n",
    }
    assert "return 2 * x" in cut(texts, "lib/nets/net.py", "Net")


def test_parts_by_name_are_those_that_a_program_calls(tmp_path: Path) -> None:
    made = outcome(BY_NAME, tmp_path)
    assert made["reason"] == "", made["detail"]
    init = made["source"].split("def get_init_inputs")[1]
    assert init.count("'encoder': StubModule(") == init.count("'norm': StubModule(") == 1
    assert "width=" in init
    assert named({"modules": "{}"}, "AttributeError: 'ModuleDict' object has no attribute 'encoder'", "") == []


def test_a_configuration_has_the_settings_that_a_check_asks_for() -> None:
    wanting = Demand("cfg.width", object(), ("64",))
    assert meant(wanting, {"cfg": CONFIG, "other": CONFIG}, ["cfg"]) == ["cfg.width"]
    assert meant(wanting, {"cfg": "64"}, ["cfg"]) == []


def test_a_configuration_tells_no_more_than_its_settings() -> None:
    config = Config("cfg", {"cfg": CONFIG, "cfg.width": "8"}, {}, {})
    assert vars(config) == {"width": 8}
    assert dict(**config) == {"width": 8}


def test_what_an_unpacked_configuration_lacks_further_on_is_told(tmp_path: Path) -> None:
    made = outcome(UNPACKED, tmp_path)
    assert made["reason"] == "", made["detail"]
    assert "kernel_size=" in made["source"].split("def get_init_inputs")[1]
    lacking = "TypeError: Conv2d.__init__() missing 2 required positional arguments: 'in_channels' and 'kernel_size'"
    assert untold("cfg.args", lacking, "Block(**cfg.args)") == ["in_channels", "kernel_size"]
    assert untold("cfg", lacking, "Block(**cfg.args)") == []
