"""What programs usually do where a word or a flag decides: methods by their usual word, settings, records' flags."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from kdata.record import Definition, Dropped, Origin, SourceFile, Task
from sources import mine
from sources.hints.hints import Hints
from sources.infer.constructor.reading import reading
from sources.infer.forward.failure import Failure
from sources.infer.forward.influence import differing
from sources.infer.forward.starts import starts
from sources.infer.forward.variants import narrower
from sources.infer.forward.windows import demanded
from sources.infer.inputs import Tensor
from sources.probe import load
from sources.text.dispatched import with_usual_methods
from sources.text.folded import folded
from sources.text.importable import lacks
from sources.text.kept_state import kept_within
from sources.text.parsers import arguments
from sources.text.symbols import Package
from tests.attempts import attempted
from tests.cuts import HEAD, cut

MODES = """import torch
import torch.nn as nn
from torch.utils.serialization import load_lua


class Modal(nn.Module):
    def forward(self, *args, **kwargs):
        mode = kwargs.get('mode', 'plain')
        if 'mode' in kwargs:
            del kwargs['mode']
        return getattr(self, '_' + mode)(*args, **kwargs)


class Speaker(Modal):
    def __init__(self, width=16, words=50):
        super().__init__()
        self.look = nn.Embedding(words, width)
        self.step = nn.GRUCell(width, width)

    def _begin(self, picture):
        return picture.mean(1)

    def _plain(self, picture, seq):
        state = self._begin(picture)
        for i in range(seq.size(1)):
            it = seq[:, i].clone()
            state = self.step(self.look(it), state)
        return state + self._begin(picture)

    def _sample(self, picture):
        return self._begin(picture).argmax(1)


class Reader(nn.Module):
    def __init__(self, old=None):
        super().__init__()
        self.old, self.line = load_lua(old) if old else None, nn.Linear(8, 8)

    def forward(self, x):
        return self.line(x)
