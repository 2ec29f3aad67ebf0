"""Which answers of a reference are moved only, and which copies move."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kdata.verify.candidate.moves import Layout, Provenance

X = torch.randn(4, 6, 8)


@pytest.mark.parametrize(
    ("function", "places"),
    [
        (lambda x: x.transpose(1, 2).contiguous(), [0]),
        (lambda x: torch.cat([x, x.flip(1)], 1), [0]),
        (lambda x: x.half(), [0]),
        (lambda x: (torch.relu(x), x.repeat(1, 2, 1)), [1]),
        (lambda x: torch.relu(x).transpose(1, 2).contiguous(), []),
        (lambda x: torch.cat([x, x], 1) * 2, []),
        (lambda x: x.transpose(1, 2), []),  # a view of what is given: nothing moves
    ],
)
def test_what_a_reference_only_moves(function: Any, places: list[int]) -> None:
    given = X.clone()
    provenance = Provenance([given])
    with provenance:
        outputs = function(given)
    told = provenance.moved(outputs)
    assert told.get("places", []) == places
    assert not told or told["converts"] == (outputs.__class__ is torch.Tensor and outputs.dtype == torch.float16)


def done(
    name: str, source: torch.Tensor, result: torch.Tensor, elements: list[int], held: Any = (), kinds: Any = ()
) -> str:
    args = (result, source) if name == "copy_" else (source,)
    return Layout({"elements": elements, "converts": True, "kinds": kinds}, held).done_by(name, args, result)


def test_copies_that_move() -> None:
    turned = X.transpose(1, 2)
    assert done("clone", turned, turned.contiguous(), []) == "aten.clone of another layout"
    assert done("clone", turned, turned.contiguous(), [X.numel()]) == "aten.clone of another layout"
    assert done("clone", turned, turned.contiguous(), [7]) == ""  # another answer is moved
    assert done("clone", turned, turned.contiguous(), [], [turned]) == ""  # it is given so
    assert done("clone", X, X.clone(), []) == ""
    assert done("_to_copy", X, X.half(), []) == "aten._to_copy to float16"
    room = torch.empty(4, 12, 8)
    assert done("copy_", X, room[:, :6], [], [X]) == "aten.copy_ of another layout"  # a part of what is joined
    assert done("copy_", X, torch.empty_like(X), []) == ""


def test_copies_that_move_beside_what_is_computed() -> None:
    turned, room = X.transpose(1, 2), torch.empty(4, 12, 8)
    assert done("copy_", X, room[:, :6], [], [X], ["parts"]) == "aten.copy_ that fills a part"
    assert done("clone", turned, turned.contiguous(), [], (), ["parts"]) == ""  # as a kernel may want it
    spread = X[:, :, None].expand(4, 6, 3, 8)
    assert done("clone", spread, spread.contiguous(), [], (), ["spreads"]) == "aten.clone that spreads"
    folded = X.view(2, 2, 3, 2, 8).permute(0, 2, 1, 3, 4)
    assert done("clone", folded, folded.contiguous(), [], (), ["folds"]) == "aten.clone that folds"


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (lambda x: torch.cat([x, x], 1) * 2, ["parts"]),
        (lambda x: torch.relu(x.repeat(1, 2, 1)), ["spreads"]),
        (lambda x: torch.cat([x, x], 1).softmax(1), []),  # rows are summed: a kernel may want them so
        (lambda x: torch.relu(x), []),
    ],
)
def test_moving_beside_what_is_computed(function: Any, kinds: list[str]) -> None:
    given = X.clone()
    provenance = Provenance([given])
    with provenance:
        outputs = function(given)
    assert provenance.moved(outputs).get("kinds", []) == kinds
