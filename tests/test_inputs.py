"""Inputs and arguments that texts and errors ask for: dictionaries, tuples, numbers with a name, smaller networks."""

from __future__ import annotations

import enum
import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from kdata.task import execute, sizes
from sources.emit import emit
from sources.infer import search
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Plain, Tensor
from sources.infer.rewritten.ignored import without_ignored
from sources.infer.running.progress import Budget, Progress, TooMuchError
from sources.infer.runs import Runs, fitted
from sources.infer.search import Solution, solve
from sources.infer.sizes import named, slots, tied
from sources.watch.seen import as_seen

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def loaded(text: str, folder: Path) -> dict[str, Any]:
    """The namespace of a text that ``inspect`` can read."""
    path = folder / "cut.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location("cut", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"nn": nn, "torch": torch} | vars(module)


def solved(text: str, folder: Path) -> Solution:
    namespace = loaded(text, folder)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


FORWARD = "class Net(nn.Module):\n    def forward(self, {}):\n        {}\n"


@pytest.mark.parametrize(
    ("given", "body", "kind"),
    [
        ("batch", "return batch['image'].exp() * batch.get('scale')", "dict"),
        ("pair", "return pair[0].exp() @ pair[1].transpose(-1, -2)", "tuple"),
        ("pair", "a, b = pair\n        return a.relu() + b", "tuple"),
    ],
)
def test_what_a_text_takes_apart_is_given_in_parts(given: str, body: str, kind: str, tmp_path: Path) -> None:
    (spec,) = solved(FORWARD.format(given, body), tmp_path).specs
    assert isinstance(spec, Many)
    assert spec.kind == kind
    assert spec.keys == (("image", "scale") if kind == "dict" else ())


def test_a_dictionary_is_written_and_drawn(tmp_path: Path) -> None:
    text = FORWARD.format("batch", "return batch['a'].exp() * batch['b']")
    found = Solution({}, (Many((Tensor((4, 8)), Tensor((4, 8))), "dict", ("a", "b")),))
    runs = Runs(loaded(text, tmp_path)["Net"], {}, 10)
    source = emit(HEAD + text, found, named(tied(found, slots(found, ["batch"]), runs), found, set()), None)
    program = execute(source, "Net")
    (batch,) = program.inputs()
    assert set(batch) == {"a", "b"}
    assert program.build()(batch).shape == (4, 8)
    assert [s.name for s in sizes(source)] == ["batch_size", "features"]


def test_numbers_among_the_inputs_have_the_name_of_what_they_change_with(tmp_path: Path) -> None:
    text = FORWARD.format("x, h", "return x.view(-1, h, h).exp()")
    found = Solution({}, (Tensor((4, 32, 32)), Plain(32)))
    runs = Runs(loaded(text, tmp_path)["Net"], {}, 10)
    source = emit(HEAD + text, found, named(tied(found, slots(found, ["x", "h"]), runs), found, set()), None)
    assert "get_inputs[0]" not in {s.name for s in sizes(source)}
    assert source.count("32") == 1


def test_a_network_that_is_too_large_is_made_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = (
        "class Net(nn.Module):\n    def __init__(self, width=64, depth=24):\n        super().__init__()\n"
        "        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))\n"
        "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x).relu()\n        return x\n"
    )
    monkeypatch.setattr(search, "MAX_PARAMETERS", 24 * 64 * 65 - 1)
    assert solved(deep, tmp_path).arguments == {"depth": "12"}


def test_making_inputs_smaller_does_not_use_up_the_budget_of_ties(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.conv = nn.Conv2d(8, 8, 3)\n"
        "    def forward(self, x):\n        return self.conv(x)\n"
    )
    monkeypatch.setattr("sources.infer.runs.TIES_BUDGET", 20)
    runs = Runs(loaded(text, tmp_path)["Net"], {"nn": nn, "torch": torch}, 1)
    (spec,) = fitted(Solution({}, (Tensor((4, 8, 512, 512)),)), runs).specs
    assert isinstance(spec, Tensor)
    assert spec.shape[-1] <= 128
    assert runs(Solution({}, (spec,)))


def test_images_are_of_the_side_that_the_constructor_was_told(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, img_size=96):\n        super().__init__()\n"
        "        self.table = nn.Parameter(torch.randn(1, 3, img_size, img_size))\n"
        "    def forward(self, x):\n        return x * self.table\n"
    )
    (spec,) = solved(text, tmp_path).specs
    assert isinstance(spec, Tensor)
    assert spec.shape[-1] == 96


