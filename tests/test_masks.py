"""What draws as a reference does, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from kdata.verify.evidence.masks import CALLS, ORDINALS, USUAL, Array, Linear, Usual, with_products

SHAPE, DROPPED = (32, 40), 0.2
VALUES = np.random.default_rng(0).normal(size=SHAPE)


def _calls(count: int, seed: int, dropped: float = DROPPED, rows: int = SHAPE[0], turns: int = 99999) -> list[Array]:
    """Calls of a dropout, of which ``rows`` rows have masks of their own, and every so many calls the same ones."""
    made = []
    for number in range(count):
        random = np.random.default_rng([seed, number % turns])
        mask = np.resize(random.random((rows, SHAPE[1])) >= dropped, SHAPE)
        made.append(np.where(mask, VALUES / (1 - dropped), 0.0))
    return made


@pytest.fixture(scope="module")
def usual() -> tuple[Usual, dict[str, list[float]]]:
    calls = _calls(2 * USUAL, 1)
    known = Usual.of(calls[:USUAL])
    return known, known.ends(calls[USUAL:])


@pytest.mark.parametrize("seed", range(2, 42))
def test_who_draws_alike_is_not_beyond_it(usual: tuple[Usual, dict[str, list[float]]], seed: int) -> None:
    known, ends = usual
    assert known.beyond(_calls(CALLS, seed), ends) == ""


def test_who_draws_otherwise_is(usual: tuple[Usual, dict[str, list[float]]]) -> None:
    known, ends = usual
    for turns, said in enumerate(ORDINALS, 1):
        assert f"at every {said}call" in known.beyond(_calls(CALLS, 2, turns=turns), ends)
    assert "within one call" in known.beyond(_calls(CALLS, 2, rows=1), ends)
    assert "zero" in known.beyond(_calls(CALLS, 2, dropped=2 * DROPPED), ends)
    assert "size" in known.beyond([a * (1 - DROPPED) for a in _calls(CALLS, 2)], ends)
    assert "finite" in known.beyond([a * np.nan for a in _calls(CALLS, 2)], ends)


def test_a_gradient_of_another_mask_is_beyond_one_of_the_same() -> None:
    def products(count: int, seed: int, other: int) -> list[Array]:
        pairs = zip(_calls(count, seed), _calls(count, other), strict=True)
        return [with_products([gradient], [answer])[0] for gradient, answer in pairs]

    own = products(2 * USUAL, 1, 1)
    usual = Usual.of(own[:USUAL])
    ends = usual.ends(own[USUAL:])
    assert usual.beyond(products(CALLS, 2, 2), ends) == ""
    assert "zero" in usual.beyond(products(CALLS, 2, 3), ends)
    assert len(with_products([VALUES], [VALUES[0]])) == 1


def test_a_layer_after_a_dropout_tells_whether_its_gradient_is_of_the_same_mask() -> None:
    random = np.random.default_rng(0)
    weights, vector = random.normal(size=(SHAPE[1], 8)), random.normal(size=(SHAPE[0], 8))
    masks = [random.random(SHAPE) >= DROPPED for _ in range(CALLS)]
    answers, gradients = [(VALUES * m) @ weights for m in masks], [(vector @ weights.T) * m for m in masks]
    known = Linear([vector], [VALUES], float((answers[0] * vector).sum(1).std()), [np.zeros(SHAPE[0])])
    nothing = Usual(np.zeros(SHAPE[0]), np.zeros(SHAPE[0]))
    same = [known.off([g], [a])[0] for g, a in zip(gradients, answers, strict=True)]
    others = [known.off([g], [a])[0] for g, a in zip(gradients[1:], answers, strict=False)]
    assert nothing.beyond(same, {}) == ""
    assert "something else" in nothing.beyond(others, {})
