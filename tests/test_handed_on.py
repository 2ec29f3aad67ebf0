"""What configurations, methods of these and longer ways to a failure tell of constructor arguments; record answers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from sources import mine
from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.hints.settings import Settings
from sources.hints.uses import looked_up
from sources.infer.constructor.configs import CONFIG, METHOD
from sources.infer.constructor.constructions import Told
from sources.infer.constructor.suspects import made_of, ranked
from sources.infer.constructor.trouble import Trouble, kinds, wanted
from sources.infer.forward.variants import halved, rescaled, smaller
from sources.infer.inputs import Tensor
from sources.infer.rewritten.answers import answered
from sources.infer.running.check import fields_of, leaves
from sources.infer.runs import Runs, lightened
from sources.infer.search import Solution, solve
from sources.isolation import isolated
from sources.probe import infer, load
from sources.text.documents import sections
from sources.text.symbols import Package

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom dataclasses import dataclass\n\n\n"
COLUMNS = """
class Net(nn.Module):
    def __init__(self, dataset, dim):
        super().__init__()
        self.names = dataset.fields()
        self.layers = nn.ModuleList([nn.Linear(dim, dim) for _ in self.names])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x
"""
PASSED_ON = """
class Layer(nn.Module):
    def __init__(self, width, settings):
        super().__init__()
        self.conv = self.made(width, settings)

    def made(self, width, how):
        kind = how["conv_op"]
        return kind(width, width, 3, padding=1)

    def forward(self, x):
        return self.conv(x).relu()


class Net(nn.Module):
    def __init__(self, width, number, growth, props):
        super().__init__()
        self.layers = []
        for i in range(min(number, 2)):
            layer = Layer(
                min(width + growth - growth, 32),
                props,
            )
            self.layers.append(layer)
        self.layers = nn.Sequential(*self.layers)

    def forward(self, x):
        return self.layers(x)
"""
PICKED = """
class Net(nn.Module):
    def __init__(self, user_column, item_column, dim):
        super().__init__()
        self.user_column, self.item_column = user_column, item_column
        self.embedding = nn.Embedding(100, dim)

    def forward(self, x):
        x = self.embedding(x[:, :3])
        return x[:, self.user_column] * x[:, self.item_column]
"""
NAMED = """
class Net(nn.Module):
    def __init__(self, dim, act=nn.ELU):
        super().__init__()
        self.layer = nn.Linear(dim, dim)
        self.act = getattr(torch.nn, act)()

    def forward(self, x):
        return self.act(self.layer(x))
"""
WAVE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(512, 512, 7, padding=3)
        self.up = nn.ConvTranspose1d(512, 256, 8, 8)
        self.last = nn.Conv1d(256, 256, 31, padding=15)

    def forward(self, x):
        x = self.up(self.first(x).tanh()).tanh()
        for _ in range(9):
            x = self.last(x).tanh()
        return x
"""
SHARE = """
class Net(nn.Module):
    def __init__(self, share=0.1):
        super().__init__()
        self.share = share

    def forward(self, x, y):
        loss = (x - y).pow(2).flatten(1).mean(1)
        return loss.topk(int(len(loss) * self.share))[0].mean()
"""
HYDRA = """import torch.nn as nn
from hydra.utils import instantiate


class Net(nn.Module):
    def __init__(self, cfg, dim):
        super().__init__()
        self.encoder = instantiate(cfg.encoder)
        self.head = nn.Linear(dim, 4)

    def forward(self, x):
        return self.head(self.encoder(x))
"""
STAGES = """
class Net(nn.Module):
    def __init__(self, previous, number, growth, rate):
        super().__init__()
        known = previous.widths
        i = len(str(known)) * 0
        self.first = nn.Linear(known[i], known[1])
        self.last = nn.Linear(known[1], number + growth + rate)

    def forward(self, x):
        return self.last(self.first(x).tanh())
"""
CHANNELS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(64, 64, 7, padding=3)

    def forward(self, x):
        return self.conv(x)
"""
KEEPING = """import sys


def source_of(kind):
    kind.source = sys.modules[kind.__module__].__file__
    return kind


def half(function):
    return lambda *given: function(*given) / 2
"""
KEPT = """import keeping
import torch.nn as nn
from keeping import half


@keeping.source_of
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    @half
    def forward(self, x):
        return 2 * x
