"""How fast training is, against what the device could do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Dense bf16 FLOP/s by what the device's name contains, from the makers' data sheets (without sparsity).
PEAKS = (
    ("B200", 2250e12), ("H200", 989e12), ("H100 PCIe", 756e12), ("H100", 989e12), ("A100", 312e12), ("A10G", 70e12),
    ("L40S", 362e12), ("L4", 121e12), ("RTX 4090", 165e12), ("RTX 3090", 71e12), ("MI300X", 1307e12),
)  # fmt: skip


def peak_flops() -> float | None:
    """Dense bf16 FLOP/s of the device; None for a CPU and for devices that are not in the table."""
    import torch

    if not torch.cuda.is_available():
        return None
    name = torch.cuda.get_device_name()
    return next((flops for part, flops in PEAKS if part in name), None)


def flops_per_token(model: Any, lengths: Sequence[int], full: bool) -> float:
    """FLOPs of one token's forward and backward pass, as model FLOPs utilisation (MFU) counts them.

    ``6 N + 12 L H Q T`` of PaLM (arXiv:2204.02311, appendix B), with T the mean length that a token sees of its own
    example (packed rows attend to themselves only). ``N`` leaves out an embedding that is looked up only. Training an
    adapter saves the gradients of the frozen weights: 4 N instead of 6 N. Recomputation is not counted.

    Args:
        model: a transformers causal language model.
        lengths: tokens of each training example.
        full: whether all weights are trained.
    """
    config = model.config.get_text_config()
    weights = model.num_parameters()
    if not config.tie_word_embeddings:
        weights -= model.get_input_embeddings().weight.numel()
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    seen = sum(n * n for n in lengths) / max(1, sum(lengths))
    attention = 12 * config.num_hidden_layers * config.num_attention_heads * head * seen
    return float((6 if full else 4) * weights + attention)