"""


@pytest.fixture(scope="module")
def mined() -> tuple[dict[str, Task], dict[str, str]]:
    origin = Origin("git", "x/nets", "1", "nets.py", ("MIT",))
    cuts = list(mine.cut_step().function([SourceFile(origin, MODES)]))
    made = list(mine.step(operators=mine.LARGE).function([d for d in cuts if isinstance(d, Definition)]))
    lost = {d.name.rpartition(":")[2]: d.reason for d in [*cuts, *made] if isinstance(d, Dropped)}
    return {t.symbol: t for t in made if isinstance(t, Task)}, lost


def test_a_class_computes_as_it_does_by_its_usual_word(mined: tuple[dict[str, Task], dict[str, str]]) -> None:
    tasks, lost = mined
    assert lost.get("Modal") == "abstract"  # what it calls is left to the classes below it
    speaker = tasks["Speaker"]
    assert speaker.entry_point == "SpeakerPlain"
    assert "def _begin" in speaker.source
    assert "def _sample" not in speaker.source
    assert [i.dtype for i in speaker.inputs] == ["float32", "int64"]


def test_a_name_that_this_torch_has_not_is_absent(mined: tuple[dict[str, Task], dict[str, str]]) -> None:
    tasks, _ = mined
    assert "import load_lua" not in tasks["Reader"].source
    assert [lacks(m, n) for m, n in (("torch.legacy", "nn"), ("torch.utils", "data"), ("torch.nn.utils", "rnn"),
                                     ("collections", "Iterable"), ("torch", "_nothing"))] == [True, False, False,
                                                                                             True, False]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("def run(self, x, how='fast'):\n  return getattr(self, f'run_{how}_once')(x)", "self.run_fast_once(x)"),
        ("def run(self, x, how='fast'):\n  return getattr(self, 'run_%s' % how)(x)", "self.run_fast(x)"),
        ("def run(self, x, *, how='fast'):\n  return getattr(self, 'run_{}'.format(how))(x)", "self.run_fast(x)"),
        ("def run(self, x, **k):\n  how = k.pop('how', 'fast')\n  return getattr(self, how)(x)", "self.fast(x)"),
        ("def run(self, x, how='fast'):\n  how = x.kind\n  return getattr(self, how)(x)", ""),  # it is another by then
        ("def run(self, x, how):\n  return getattr(self, how)(x)", ""),
        ("def run(self, x, how='fast'):\n  return getattr(self, how) + x", ""),  # no method, perhaps
        ("def run(self, x, how='no name'):\n  return getattr(self, how)(x)", ""),
    ],
)
def test_methods_by_their_usual_words_are_said(method: str, said: str) -> None:
    text = "class A:\n " + method.replace("\n", "\n ") + "\n"
    changed = with_usual_methods(text, ast.parse(text))
    assert changed == text if not said else said in changed


@pytest.mark.parametrize(
    ("text", "said"),
    [("24 * 7", "168"), ("1 << 12", "4096"), ("(2 * 3, -(1 + 1))", "(6, -2)"), ("3 / 2", "1.5"), ("10 ** -2", "0.01"),
     ("9 ** 9 ** 9", "9 ** 9 ** 9"), ("1 / 0", "1 / 0"), ("n * 2", "n * 2"), ("'a' * 3", "'a' * 3")],
)  # fmt: skip
def test_numbers_that_are_computed_are_said(text: str, said: str) -> None:
    assert ast.unparse(folded(ast.parse(text, mode="eval").body)) == said


def test_computed_defaults_are_settings_and_few_words_are_no_vocabulary() -> None:
    text = (
        "p.add_argument('--window', type=int, default=24 * 7)\nWIDTH = 4 * 8\n"
        "opt.vocab_size = 1\nopt.ntokens = 0\nopt.words_vocab = 3000\n"
    )
    assert dict(arguments(ast.parse(text))) == {"window": "168"}
    told = Hints(Package({"a.py": text})).defaults(["window", "width", "vocab_size", "ntokens", "words_vocab"])
    assert told == {"window": "168", "width": "32", "words_vocab": "3000"}


def test_what_goes_by_a_word_is_no_method_though_tensors_have_one_of_that_name(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, params):\n        super().__init__()\n"
        "        self.kind, width = params['norm'], params['dim']\n        self.line = nn.Linear(width, width * 2)\n"
        "    def forward(self, x):\n        y = self.line(x)\n        if y.dim() > 7:\n            y = y.norm()\n"
        "        return y if self.kind == 'none' else y * 2\n"
    )
    file = tmp_path / "net.py"
    file.write_text(text)
    assert not reading(str(file)).called & {"norm", "dim"}
    made = attempted(text, tmp_path)
    assert made["reason"] == "", made["detail"]
    assert "lambda" not in made["source"].rpartition("def get_init_inputs")[2]


FLAGGED = """class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x, mask):
        y = self.line(x)
        if not mask.all_ones:
            y = y + mask.additive.view(7, 7, 7)
        return y.softmax(-1)
"""
OPTIONS = """class Net(nn.Module):
    def __init__(self, f=nn.Linear(16, 16), g=nn.Linear(16, 16)):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x, f_options, g_options):
        return self.g(x + self.f(x, **f_options), **g_options)
"""


@pytest.mark.parametrize("text", [FLAGGED, OPTIONS])
def test_flags_of_records_and_options_are_no_tensors(text: str, tmp_path: Path) -> None:
    made: dict[str, Any] = attempted(text, tmp_path)
    assert made["reason"] == "", made["detail"]
    assert [i["name"] for i in made["inputs"]] == ["x"]


def test_addresses_of_trained_weights_are_there_to_be_changed(tmp_path: Path) -> None:
    text = (
        f"{HEAD}from torchvision.models.vgg import model_urls\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        model_urls['vgg11'] = model_urls['vgg11'].replace('https', 'http')\n        self.line = nn.Linear(8, 8)\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    source = cut({"a.py": text}, "a.py", "Net")
    made = attempted(source.replace(HEAD, ""), tmp_path)
    assert made["reason"] == "", made["detail"]


def test_widths_have_many_names() -> None:
    given = {"rnn_size": "512", "opt.att_hid_size": "256", "nhid": "200", "hidden_units": "128", "image_size": "64"}
    less = {"rnn_size": "256", "opt.att_hid_size": "128", "nhid": "96", "hidden_units": "64", "image_size": "64"}
    assert narrower(given) == less


ROW = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        down = nn.MaxPool2d(4)
        self.maps = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), down, nn.Conv2d(4, 8, 3, padding=1), down)
        self.line = nn.Linear(8 * 5 * 5, 10)

    def forward(self, x):
        return self.line(self.maps(x).view(x.size(0), 8 * 5 * 5))
"""
SERIES = """class Net(nn.Module):
    def __init__(self, steps=30, variables=6):
        super().__init__()
        self.steps, self.variables = steps, variables
        self.rest = (steps - 3) / 3
        self.over = nn.Conv2d(1, 8, (4, variables))

    def forward(self, x):
        y = self.over(x.view(-1, 1, self.steps, self.variables)).squeeze(3)
        return y.view(x.size(0), 8, self.rest, 3)
"""
COLUMNS = """class Net(nn.Module):
    def __init__(self, pairs):
        super().__init__()
        self.first = pairs[:, 0]

    def forward(self, x):
        return x[:, self.first.long()] * 2
"""