"""
DEEP = """
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(cfg.num_layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return x
"""
ANSWER = """
class Belief:
    def __init__(self, mean, other):
        self._mean, self.other = mean, other


@dataclass
class Answer:
    belief: Belief
    loss: torch.Tensor
    note: str = ""


class Net(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.layer = nn.Linear(dim, 2)

    def forward(self, x):
        mean = self.layer(x)
        return Answer(Belief(mean, None), mean.exp())
"""


def _solved(text: str, folder: Path) -> Solution:
    namespace = load(HEAD + text, folder)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


def test_a_method_of_a_configuration_answers_with_what_is_asked_for(tmp_path: Path) -> None:
    answer = _solved(COLUMNS, tmp_path).arguments["dataset.fields"]
    assert answer.startswith(f"{METHOD}[")
    assert kinds(f"{METHOD}64") == {"function", "int"}


def test_a_settings_argument_is_found_through_a_call_of_several_lines(tmp_path: Path) -> None:
    found = _solved(PASSED_ON, tmp_path).arguments
    assert found["props"] == CONFIG
    assert found["props.conv_op"] == "nn.Conv2d"


def test_what_is_made_of_an_argument_tells_of_it(tmp_path: Path) -> None:
    namespace = load(HEAD + STAGES, tmp_path)
    kind = namespace["Net"]
    assert made_of(kind, STAGES)["widths"] == {"self.first", "self.last"}
    assert made_of(kind, STAGES, inside=True)["widths"] == {"self.first", "self.last", "known", "i"}
    assert _solved(STAGES, tmp_path).arguments["previous.widths"].startswith("[")
    trouble = Trouble("TypeError: 'int' object is not subscriptable", near="x = known[0]")
    arguments = {"previous.widths": "64", "number": "64"}
    assert ranked(arguments, trouble, made_of(kind, STAGES, inside=True)) == {"previous.widths": 0, "number": 2}


def test_what_is_looked_up_anywhere_under_a_name_tells_of_it() -> None:
    tree = ast.parse("def f(self, props):\n    return props['a'] + self.props['b'] + props[0]\n")
    assert looked_up(tree) == {"props": {"a", "b"}}


def test_columns_are_among_those_that_there_are(tmp_path: Path) -> None:
    found = _solved(PICKED, tmp_path).arguments
    assert {found["user_column"], found["item_column"]} <= {"0", "1", "2"}
    message = "index 64 is out of bounds for dimension 1 with size 3"
    assert rescaled({"user": "64", "item": "64", "dim": "16"}, message) == [{"user": "0", "item": "1", "dim": "16"}]
    assert rescaled({"dim": "16"}, message) == []


def test_waves_are_shortened_where_they_are_too_large() -> None:
    waves = (Tensor((4, 256, 64)),)
    assert halved(waves) == (Tensor((4, 128, 64)),)
    assert halved(waves, first=True) == (Tensor((4, 256, 32)),)
    assert halved((Tensor((4, 256, 64, 64)),), first=True) == (Tensor((4, 256, 32, 32)),)


def test_a_wave_of_many_channels_is_found_where_it_may_be_short(tmp_path: Path) -> None:
    """What is folded by its transposed convolutions is too large unless it starts short."""
    namespace = load(HEAD + WAVE, tmp_path)
    found = solve(namespace["Net"], namespace, HEAD + WAVE, operators=60)
    assert isinstance(found, Solution), found
    assert found.specs[0].shape[:2] == (1, 512)  # type: ignore[union-attr]
    assert found.specs[0].shape[2] < 64  # type: ignore[union-attr]


def test_waves_are_made_no_longer_than_need_be(tmp_path: Path) -> None:
    """A solution that is heavier than a task may be gets shorter where the second dimension is the channels."""
    namespace = load(HEAD + CHANNELS, tmp_path)
    runs = Runs(namespace["Net"], namespace, operators=1)
    found = lightened(Solution({}, (Tensor((1, 64, 4096)),)), runs)
    assert found.specs[0].shape[:2] == (1, 64)  # type: ignore[union-attr]
    assert found.specs[0].shape[2] < 4096  # type: ignore[union-attr]


def test_a_layer_may_be_named_by_a_word_although_its_default_is_none(tmp_path: Path) -> None:
    assert _solved(NAMED, tmp_path).arguments["act"] == "'ReLU'"


def test_numbers_are_guessed_by_their_names(tmp_path: Path) -> None:
    """``num_layers`` is two, not sixty-four, where what another part of a configuration calls so does not do."""
    namespace = load(HEAD + DEEP, tmp_path)
    found = solve(namespace["Net"], namespace, HEAD + DEEP, Told(defaults={"num_layers": "(3, 4)"}))
    assert isinstance(found, Solution), found
    assert found.arguments["cfg.num_layers"] == "2"


def test_trouble_holds_all_lines_of_a_call(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("def run(wide):\n    return int(\n        wide\n    )\n")
    space: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(TypeError) as caught:
        space["run"]([])  # type: ignore[operator]
    assert Trouble.of(caught.value, program=str(path)).line == "return int( wide )"


def test_messages_ask_for_words_and_arrays() -> None:
    assert wanted("TypeError: attribute name must be string, not 'type'", "")[0] == "'ReLU'"
    assert wanted('TypeError: arrays to stack must be passed as a "sequence" type such as list', "")[0] == "[32, 64]"
    assert wanted("AttributeError: 'int' object has no attribute 'astype'", "")[0].endswith(".numpy()")


def test_a_share_of_a_batch_is_found_in_a_larger_one(tmp_path: Path) -> None:
    found = _solved(SHARE, tmp_path)
    assert all(spec.shape[0] >= 10 for spec in found.specs)  # type: ignore[union-attr]


def test_what_a_configuration_is_to_instantiate_it_may_hold(tmp_path: Path) -> None:
    package = Package({"net.py": HYDRA}, mine.replacements())
    made = cut(Slicer(package), "net.py", "Net")
    namespace = load(made.source, tmp_path)
    found = solve(namespace[made.name], namespace, made.source)
    assert isinstance(found, Solution), found
    instantiate = namespace["instantiate"]
    assert isinstance(instantiate({"_target_": torch.nn.Linear, "in_features": 2}, out_features=3), torch.nn.Linear)
    assert isinstance(instantiate(torch.nn.ReLU), torch.nn.ReLU)


def test_a_decorator_that_touches_the_system_is_left_out(tmp_path: Path) -> None:
    package = Package({"net.py": KEPT, "keeping.py": KEEPING})
    made = cut(Slicer(package), "net.py", "Net")
    assert "@keeping.source_of" not in made.source
    assert "@half" in made.source  # of the package's own, and harmless
    module = load(made.source, tmp_path)[made.name](4)
    assert torch.equal(module(torch.ones(2, 4)), torch.ones(2, 4))


def test_a_text_that_says_where_it_stands_is_found_again(tmp_path: Path) -> None:
    text = HEAD + "__file__ = None\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.exp() * x\n"
    cut = {"source": text, "name": "Net", "lacks": [], "told": {"sites": [], "defaults": {}}}
    assert isolated(lambda: infer(cut, 60, tmp_path), 20)["reason"] == ""


def test_what_stands_elsewhere_or_is_made_first_is_no_value() -> None:
    told = sections("net:\n  width: 64\n  depth: ${data.depth}\n  basis:\n    _target_: nets.Basis\n    size: 20\n")
    assert (("width", "64"),) in told and (("_target_", "'nets.Basis'"), ("size", "20")) in told


def test_anchors_are_read_and_what_never_ends_is_not() -> None:
    told = sections("base: &base\n  rate: 1e-4\n  width: 64\nnet:\n  <<: *base\n  width: 32\n")
    assert (("rate", "0.0001"), ("width", "32")) in told
    assert sections("a: &a\n  b: *a\n") == []
    chain = "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(300))
    assert sections(f"a0: &a0 [1]\n{chain}") == []


def test_settings_stay_on_the_cpu() -> None:
    settings = Settings()
    settings.add({"device": "'cuda:0'", "width": "8", "inner": "{'device': 'cuda'}"})
    assert settings.together(["device", "width", "inner"]) == {
        "device": "'cpu'",
        "width": "8",
        "inner": "{'device': 'cpu'}",
        "inner.device": "'cpu'",
    }


def test_a_record_is_answered_as_its_tensors(tmp_path: Path) -> None:
    source = HEAD + ANSWER
    namespace, found = load(source, tmp_path), _solved(ANSWER, tmp_path)
    assert found.specs[0].shape[-1] == 6  # type: ignore[union-attr]
    cut, _ = answered({"source": source, "name": "Net"}, found, namespace)
    assert "return answer.belief._mean, answer.loss\n" in cut["source"]
    module, x = load(cut["source"], tmp_path)[cut["name"]](), torch.ones(2, 6)
    mean, loss = module(x)
    assert torch.equal(loss, mean.exp())


def test_layers_and_strangers_are_no_records() -> None:
    assert fields_of(torch.nn.Linear(2, 2)) == {}
    assert fields_of(Path()) == {}
    assert list(leaves(torch.nn.Linear(2, 2))) == []


def test_a_mask_is_halved_with_what_it_is_of() -> None:
    sequence, mask = Tensor((4, 64, 32)), Tensor((4, 64))
    assert halved((sequence, mask)) == (Tensor((4, 32, 32)), mask)
    assert (Tensor((4, 32, 32)), Tensor((4, 32))) in smaller((sequence, mask))
