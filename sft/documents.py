"""Attention within each of a packed row's documents: no mask, and no work between documents.

A dense mask of a packed row is quadratic in its length, takes the fast kernels away, and on Hopper its backward pass
through the kernels that are left gave gradients that are no numbers.  On a GPU the kernel is PyTorch's own copy of
FlashAttention-2 (Dao 2023, https://arxiv.org/abs/2307.08691) in its form for sequences of many lengths.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch.nn import functional
from transformers import AttentionInterface

NAME = "documents"
HALF = (torch.bfloat16, torch.float16)
_last: tuple[Any, torch.Tensor, list[int]] | None = None  # positions, and where documents begin: the same in all layers


def register() -> None:
    """Make it known to transformers, as ``attn_implementation="documents"``."""
    AttentionInterface.register(NAME, attend)


def attend(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: torch.Tensor | None,
    scaling: float | None = None, position_ids: torch.Tensor | None = None, **_: Any,
) -> tuple[torch.Tensor, None]:  # fmt: skip
    """Causal attention in the form of transformers' attention functions. A position of 0 begins a document.

    Args:
        module: the layer, unused.
        query: ``[batch, heads, tokens, dim]``.
        key: ``[batch, key heads, tokens, dim]``; each head serves as many heads of the query.
        value: like ``key``.
        attention_mask: there is none; padding at a row's end is seen by nothing before it.
        scaling: of the scores.
        position_ids: ``[batch or 1, tokens]``.

    Returns:
        ``[batch, tokens, heads, dim]`` and no weights.

    Raises:
        ValueError: there are no positions, or more keys than queries (a cache).
    """
    batch, heads, tokens, dim = query.shape
    if position_ids is None or key.shape[2] != tokens:
        raise ValueError("attention within documents is for training: it needs positions and knows no cache")
    repeats = heads // key.shape[1]
    flat = [t.transpose(1, 2).reshape(batch * tokens, -1, dim) for t in (query, key, value)]
    flat[1:] = [t.repeat_interleave(repeats, 1) for t in flat[1:]]
    begins, cuts = _documents(position_ids, batch)
    dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else query.dtype
    if query.is_cuda and dtype in HALF:
        longest = max(b - a for a, b in itertools.pairwise(cuts))
        out = torch.ops.aten._flash_attention_forward(
            *(t.to(dtype) for t in flat), begins, begins, longest, longest, 0.0, True, False, scale=scaling
        )[0]
    else:
        out = torch.cat([_one(flat, a, b, scaling) for a, b in itertools.pairwise(cuts)])
    return out.reshape(batch, tokens, heads, dim), None


def _one(flat: list[torch.Tensor], begin: int, end: int, scaling: float | None) -> torch.Tensor:
    """One document, ``[tokens, heads, dim]``."""
    q, k, v = (t[begin:end].transpose(0, 1) for t in flat)
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling).transpose(0, 1)


def _documents(position_ids: torch.Tensor, batch: int) -> tuple[torch.Tensor, list[int]]:
    """Where documents begin in the flattened batch, and its end: on the device as int32, and as a list."""
    global _last
    if _last is None or _last[0] is not position_ids:
        positions = position_ids.expand(batch, -1).reshape(-1)
        first = (positions == 0).nonzero().flatten()
        end = torch.tensor([positions.numel()], device=positions.device)
        begins = torch.cat([first, end])
        _last = position_ids, begins.to(torch.int32), begins.tolist()
    return _last[1], _last[2]