@pytest.mark.parametrize("text", [ROW, SERIES, COLUMNS], ids=["row", "series", "columns"])
def test_views_and_columns_tell_what_is_wanted(text: str, tmp_path: Path) -> None:
    made = attempted(text, tmp_path)
    assert made["reason"] == "", made["detail"]


STEPS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.look, self.cell = nn.Embedding(20, 16), nn.GRUCell(16, 16)

    def forward(self, words):
        state = self.look(words[:, 0])
        for t in range({count}):
            state = self.cell(self.look(words[:, {taken}]), state)
        return state
"""


@pytest.mark.parametrize(
    ("taken", "count", "steps"),
    [("t", "words.size(1)", 16), ("-1", "words.size(1)", 64), ("t", "self.steps", 64)],  # the last may be any number
)
def test_what_is_gone_through_step_by_step_is_brief(taken: str, count: str, steps: int, tmp_path: Path) -> None:
    namespace = load(HEAD + STEPS.format(taken=taken, count=count), tmp_path)
    assert starts(namespace["Net"]())[0] == (Tensor((4, steps), "int", 16),)


ITERATED = """class Scaled(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self._make_state(inner.weight)

    def _make_state(self, w):
        u = nn.Parameter(torch.randn(w.shape[0]), requires_grad=False)
        u.data = u.data / u.data.norm()
        self.register_parameter("u", u)

    def forward(self, x):
        u, w = self.u, self.inner.weight
        u.data = F.normalize(torch.mv(w.data @ w.data.t(), u.data), dim=0)
        return F.linear(x, w / u.dot(torch.mv(w @ w.t(), u)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Scaled(nn.Linear(16, 16)), Scaled(nn.Linear(16, 16))

    def forward(self, x):
        return self.second(self.first(x).relu())
"""


def test_a_state_that_goes_on_with_each_call_is_kept_within_it(tmp_path: Path) -> None:
    made = attempted(ITERATED, tmp_path)
    assert made["reason"] == "", made["detail"]
    assert "keeps to itself" in made["source"]
    assert "        u = F.normalize(" in made["source"]
    assert "u.data = u.data / u.data.norm()" in made["source"]  # what is made is kept
    assert kept_within("def forward(self, x):\n    self.u.data = x\n") == "def forward(self, x):\n    self.u.data = x\n"


LEFT = """def forward(self, x):
    y = x - self.mean
    with torch.no_grad():
        self.mean = x.mean()
    n = len(y)
    self.seen[0] += n
    self.update_queue(x)
    return y
"""


def test_what_is_left_for_the_next_call_is_left_out() -> None:
    done = kept_within(LEFT)
    assert done == (
        "def forward(self, x):\n    y = x - self.mean\n    pass\n    n = len(y)\n    pass\n    pass\n    return y\n"
    )
    used = LEFT.replace("return y", "return y * self.scale")
    assert kept_within(used) == used


def test_sides_that_a_message_asks_for_are_given() -> None:
    net = nn.Conv2d(3, 4, 3)
    given = (Tensor((4, 3, 32, 32)),)
    asked = [specs for _, specs in demanded(Failure(given, "ValueError: input size must be (75, 90)", net))]
    assert asked == [(Tensor((4, 3, 75, 90)),)]
    assert not [*demanded(Failure(given, "ValueError: mean must be (3, 32, 32)", net))]
    assert differing("subscript p has size 8 for operand 1 which does not broadcast with previously seen size 4") == (
        8,
        4,
    )