class Any2(nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("split_with_sizes expects split_sizes to sum exactly to 64 (input tensor's size at dimension 1), "
         "but got split_sizes=[1, 2]", (4, 3, 32, 32)),
        ("The size of tensor a (14) must match the size of tensor b (8) at non-singleton dimension 3", (4, 64, 56, 56)),
        ("Input images should be 3-d", (4, 64, 64)),
        ("Given input size: (2048x1x1). Calculated output size: (2048x-5x-5). Output size is too small",
         (1, 64, 224, 224)),
        ("Calculated padded input size per channel: (2 x 2). Kernel size: (7 x 7). Kernel size can't be greater",
         (4, 64, 112, 112)),
    ],
)  # fmt: skip
def test_messages_tell_shapes(message: str, wanted: tuple[int, ...]) -> None:
    failure = Failure((Tensor((4, 64, 32, 32)), Plain(1)), f"RuntimeError: {message}", Any2())
    assert any(s[0].shape == wanted for _, s in repairs(failure)[:6] if isinstance(s[0], Tensor))


def test_an_empty_dimension_is_no_reason_to_fail() -> None:
    arguments = (torch.ones(4, 0), torch.ones(8, 64))
    assert isinstance(repairs(Failure((Tensor((4, 8)),), "RuntimeError", Any2(), "linear", arguments)), list)


def test_what_kwargs_must_hold_is_given(tmp_path: Path) -> None:
    text = (
        "class Inner(nn.Module):\n    def __init__(self, dim, *, heads):\n        super().__init__()\n"
        "        self.line = nn.Linear(dim, dim * heads)\n    def forward(self, x):\n        return self.line(x)\n"
        "class Net(nn.Module):\n    def __init__(self, dim, **kwargs):\n        super().__init__()\n"
        "        self.inner = Inner(dim, **kwargs)\n    def forward(self, x):\n        return self.inner(x)\n"
    )
    assert set(solved(text, tmp_path).arguments) == {"dim", "heads"}


def test_the_work_of_recurrent_layers_is_counted() -> None:
    layer, x = nn.LSTM(64, 128), torch.randn(16, 4, 64)
    with torch.no_grad(), Progress(Budget()) as progress:
        layer(x)
    assert progress.flops == 2.0 * 16 * 4 * sum(p.numel() for p in layer.parameters())
    with torch.no_grad(), pytest.raises(TooMuchError), Progress(Budget()):
        layer(torch.empty(1 << 18, 4, 64))


def test_parts_that_nobody_looks_at_are_none(tmp_path: Path) -> None:
    text = FORWARD.format("batch", "return batch['text'][0].exp()")
    pair = Many((Tensor((4, 8)), Tensor((4,), "int", 16)), "tuple")
    found = Solution({}, (Many((pair, Tensor((4, 8))), "dict", ("text", "label")),))
    (spec,) = without_ignored(found, Runs(loaded(text, tmp_path)["Net"], {}, 9)).specs
    assert spec == Many((Many((Tensor((4, 8)), Plain(None)), "tuple"), Plain(None)), "dict", ("text", "label"))


def test_a_class_that_was_seen_with_more_than_a_call_may_cost_is_given_less(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lstm = nn.LSTM(64, 2048)\n"
        "    def forward(self, x):\n        return self.lstm(x)[0]\n"
    )
    seen = {"arguments": {}, "specs": [["tensor", [64, 4, 64], "float", 0]]}
    namespace = loaded(text, tmp_path)
    whole = as_seen(namespace["Net"], namespace, seen, 10)
    assert whole is not None
    assert whole.specs == (Tensor((64, 4, 64)),)
    seen["specs"][0][1] = [4, 512, 64]  # type: ignore[index]
    less = as_seen(namespace["Net"], namespace, seen, 10)
    assert less is not None
    assert less.specs == (Tensor((1, 512, 64)),)


def test_a_default_that_is_a_member_of_an_enumeration_is_left_to_the_constructor() -> None:
    class Kind(enum.StrEnum):
        RELU = "relu"

    def made(width: int, scale: float = 0.5, kind: str = Kind.RELU, last: int = 1) -> None: ...

    found = Solution({"width": "64", "last": "2"}, (Tensor((4, 64)),))
    assert "return [[64, 0.5], {'last': 2}]" in emit("", found, [], inspect.signature(made))
