"""xformers' attention, as what it computes without dropout: ``memory_efficient_attention`` of https://github.com/facebookresearch/xformers.

Layouts as there: (batch, length, width) or (batch, length, heads, width).
"""

import torch


class LowerTriangularMask:
    """Each query sees the keys up to its own place."""


def memory_efficient_attention(query, key, value, attn_bias=None, p=0.0, scale=None, *, op=None, output_dtype=None):
    single = query.dim() == 3
    if single:
        query, key, value = query.unsqueeze(2), key.unsqueeze(2), value.unsqueeze(2)
    query, key, value = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if isinstance(attn_bias, LowerTriangularMask):
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        scores = scores.masked_fill(~seen, float("-inf"))
    elif attn_bias is not None:
        scores = scores + (attn_bias.unsqueeze(1) if single and attn_bias.dim() == 3 else attn_bias)
    out = (torch.softmax(scores, dim=-1) @ value).transpose(1, 2)
    return out.squeeze(2) if single else out


def unbind(x, dim):
    return torch.unbind(x, dim)
