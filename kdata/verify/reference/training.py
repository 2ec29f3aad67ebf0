"""What a reference answers in training, where it draws: see ``evidence.masks``. In the reference's child only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from kdata.verify.evidence.masks import USUAL, Linear, Usual, with_products
from kdata.verify.exchange.wire import Writer
from kdata.verify.reference.draws import labels
from kdata.verify.reference.gradients import Derived, floating, gradients, names, vector
from kdata.verify.reference.values import copied, seed_torch

LARGEST = 1 << 14  # elements of an answer that are looked at
PATIENCE, FIRST = 20.0, 8  # seconds that all of its calls may take, and after how many it is known what they take
MOST = 4  # of an answer's tensors
SINGLE = (torch.float32, torch.float64)
Answer = Callable[[], Sequence[Any]]


def training(module: nn.Module, state: dict[str, Any], inputs: list[Any], seed: int, writer: Writer) -> dict[str, Any]:
    """Of each tensor that differs between calls what is usual, and the ends of its measures; nothing where it is unfit.

    ``module``: in training mode.
    """

    def answer() -> list[Any]:
        with torch.no_grad():
            return tree_leaves(module(*copied(inputs)))

    return _usual(answer, module, state, seed, writer)


def derived(module: nn.Module, state: dict[str, Any], inputs: list[Any], seed: int, writer: Writer) -> dict[str, Any]:
    """The same of its gradients and of what these are beside the answer: ``places``; and which they are: ``wanted``.

    None of labels, and none that vanish.  Nothing where it has none.  ``linear``: see ``evidence.masks.Linear``.
    """
    parameters = names(module)
    try:
        first = gradients(module, copied(inputs), seed, parameters)
    except Exception:  # noqa: BLE001 - the task has none
        return {}
    still = labels(floating(inputs))
    used = [n for n, g in enumerate(first.found) if g is not None and n not in still and bool((g != 0).any())]
    linear = _linear(first, used, floating(inputs), seed)

    def answer() -> list[Any]:
        given = gradients(module, copied(inputs), seed, parameters)
        found = [g for n in used if (g := given.found[n]) is not None]
        return [*linear.off(found, given.answers), *with_products(found, given.answers)]

    places = _usual(answer, module, state, seed, writer, len(linear.usual))
    wanted = {"seed": seed, "parameters": parameters, "used": used, "way": "gradient", "answers": True}
    beside = [writer.write([*tensors]) for tensors in (linear.vectors, linear.inputs, linear.usual)]
    return {"wanted": wanted, "places": places, "linear": beside, "unit": linear.unit} if places else {}


def _linear(first: Derived, used: Sequence[int], inputs: Sequence[Tensor], seed: int) -> Linear:
    """What gradients of inputs are held against; against nothing in half precision, which is off by more."""
    chosen = [inputs[n] for n in used if n < len(inputs)]
    if not all(t.dtype in SINGLE for t in (*first.answers, *chosen)):
        return Linear([], [], 1.0, [])
    vectors = [vector(t, seed + n) for n, t in enumerate(first.answers)]
    unit = max([float((a * v).flatten(1).sum(1).norm()) / len(a) ** 0.5
                for a, v in zip(first.answers, vectors, strict=True) if a.ndim > 1], default=0.0)  # fmt: skip
    known = Linear(vectors, chosen, unit, [])
    found = [g for n in used if (g := first.found[n]) is not None]
    return Linear(vectors, chosen, unit, known.differences(found, first.answers) if unit > 0 else [])


def _usual(
    answer: Answer, module: nn.Module, state: dict[str, Any], seed: int, writer: Writer, still: int = 0
) -> dict[str, Any]:  # fmt: skip
    """``still``: how many of the first tensors are looked at where they are zero at all calls, too."""
    try:
        calls = list(_calls(answer, module, state, seed))
        every = list(zip(*calls, strict=True))
    except Exception:  # noqa: BLE001 - the task cannot be called so, or takes too long
        return {}
    found: dict[str, Any] = {}
    for place, leaves in enumerate(every):
        if place < still and not any(t.any() for t in leaves):
            found[str(place)] = {"usual": writer.write([leaves[0].double()] * 2), "ends": {}}
        elif len(found) < MOST and _drawn(leaves):
            arrays = [t.double().numpy() for t in leaves]
            usual = Usual.of(arrays[:USUAL])
            if not usual.spread.any():
                continue
            kept = writer.write([torch.from_numpy(usual.mean), torch.from_numpy(usual.spread)])
            found[str(place)] = {"usual": kept, "ends": usual.ends(arrays[USUAL:])}
    return found


def _calls(answer: Answer, module: nn.Module, state: dict[str, Any], seed: int) -> Iterator[list[Any]]:
    """The leaves of answers one after another, the generator in another state before each."""
    begun = time.monotonic()
    for number in range(2 * USUAL):
        if number >= FIRST and (time.monotonic() - begun) * 2 * USUAL > PATIENCE * number:
            raise TimeoutError
        module.load_state_dict(state)
        seed_torch(seed + number)
        yield [t.reshape(-1)[:LARGEST].clone() if isinstance(t, Tensor) else None for t in answer()]


def _drawn(leaves: tuple[Any, ...]) -> bool:
    """Whether a tensor of several elements is finite in all calls, of one size, and not the same in all of them."""
    first = leaves[0]
    if not (isinstance(first, Tensor) and first.is_floating_point() and first.numel() > 1):
        return False
    if any(not isinstance(t, Tensor) or t.shape != first.shape or not torch.isfinite(t).all() for t in leaves):
        return False
    return bool((first != 0).any()) and not all(torch.equal(first, t) for t in leaves[1:])
