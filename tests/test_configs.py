"""Mining: configurations are invented from what is read of them, and made small; inputs that nobody looks at are None."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kdata.task import execute
from sources.hints import configs_tiny
from sources.infer.constructor.configs import Config, without_unread
from sources.infer.constructor.reading import reading
from sources.mine import LARGE
from sources.probe import attempt_one, warm

HEAD = "import torch\nimport torch.nn as nn\n"
# Read by attribute, by key, in parts, and unpacked: what a task's text holds must answer to all of these.
MODEL = HEAD + (
    "class Inner(nn.Module):\n    def __init__(self, width, *, heads):\n        super().__init__()\n"
    "        self.lift = nn.Linear(width, width * heads)\n    def forward(self, x):\n        return self.lift(x)\n\n\n"
    "class Net(nn.Module):\n    def __init__(self, net_params, cfg):\n        super().__init__()\n"
    "        self.first = nn.Linear(net_params['in_dim'], net_params['hidden_dim'])\n"
    "        self.second = nn.Linear(net_params.get('hidden_dim'), cfg.MODEL.OUT_DIM)\n"
    "        self.inner = Inner(**cfg.MODEL.inner_config)\n        self.scale = cfg.scale if 'scale' in cfg else 2\n"
    "    def forward(self, g, x):\n        return self.inner(self.second(self.first(x))) * self.scale\n"
)


def outcome(source: str, name: str, scratch: Path, defaults: dict[str, str]) -> dict[str, Any]:
    told = {"sites": [], "defaults": defaults}
    return attempt_one({"source": source, "name": name, "lacks": [], "told": told}, LARGE, scratch)


def test_a_configuration_answers_to_all_ways_of_reading_it(tmp_path: Path) -> None:
    warm()
    made = outcome(MODEL, "Net", tmp_path, {"OUT_DIM": "24", "width": "24"})
    assert made["reason"] == "", made["detail"]
    assert "class Configuration(dict)" in made["source"]
    program = execute(made["source"], "Net")
    graph, x = program.inputs()
    assert graph is None
    assert program.build()(graph, x).shape[:-1] == x.shape[:-1]


COPIES = HEAD + (
    "from types import SimpleNamespace\n\n\n"
    "class Net(nn.Module):\n    def __init__(self, hparams):\n        super().__init__()\n"
    "        own = SimpleNamespace(**vars(hparams))\n        own.hidden_dim += 8\n"
    "        for name, value in hparams.__dict__.items():\n            setattr(self, name, value)\n"
    "        self.first = nn.Linear(self.in_dim, own.hidden_dim)\n"
    "    def forward(self, x):\n        return self.first(x)\n"
)


def test_a_copy_of_a_configuration_holds_what_is_read_of_it(tmp_path: Path) -> None:
    warm()
    made = outcome(COPIES, "Net", tmp_path, {"hidden_dim": "24"})
    assert made["reason"] == "", made["detail"]
    program = execute(made["source"], "Net")
    assert program.build()(*program.inputs()).shape[-1] == 32


def test_settings_may_be_called_what_no_name_is(tmp_path: Path) -> None:
    warm()
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, params):\n        super().__init__()\n"
        "        self.first = nn.Linear(params['len-in'], params['class'])\n"
        "    def forward(self, x):\n        return self.first(x)\n"
    )
    made = outcome(text, "Net", tmp_path, {})
    assert made["reason"] == "", made["detail"]
    assert "'len-in':" in made["source"]


def test_settings_that_are_asked_for_with_a_default_only_may_be_absent(tmp_path: Path) -> None:
    warm()
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, hparams):\n        super().__init__()\n"
        "        self.first = nn.Linear(hparams.width, 8, bias=not hparams.get('plain', False))\n"
        "    def forward(self, x):\n        return self.first(x)\n"
    )
    made = outcome(text, "Net", tmp_path, {})
    assert made["reason"] == "", made["detail"]
    assert execute(made["source"], "Net").build().first.bias is not None


def test_a_method_of_a_tensor_is_no_method_of_a_configuration_that_has_a_setting_of_its_name(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "def run(config, x):\n    y = x.expand(4, 4)\n    return y * config.expand, config.width(), config.depth\n"
    )
    assert reading(str(program)).called >= {"width"}
    assert not reading(str(program)).called & {"expand", "depth"}


VOCABULARY = HEAD + (
    "class Net(nn.Module):\n    def __init__(self, data, width=32):\n        super().__init__()\n"
    "        self.words = nn.Embedding(data.alphabet.size(), width)\n"
    "    def forward(self, x):\n        return self.words(x)\n"
)


def test_what_has_a_size_as_a_vocabulary_has_one_is_no_tensor(tmp_path: Path) -> None:
    warm()
    made = outcome(VOCABULARY, "Net", tmp_path, {})
    assert made["reason"] == "", made["detail"]
    program = execute(made["source"], "Net")
    assert program.build()(*program.inputs()).shape[-1] == 32


def test_sizes_of_constructors_are_halved_so_that_they_still_divide_each_other() -> None:
    swin = {"img_size": 224, "patch_size": 4, "embed_dim": 96, "window_size": 7, "num_classes": 1000, "depths": [2, 6]}
    small = {n: configs_tiny.by_halves(n, v) for n, v in swin.items()}
    assert small == {"img_size": 56, "patch_size": 4, "embed_dim": 48, "window_size": 7, "num_classes": 250,
                     "depths": [1, 1]}  # fmt: skip
    assert configs_tiny.by_halves("img_size", 299) == configs_tiny.sized("img_size", 299)  # there are no halves
    assert configs_tiny.by_halves("norm", "layer") == "layer"


def test_sizes_are_made_small_by_what_they_are_called() -> None:
    small = {n: configs_tiny.sized(n, v) for n, v in {
        "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 40, "vocab_size": 151936, "head_dim": 128,
        "eos_token_id": 151643, "hidden_act": "silu", "depths": [3, 3, 27, 3], "hidden_sizes": [128, 256],
        "patch_size": 4, "rms_norm_eps": 1e-6, "tie": True}.items()}  # fmt: skip
    assert small == {
        "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 256, "head_dim": 16,
        "eos_token_id": 151643, "hidden_act": "silu", "depths": [1, 1, 1, 1], "hidden_sizes": [32, 32],
        "patch_size": 4, "rms_norm_eps": 1e-6, "tie": True}  # fmt: skip


def test_settings_that_nothing_reads_are_left_out_at_every_depth() -> None:
    text = "SimpleNamespace(a=1, inner=SimpleNamespace(b=2, c=(3, 4)), d='x')"
    assert without_unread(text, {"inner", "c"}) == "SimpleNamespace(inner=SimpleNamespace(c=(3, 4)))"
    assert without_unread("[1, 2]", set()) == "[1, 2]"


def test_a_word_of_settings_of_which_only_the_name_is_known_is_one_that_it_is_compared_with(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("def run(config):\n    return config['coarse_type'] == 'focal'\n")
    assert Config("config", {}, {"__file__": str(program)}, {})["coarse_type"] == "focal"


def test_a_key_may_be_what_no_attribute_is(tmp_path: Path) -> None:
    """A vocabulary is asked for its word of a start, ``__START__``; Python asks for ``__len__`` and the like."""
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, dictionary):\n        super().__init__()\n"
        "        self.start = dictionary['__START__']\n        self.line = nn.Linear(8, self.start)\n\n"
        "    def forward(self, x):\n        return self.line(x) + self.start\n"
    )
    found = outcome(text, "Net", tmp_path, {"__START__": "2"})
    assert found["reason"] == "" and "(__START__=" in found["source"].split("def get_init_inputs")[1], found
    assert not hasattr(Config("dictionary", {}, {}, {}), "__START__")
