"""Which answers of a reference are moved only, and which copies move."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kdata.verify.moves import Layout, Provenance

X = torch.randn(4, 6, 8)


@pytest.mark.parametrize(
    ("function", "places"),
    [
        (lambda x: x.transpose(1, 2).contiguous(), [0]),
        (lambda x: torch.cat([x, x.flip(1)], 1), [0]),
        (lambda x: x.half(), [0]),
        (lambda x: (torch.relu(x), x.repeat(1, 2, 1)), [1]),
        (lambda x: torch.relu(x).transpose(1, 2).contiguous(), []),
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


def done(name: str, source: torch.Tensor, result: torch.Tensor, elements: list[int], held: Any = ()) -> str:
    args = (result, source) if name == "copy_" else (source,)
    return Layout({"elements": elements, "converts": True}, held).done_by(name, args, result)


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
