"""The search for arguments and inputs: what texts tell of shapes, what errors tell of arguments, what is worth keeping."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources.hints.layouts import Sizes, told
from sources.infer.constructor.constructions import Constructions
from sources.infer.constructor.trouble import Trouble, offered
from sources.infer.forward.failure import Failure
from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.repairs import repairs
from sources.infer.forward.variants import refitted
from sources.infer.inputs import Many, Plain, Tensor
from sources.infer.running.progress import Budget, Progress, TooMuchError
from sources.infer.running.rehearsal import Rehearsal
from sources.infer.running.worth import CONSTANT, IGNORES, NOT_FINITE, OUT_OF_RANGE, flaw
from sources.infer.search import Solution, solve
from sources.probe import load

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x (torch.Tensor): Input of shape (batch_size, dim)", ("batch_size", "dim")),
        (":param x: Input tensor, shape (seq_len, batch, input_size)", ("seq_len", "batch", "input_size")),
        ("x (torch.Tensor): Input tensor (#batch, time, idim).", ("batch", "time", "idim")),
        ("x: the numbers of the samples, size [batch_size]", ("batch_size",)),
        ("x :: [len*bsz]", ("bsz",)),
        ("x :: [len*bsz x d_proj]", ("bsz", "d_proj")),
        ("x: scores (b), one an image", ()),
        ("x: B x C x H x W", ("B", "C", "H", "W")),
        ("x: the weights.\n    A 2D tensor. Shape: (N, 2*M)", ("N", "2*M")),
        ("x (Tensor): a matrix", ("_", "_")),
        ("x: numbers in [0, ..., config.words], of shape (N, L)", ("N", "L")),
    ],
)
def test_docstrings_tell_shapes(text: str, shape: tuple[str, ...]) -> None:
    assert told("x", f"Does it.\n\nArgs:\n    {text}\n    y: other (A, B, C)\n", "")[:1] == ([shape] if shape else [])


def test_code_tells_shapes_and_calls_in_it_do_not() -> None:
    code = "def forward(self, x):\n    b, n, c = x.shape\n    x = self.mix(b, n)\n    y = rearrange(x, 'b (h w) c -> b c h w')\n"
    assert told("x", "", code) == [("b", "n", "c"), ("b", "h*w", "c")]


@pytest.mark.parametrize(
    ("comment", "shape"),
    [
        ("# x: the encoder's answer (B, length, dim=128)", ("B", "length", "dim")),
        ("# x.shape = (b, n, c)", ("b", "n", "c")),
        ("# (B, 512, L)", ("B", "512", "L")),
    ],
)
def test_comments_tell_shapes(comment: str, shape: tuple[str, ...]) -> None:
    assert told("x", "", f"def forward(self, x):\n    {comment}\n    return x\n")[:1] == [shape]


def test_comments_above_a_function_tell_shapes(tmp_path: Path) -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    # memory: what was read before (B, 24, 8)\n"
        "    def forward(self, memory, x):\n        return memory * x\n"
    )
    module = load(text, tmp_path)["Net"]()
    assert guesses(module)[0][0] == Tensor((4, 24, 8))


def test_names_mean_the_same_size_everywhere() -> None:
    sizes = Sizes({"hidden_size": 128, "num_layers": 2, "dim": 1}, 3, 32)
    assert sizes.shape(("num_layers * 2", "batch", "hidden_size")) == (4, 4, 128)
    assert sizes.shape(("batch", "dim")) == (4, 32)  # an axis is no size
    assert sizes.shape(("M", "K"))[1] == sizes.shape(("K", "N"))[0]
    assert Sizes({}, 3, 32).shape(("N", "C", "H", "W")) == (4, 3, 32, 32)


def _solved(text: str, name: str = "Net") -> Solution:
    namespace: dict[str, Any] = {"nn": nn, "torch": torch}
    exec(HEAD + text, namespace)
    found = solve(namespace[name], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


def test_a_forward_that_fails_changes_the_argument_it_uses() -> None:
    text = """
class Net(nn.Module):
    def __init__(self, channels, resolution):
        super().__init__()
        self.extent = resolution
        self.conv = nn.Conv2d(channels, 8, 3)

    def forward(self, x):
        h, w = self.extent
        return self.conv(x) * h + w
"""
    assert _solved(text).arguments["resolution"].startswith("(")


def test_arguments_that_are_passed_on_to_a_base_class_are_found() -> None:
    text = """
