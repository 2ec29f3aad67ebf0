"""Complex inputs as pairs of real numbers: what is drawn of these is drawn of them. In the reference's child only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


def complexes(values: Any) -> bool:
    """Whether any of some values is a complex tensor that holds numbers."""
    return any(isinstance(t, Tensor) and t.is_complex() and t.numel() > 0 for t in tree_leaves(values))


def apart(values: Any) -> Any:
    """The values, of which complex tensors are real ones with one more dimension, of two."""
    return tree_map(lambda t: torch.view_as_real(t.resolve_conj()) if _complex(t) else t, values)


def together(values: Any, like: Any) -> Any:
    """The values, of which pairs are complex where those of ``like``, which have the same form, are."""
    leaves, form = tree_flatten(values)
    pairs = zip(leaves, tree_leaves(like), strict=True)
    whole = [torch.view_as_complex(t.contiguous()) if _complex(wanted) and not _complex(t) else t
             for t, wanted in pairs]  # fmt: skip
    return tree_unflatten(whole, form)


def _complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_complex()
