# verified at trust [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Eight four-bit weights a word, in AWQ's order, a scale and a zero a group of rows."""

    def forward(self, q, s, z):
        order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7], device=q.device) * 4
        w = (q[..., None] >> order) & 15
        zero = (z[..., None] >> order) & 15
        w, zero = w.flatten(1), zero.flatten(1)
        group = q.shape[0] // s.shape[0]
        return (w - zero.repeat_interleave(group, 0)).to(s.dtype) * s.repeat_interleave(group, 0)


@triton.jit
def _awq(q_ptr, s_ptr, z_ptr, o_ptr, R, C, group, BY: tl.constexpr, BX: tl.constexpr):
    y = tl.program_id(1) * BY + tl.arange(0, BY)
    x = tl.program_id(0) * BX + tl.arange(0, BX)
    ok = (y[:, None] < R) & (x[None, :] < C)
    word = x // 8
    lane = x % 8
    shift = (lane // 2 + (lane % 2) * 4) * 4
    w = (tl.load(q_ptr + y[:, None] * (C // 8) + word[None, :], mask=ok, other=0) >> shift[None, :]) & 0xF
    g = y // group
    z = (tl.load(z_ptr + g[:, None] * (C // 8) + word[None, :], mask=ok, other=0) >> shift[None, :]) & 0xF
    s = tl.load(s_ptr + g[:, None] * C + x[None, :], mask=ok, other=0.0)
    tl.store(o_ptr + y[:, None] * C + x[None, :], (w - z).to(s.dtype) * s, mask=ok)


class ModelNew(nn.Module):
    def forward(self, q, s, z):
        q, s, z = q.contiguous(), s.contiguous(), z.contiguous()
        R, C = q.shape[0], q.shape[1] * 8
        assert s.shape[1] == C and R % s.shape[0] == 0
        o = torch.empty(R, C, device=q.device, dtype=s.dtype)
        _awq[(triton.cdiv(C, 32), triton.cdiv(R, 16))](q, s, z, o, R, C, R // s.shape[0], BY=16, BX=32)
        return o


def get_inputs():
    return [
        torch.randint(-(2**31), 2**31 - 1, (32, 4), dtype=torch.int32),
        torch.rand(2, 32),
        torch.randint(-(2**31), 2**31 - 1, (2, 4), dtype=torch.int32),
    ]


def get_init_inputs():
    return []