class Base(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.line = nn.Linear(in_features, out_features)

    def forward(self, x):
        return self.line(x)


class Net(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Narrow(Base):
    def __init__(self, **kwargs):
        super().__init__(out_features=2, **kwargs)
"""
    assert set(_solved(text).arguments) == {"in_features", "out_features"}
    assert set(_solved(text, "Narrow").arguments) == {"in_features"}


def test_states_targets_and_positive_inputs() -> None:
    class Recurrent(nn.Module):
        def forward(self, x: Any, h: Any) -> Any:
            return x

    specs = (Tensor((4, 64, 32)), Tensor((4, 64)))
    failure = Failure(specs, "RuntimeError: Expected hidden size (3, 64, 128), got [4, 64]", Recurrent())
    assert repairs(failure)[0] == (0.0, (specs[0], Tensor((3, 64, 128))))

    prediction, target = torch.ones(4, 10, 8), torch.ones(4, 10, 8)
    failure = Failure((Tensor((4, 16)), Tensor((4, 10, 8))), "RuntimeError: expected scalar type Long", Recurrent(),
                      "cross_entropy", (prediction, target))  # fmt: skip
    assert repairs(failure)[0] == (0.0, (Tensor((4, 16)), Tensor((4, 8), "int", 10)))

    failure = Failure((Tensor((4, 8)), Tensor((4, 8))), NOT_FINITE, Recurrent())
    assert (0.0, (Tensor((4, 8), "unit"), Tensor((4, 8), "unit"))) in repairs(failure)
    failure = Failure((Tensor((4, 3, 8, 1)),), NOT_FINITE, Recurrent())
    assert any(specs == (Tensor((4, 3, 16, 2)),) for _, specs in repairs(failure))


def test_what_is_attended_to_is_given_where_the_input_itself_does_not_fit() -> None:
    class Cross(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = nn.Linear(64, 32), nn.Linear(96, 32)

        def forward(self, x: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
            return self.query(x) @ self.key(x if context is None else context).transpose(-1, -2)

    solved = solve(Cross, {}, "class Cross:\n    pass\n")
    assert isinstance(solved, Solution)
    assert [s.shape[-1] for s in solved.specs if isinstance(s, Tensor)] == [64, 96]


def test_a_large_answer_is_finite_or_no_solution() -> None:
    class Warp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wide, self.deep = nn.Conv2d(3, 256, 3, padding=1), nn.Conv2d(256, 256, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.deep(self.wide(x.sqrt()))

    solved = solve(Warp, {}, "class Warp:\n    pass\n")
    assert isinstance(solved, Solution)
    (given,) = solved.specs
    assert isinstance(given, Tensor)
    assert given.kind == "unit"


def test_numbers_take_the_place_of_tensors_where_the_error_says_so() -> None:
    class Tile(nn.Module):
        def forward(self, x: Any, num_steps: Any) -> Any:
            return x

    failure = Failure((Tensor((4, 8)), Tensor((4, 8))), "TypeError: only integer tensors of a single element can be "
                      "converted to an index", Tile())  # fmt: skip
    assert any(isinstance(s[1], Plain) and isinstance(s[1].value, int) for _, s in repairs(failure)[:3])
    failure = Failure((Tensor((4, 8)),), "TypeError: expected sequence of Tensors", Tile())
    assert any(isinstance(s[0], Many) for _, s in repairs(failure)[:4])


def test_what_is_worth_nothing_is_seen() -> None:
    class Of(nn.Module):
        def __init__(self, function: Any) -> None:
            super().__init__()
            self.function = function

        def forward(self, x: torch.Tensor) -> Any:
            return self.function(x)

    def found(function: Any) -> str:
        specs = (Tensor((4, 8)),)
        return flaw(Of(function), specs, Of(function)(torch.randn(4, 8)), Budget())

    assert found(torch.relu) == ""
    assert found(lambda x: x.sum()) == ""  # one number is no constant
    assert found(torch.log) == NOT_FINITE
    assert found(torch.zeros_like) == CONSTANT
    assert found(lambda x: torch.arange(8.0) + len(x)) == IGNORES


def test_indices_that_were_lucky_are_no_solution() -> None:
    class Fields(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(96, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.table(x + torch.tensor([0, 32]))
            return found

    # drawn with the search's seed these lie in the table, the largest that may be drawn do not
    assert flaw(Fields(), (Tensor((4, 2), "int", 96),), torch.rand(4, 2, 4), Budget()) == OUT_OF_RANGE
    assert flaw(Fields(), (Tensor((4, 2), "int", 48),), torch.rand(4, 2, 4), Budget()) == ""
    solved = _solved(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.table = nn.Embedding(96, 4)\n\n    def forward(self, tokens):\n"
        "        b, n = tokens.shape\n        return self.table(tokens + torch.tensor([0, 32]))\n"
    )
    assert [t.high <= 64 for t in solved.specs if isinstance(t, Tensor)] == [True]


def test_a_matrix_of_embeddings_is_given_and_as_wide_as_what_follows() -> None:
    solved = _solved(
        "class Net(nn.Module):\n    def __init__(self, embedding_matrix, hidden=300):\n        super().__init__()\n"
        "        self.embed = nn.Embedding.from_pretrained(torch.tensor(embedding_matrix, dtype=torch.float))\n"
        "        self.last = nn.Linear(hidden, 4)\n\n    def forward(self, words):\n"
        "        return self.last(self.embed(words))\n"
    )
    assert solved.arguments == {"embedding_matrix": "torch.randn(1024, 300)"}


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ("mat1 and mat2 shapes cannot be multiplied (256x64 and 300x8)", ["300", "64"]),
        (
            "Given normalized_shape=[300], expected input with shape [*, 300], but got input of size[4, 9, 64]",
            ["300", "64"],
        ),
        ("mat1 and mat2 shapes cannot be multiplied (256x128 and 600x8)", ["300", "64"]),  # both in two directions
        ("mat1 and mat2 shapes cannot be multiplied (256x1 and 300x8)", []),
        ("something else", []),
    ],
)
def test_arguments_that_say_the_same_size_are_made_to_agree(message: str, changed: list[str]) -> None:
    found = refitted({"width": "64", "name": "'a64'"}, {"other": "300"}, message)
    assert sorted(next(v for n, v in f.items() if n != "name" and v != "64" or n == "other") for f in found) == changed


def test_words_of_a_message_are_tried_where_the_text_says_them() -> None:
    tree = ast.parse("nets = {'small': 1, 'large-2': 2}\nraise ValueError('pass small, large-2 or your own')")
    assert offered("pass small, large-2 or your own", tree) == ["'small'", "'large-2'"]


def test_what_parts_call_alike_changes_in_all_of_them_first() -> None:
    message = "mat1 and mat2 shapes cannot be multiplied (15x256 and 64x64)"
    parts = {"ctc": "CTC(size=64, vocab=64)", "decoder": "Decoder(vocab=9, size=64)"}
    found = refitted(parts, {}, message)
    assert found[0] == {"ctc": "CTC(size=256, vocab=64)", "decoder": "Decoder(vocab=9, size=256)"}
    assert parts | {"ctc": "CTC(size=64, vocab=256)"} in found


@pytest.mark.parametrize(
    "claim",
    [
        "x.dim() == y.dim() == 5",
        "len(x.shape) == self.rank and y.ndim == 5",
        "x.size(1) == self.parts, 'no parts'",
        "x.shape[-1] == y.shape[1] and x.dim() == 4",
        "x.shape == y.shape and x.dim() == 5 and (\n            x.size(2) == 7)",
    ],
)
def test_assertions_about_shapes_are_obeyed(claim: str, tmp_path: Path) -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.rank = 5\n"
        f"        self.parts = 37\n\n    def forward(self, x, y):\n        assert {claim}\n"
        "        return x.sum() * y.sum() * torch.rand_like(x).mul(0).add(x)\n"
    )
    namespace = load(text, tmp_path)
    assert isinstance(solve(namespace["Net"], namespace, text), Solution)


def test_inputs_that_came_furthest_are_carried_to_the_next_module(tmp_path: Path) -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, embedding_matrix, width=300):\n        super().__init__()\n"
        "        self.embed = nn.Embedding.from_pretrained(embedding_matrix)\n        self.last = nn.Linear(width, 4)\n\n"
        "    def forward(self, inputs):\n        a, b, c = inputs\n        assert a.shape[1] == 41\n"
        "        assert b.shape[1] == 43\n"
        "        return self.last(self.embed(torch.cat([a, b], 1)).mean(1)) * c.sum()\n"
    )
    namespace = load(text, tmp_path)
    solved = solve(namespace["Net"], namespace, text)
    assert isinstance(solved, Solution)
    assert solved.arguments["embedding_matrix"] == "torch.randn(1024, 300)"


def test_large_modules_are_rehearsed_without_data() -> None:
    heavy = nn.Sequential(nn.Conv2d(3, 64, 3), nn.Conv2d(64, 64, 3), nn.Linear(50, 2))
    rehearsal = Rehearsal(heavy)
    failed = rehearsal.call((Tensor((1, 3, 480, 480)),), None, False)
    assert failed is not None
    assert "cannot be multiplied" in str(failed[1])
    assert failed[0].last[0] == "linear"
    assert rehearsal.call((Tensor((1, 3, 54, 54)),), None, False) is None  # it fits
    assert all(p.device.type == "cpu" for p in heavy.parameters())


def test_what_cannot_be_copied_is_not_rehearsed() -> None:
    """Weights that are computed from others, as weight_norm's are."""
    rehearsal = Rehearsal(nn.Sequential(nn.utils.weight_norm(nn.Conv1d(4, 4, 3))))
    assert rehearsal.call((Tensor((1, 4, 8)),), None, False) is None


def test_what_looks_at_values_is_not_rehearsed() -> None:
    class Looks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if float(x.sum()) > 0 else x.view(7, 7)

    rehearsal = Rehearsal(Looks())
    assert rehearsal.call((Tensor((4, 4)),), None, False) is None
    assert rehearsal.call((Tensor((4, 4)),), None, False) is None


@pytest.mark.parametrize(
    ("run", "fits"),
    [
        (lambda: nn.functional.conv2d(torch.rand(8, 256, 128, 128), torch.rand(256, 256, 3, 3), padding=1), False),
        (lambda: nn.functional.conv2d(torch.rand(8, 256, 16, 16), torch.rand(256, 1, 3, 3), groups=256), True),
        (lambda: nn.functional.conv2d(torch.rand(1, 64, 64, 64), torch.rand(64, 64, 3, 3), stride=2), True),
        (
            lambda: torch.einsum(
                "bhd,bmd,khm->bkd", torch.rand(4, 900, 64), torch.rand(4, 900, 64), torch.rand(64, 900, 900)
            ),
            False,
        ),
        (lambda: torch.rand(8192, 8192) @ torch.rand(8192, 8192), False),
        (lambda: torch.rand(256, 256) @ torch.rand(256, 256), True),
        (lambda: torch.empty(1, 2048, 2048) @ torch.empty(64, 2048, 2048), False),
    ],
)
def test_one_function_that_takes_seconds_is_not_begun(run: Any, fits: bool) -> None:
    with contextlib.nullcontext() if fits else pytest.raises(TooMuchError), Progress(Budget()):
        run()


def test_what_a_function_will_take_is_what_it_took() -> None:
    progress = Progress(Budget())
    with progress:
        torch.einsum("bi,ij->bj", torch.rand(8, 16), torch.rand(16, 32))
        nn.functional.conv2d(torch.rand(2, 8, 6, 6), torch.rand(4, 8, 3, 3), None, 2, 1)
        nn.functional.linear(torch.rand(5, 16), torch.rand(32, 16))
        torch.rand(3, 5, 7) @ torch.rand(7)
    assert progress.flops == 2 * (8 * 16 * 32 + 2 * 4 * 3 * 3 * 8 * 9 + 5 * 16 * 32 + 3 * 5 * 7)


def test_trouble_keeps_the_lines_of_one_file() -> None:
    try:
        nn.Linear(2, 2)(torch.ones(3))
    except RuntimeError as error:
        trouble = Trouble.of(error, __file__)
    assert trouble.line.startswith("nn.Linear(2, 2)")
    assert trouble.message.startswith("RuntimeError: ")


def test_constructions_come_once() -> None:
    class Scale(nn.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()

    constructions = Constructions(Scale, {"nn": nn, "torch": torch}, "", Budget())
    every = [arguments["factor"] for arguments, _ in constructions]
    assert len(every) == len(set(every)) > 1


def test_what_takes_the_place_of_a_weight_is_a_parameter(tmp_path: Path) -> None:
    text = "import torch\nimport torch.nn as nn\n\n\n" + (
        "class Net(nn.Module):\n    def __init__(self, hidden_size, embedding_weights):\n        super().__init__()\n"
        "        self.first = nn.Linear(hidden_size, hidden_size)\n"
        "        self.decoder = nn.Linear(embedding_weights.size(1), embedding_weights.size(0), bias=False)\n"
        "        self.decoder.weight = embedding_weights\n\n"
        "    def forward(self, x):\n        return self.decoder(self.first(x))\n"
    )
    namespace = load(text, tmp_path)
    found = solve(namespace["Net"], namespace, text)
    assert isinstance(found, Solution)
    assert found.arguments["embedding_weights"].startswith("nn.Parameter(torch.randn(")
