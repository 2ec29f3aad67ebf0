"""Every other input next to nothing, or nothing but zeros."""

from __future__ import annotations

import math

import torch

from kdata.verify.reference.draws import draw


def test_every_other_input_is_nothing_at_all() -> None:
    labels, inputs = torch.tensor([0.0, 1.0, 0.0]), [torch.randn(4, 3), torch.randn(4), torch.randn(2, 2)]
    for style, zeros in (("void", [True, False, True]), ("hollow", [False, True, False])):
        same, *changed = draw(style, [labels, *inputs], torch.Generator()) or []
        assert torch.equal(same, labels)
        assert [not t.any() for t in changed] == zeros
        assert not any(torch.signbit(t).any() for t, zero in zip(changed, zeros, strict=True) if zero)
    assert draw("hollow", [labels, inputs[0]], torch.Generator()) is None
    assert draw("void", [labels, inputs[0]], torch.Generator()) is not None


def test_infinities_become_nothing_and_what_is_nothing_is_not_drawn_again() -> None:
    x, nothing, mask = torch.randn(3, 3), torch.zeros(3, 3), torch.full((3, 3), -math.inf).triu(1)
    for style, inputs, place in (("hollow", [x, mask], 1), ("void", [mask], 0), ("hollow", [x, nothing, mask], 2)):
        changed = draw(style, inputs, torch.Generator()) or []
        assert torch.equal(changed[place], nothing) and all(map(torch.equal, changed[:place], inputs[:place]))
    for style in ("faint", "dim", "hollow", "void"):
        assert draw(style, [nothing, nothing], torch.Generator()) is None
    assert draw("hollow", [x, nothing], torch.Generator()) is None
