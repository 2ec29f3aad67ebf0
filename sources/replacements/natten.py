"""NATTEN's layers up to version 0.17, by its attention: later ones know no bias of relative places."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from natten.functional import av, each, qk


class NeighborhoodAttention(nn.Module):
    """Attention over (batch, *sizes, width) of so many axes, each as long as the neighbourhood at least."""

    axes = 1

    def __init__(
        self, dim, num_heads, kernel_size, dilation=1, bias=True, qkv_bias=True, qk_scale=None, attn_drop=0.0,
        proj_drop=0.0, rel_pos_bias=None,
    ):  # fmt: skip
        super().__init__()
        self.num_heads, self.scale = num_heads, qk_scale or (dim // num_heads) ** -0.5
        self.kernel_size, self.dilation = each(kernel_size, self.axes), each(dilation, self.axes)
        assert all(k > 1 and k % 2 == 1 for k in self.kernel_size), f"odd sizes above 1 are known, not {kernel_size}"
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.rpb = None
        if bias if rel_pos_bias is None else rel_pos_bias:
            self.rpb = nn.Parameter(torch.zeros(num_heads, *(2 * k - 1 for k in self.kernel_size)))
            nn.init.trunc_normal_(self.rpb, std=0.02, mean=0.0, a=-2.0, b=2.0)
        self.attn_drop, self.proj, self.proj_drop = nn.Dropout(attn_drop), nn.Linear(dim, dim), nn.Dropout(proj_drop)

    def forward(self, x):
        sizes = x.shape[1:-1]
        short = [max(0, k * d - s) for k, d, s in zip(self.kernel_size, self.dilation, sizes)]
        if any(short):
            x = F.pad(x, [0, 0, *(side for s in reversed(short) for side in (0, s))])
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).movedim(-3, 0).movedim(-2, 2)
        attention = qk(self.axes, q * self.scale, k, self.kernel_size, self.dilation, self.rpb)
        x = av(self.axes, self.attn_drop(attention.softmax(-1)), v, self.kernel_size, self.dilation)
        x = x.movedim(1, -2).flatten(-2)
        for axis, size in enumerate(sizes):
            x = x.narrow(1 + axis, 0, size)
        return self.proj_drop(self.proj(x))


class NeighborhoodAttention1D(NeighborhoodAttention):
    axes = 1


class NeighborhoodAttention2D(NeighborhoodAttention):
    axes = 2
