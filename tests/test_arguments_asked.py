"""What constructors ask for that guesses alone do not give: kinds of configurations, layers by name, nothing at all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sources import probe
from sources.hints.likeness import Likeness, asked
from sources.infer.constructor.signatures import parameters_of
from sources.infer.constructor.suspects import holding
from sources.infer.forward.variants import enlarged
from sources.infer.rewritten.drawn import drawn
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.attempts import attempted
from tests.cuts import HEAD


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_of_a_base_of_configurations_one_that_is_made_of_it_is_given(tmp_path: Path) -> None:
    found = attempted(
        "class Settings:\n    def __init__(self, **more):\n        self.tied = more.pop('tied', False)\n\n\n"
        "class NetSettings(Settings):\n    def __init__(self, width=512, **more):\n"
        "        super().__init__(**more)\n        self.width = width\n\n\n"
        "class Net(nn.Module):\n    settings_class = NetSettings\n\n    def __init__(self, settings):\n"
        "        super().__init__()\n        if not isinstance(settings, Settings):\n"
        "            raise ValueError('settings are to be Settings')\n"
        "        self.layer = nn.Linear(settings.width, 8)\n\n"
        "    def forward(self, x):\n        return self.layer(x).relu()\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "NetSettings(" in found["source"].split("def get_init_inputs")[1]


def test_vectors_that_may_be_none_are_none_where_nothing_else_fits(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, letters, pretrain_letter_embedding, width):\n"
        "        super().__init__()\n        self.embed = nn.Embedding(letters, width)\n"
        "        if pretrain_letter_embedding is not None:\n"
        "            self.embed.weight.data.copy_(torch.from_numpy(pretrain_letter_embedding))\n"
        "        self.mix = nn.Linear(width, width)\n\n"
        "    def forward(self, tokens):\n        return self.mix(self.embed(tokens)).relu()\n",
        tmp_path,
    )
    assert found["reason"] == ""  # numbers that are all the same would make the tokens not matter


def test_a_recurrent_layer_goes_by_its_name(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, width, kind):\n        super().__init__()\n"
        "        self.rnn = getattr(nn, kind)(width, width, batch_first=True)\n\n"
        "    def forward(self, x):\n        return self.rnn(x)[0].relu()\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "'LSTM'" in found["source"]


def test_images_that_a_constructor_computes_on_are_large_enough(tmp_path: Path) -> None:
    message = (
        "ValueError: Expected more than 1 value per channel when training, got input size torch.Size([1, 8, 1, 1])"
    )
    assert enlarged({"a.image_size": "32", "width": "32"}, message) == [{"a.image_size": "128", "width": "32"}]
    assert enlarged({"image_size": "32"}, "ValueError: another") == []
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, stride=8), nn.Conv2d(8, 8, 4), nn.BatchNorm2d(8))\n"
        "        with torch.no_grad():\n"
        "            count = self.body(torch.zeros(1, 3, config.image_size, config.image_size)).numel()\n"
        "        self.head = nn.Linear(count, 4)\n\n"
        "    def forward(self, x):\n        return self.head(self.body(x).flatten(1))\n",
        tmp_path,
    )
    assert found["reason"] == ""


def test_a_gain_of_next_to_nothing_is_drawn() -> None:
    text = "def start(layer):\n    nn.init.xavier_uniform_(layer.weight, gain=1e-5)\n"
    assert drawn(text) == text.replace("1e-5", "0.1")
    assert drawn(text.replace("1e-5", "0.5")) == text.replace("1e-5", "0.5")


def test_a_word_that_an_error_names_is_one_of_those_that_it_lists(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, scale, mode):\n        super().__init__()\n"
        "        self.scale, self.mode = scale, mode\n\n    def forward(self, x):\n"
        "        return F.interpolate(x, scale_factor=self.scale, mode=self.mode).sin()\n",
        tmp_path,
    )
    assert found["reason"] == ""


def test_sizes_that_python_2_divided_are_whole(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, planes):\n        super().__init__()\n"
        "        middle = (planes + 0) / 4\n        self.scale = 0.5 / 2.0\n"
        "        self.layers = nn.Sequential(nn.Conv2d(planes, middle, 1), nn.Conv2d(middle, planes / 2, 1))\n\n"
        "    def forward(self, x):\n        return self.layers(x) / 2\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "(planes + 0) // 4\n        self.scale = 0.5 / 2.0" in found["source"]
    assert "return self.layers(x) / 2" in found["source"]


def test_a_word_of_which_letters_are_looked_up_is_a_list_of_words() -> None:
    assert holding("'word'", "w") == [1]
    assert holding("'word'", "o") == []
    assert holding("'word'", "word") == []
    assert holding("['word', 'w']", "w") == [2]
    assert holding("(3, 64, 64)", 3) == [2, 3], "of a shape the sides, perhaps"


def test_a_diffusion_leaves_something_of_its_images(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, model, beta_1, beta_T, T):\n        super().__init__()\n"
        "        self.model, self.T = model, T\n"
        "        self.register_buffer('kept', (1 - torch.linspace(beta_1, beta_T, T)).cumprod(0))\n\n"
        "    def forward(self, x):\n        for step in range(self.T)[::-32]:\n"
        "            x = (x - self.model(x) * (1 - self.kept[step]).sqrt()) / self.kept[step].sqrt()\n        return x\n",
        tmp_path,
    )
    assert found["reason"] == ""


def test_what_is_counted_and_has_attributes_is_made_of_the_class_that_has_them() -> None:
    texts = {
        "net/__init__.py": "",
        "net/words.py": "class Words:\n    def __init__(self, count: int = 9):\n        self.padding_idx = 1\n"
        "        self.count = count\n    def __len__(self):\n        return self.count\n",
        "net/net.py": HEAD + "class Net(nn.Module):\n    def __init__(self, words):\n        super().__init__()\n"
        "        self.table = nn.Embedding(len(words), 4, words.padding_idx)\n    def forward(self, x):\n"
        "        return self.table(x)\n",
    }
    definition = next(s for s in ast.parse(texts["net/net.py"]).body if isinstance(s, ast.ClassDef))
    found = Likeness(Package(texts)).of(asked(definition)["words"], Here("net/net.py", "Net"))
    assert found is not None and found[0] == Here("net/words.py", "Words")


def test_what_a_constructor_reads_out_of_its_keywords_is_an_argument(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, **kwargs):\n        super().__init__()\n"
        "        width, setting = kwargs.get('width', 48), kwargs.pop('config', None)\n"
        "        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(setting.depth)])\n\n"
        "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x).relu()\n        return x\n"
    )
    found = attempted(text, tmp_path)
    assert found["reason"] == ""
    assert "depth" in found["source"].split("def get_init_inputs")[1] or "config" in found["source"]
    exec(HEAD + text, known := {"__name__": "task"})
    assert parameters_of(known["Net"]) == []  # of a text that nobody can read nothing is known


def test_what_is_looked_up_by_members_of_an_enumeration_is_one_of_these(tmp_path: Path) -> None:
    found = attempted(
        "import enum\n\n\nclass Kind(enum.Enum):\n    PLAIN = 'plain'\n    GATED = 'gated'\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, params):\n        super().__init__()\n"
        "        self.act = {Kind.PLAIN: nn.ReLU(params.inplace), Kind.GATED: nn.SiLU()}[params.kind]\n"
        "        self.layer = nn.Linear(params.width, 8)\n\n"
        "    def forward(self, x):\n        return self.act(self.layer(x))\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "Kind.PLAIN" in found["source"].split("def get_inputs")[1]


def test_each_check_of_inputs_that_fails_asks_for_arguments(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, width, key):\n        super().__init__()\n"
        "        self._key, self.layer = key, nn.Linear(width, 8)\n\n    def forward(self, x):\n"
        "        assert isinstance(x, (dict, torch.Tensor)), 'no such input'\n"
        "        assert self._key is None, 'a tensor has no keys'\n        return self.layer(x).relu()\n",
        tmp_path,
    )
    assert found["reason"] == ""
