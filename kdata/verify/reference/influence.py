"""What of a reference's weights and inputs has a part in its answer, which answers only move what is given, and copies.

In the reference's child only.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from kdata.verify.candidate.moves import Provenance
from kdata.verify.reference.values import altered, copied, near, same

NOTHING = 1e-6  # relative change of an answer that counts as none
TRIED = 32  # parameters and inputs of which it is asked whether they matter
State = dict[str, Any]


def unused(
    module: nn.Module, state: State, inputs: list[Any], answer: Callable[[State, list[Any]], Any]
) -> list[str]:  # fmt: skip
    """Names of trainable parameters and floating inputs that may change without the answer's changing.

    ``answer``: what the reference makes of weights and inputs; where it raises, it does depend on them.
    """
    outputs = answer(state, inputs)
    names = [name for name, p in module.named_parameters() if p.requires_grad and p.numel() and name in state]
    changes = [(name, state | {name: altered(state[name])}, inputs) for name in names[:TRIED]]
    changes += [(f"input {n}", state, [*inputs[:n], altered(value), *inputs[n + 1 :]])
                for n, value in enumerate(inputs[:TRIED])
                if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel()]  # fmt: skip
    found = []
    for name, other_state, other_inputs in changes:
        try:
            changed = answer(other_state, other_inputs)
        except Exception:  # noqa: BLE001, S112 - outside its domain: it does depend on it
            continue
        found += [name] if near(outputs, changed, NOTHING) else []
    return found


def moved(module: nn.Module, inputs: list[Any]) -> dict[str, Any]:
    """Which outputs are made of what is given by moving elements only; ``inputs`` are the module's to change."""
    given = [t for t in (*tree_leaves(inputs), *module.state_dict().values()) if isinstance(t, torch.Tensor)]
    provenance = Provenance(given)
    with provenance, torch.no_grad():
        outputs = module(*inputs)
    return provenance.moved(outputs)


def copies(module: nn.Module, state: State, answer: Callable[[nn.Module], Any], outputs: Any) -> bool:
    """Whether a deep copy of a module, with weights of its own, answers by these.

    One that keeps a function of itself, as a lambda of its constructor's is, answers by the original's.
    """
    try:
        copied = copy.deepcopy(module)
        copied.load_state_dict(state)
        return same(answer(copied), outputs)
    except Exception:  # noqa: BLE001 - it holds what cannot be copied
        return False


def same_again(module: nn.Module, state: dict[str, Any], inputs: list[Any], before: Any) -> bool:
    """Whether a module that was called answers as ``before`` when its state is what it was.

    What it keeps beside that, a count of its calls say, no candidate is given.
    """
    module.load_state_dict(state)
    with torch.no_grad():
        return same(before, module(*copied(inputs)))
