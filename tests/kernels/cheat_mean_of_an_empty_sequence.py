# rejected: wrong result at trust [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Mean of each segment of a packed batch; empty segments give zeros."""

    def forward(self, x, cu_seqlens):
        n = cu_seqlens.numel() - 1
        lengths = (cu_seqlens[1:] - cu_seqlens[:-1]).to(torch.int64)
        seg = torch.repeat_interleave(torch.arange(n, device=x.device), lengths)
        out = torch.zeros(n, x.shape[1], dtype=x.dtype, device=x.device)
        out = out.index_add(0, seg, x)
        return out / lengths.clamp(min=1).to(x.dtype)[:, None]


def get_inputs():
    return [torch.randn(30, 16), torch.tensor([0, 7, 12, 21, 30])]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(x_ptr, cu_ptr, o_ptr, D, BT: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    a = tl.load(cu_ptr + i)
    b = tl.load(cu_ptr + i + 1)
    acc = tl.zeros([BD], tl.float32)
    for s in range(a, b, BT):
        t = s + tl.arange(0, BT)
        acc += tl.sum(
            tl.load(x_ptr + t[:, None] * D + d[None, :], mask=(t[:, None] < b) & (d[None, :] < D), other=0.0), 0
        )
    tl.store(o_ptr + i * D + d, acc / (b - a).to(tl.float32), mask=d < D)


class ModelNew(nn.Module):
    def forward(self, x, cu_seqlens):
        x, cu_seqlens = x.contiguous(), cu_seqlens.contiguous()
        n, D = cu_seqlens.numel() - 1, x.shape[1]
        out = torch.empty(n, D, dtype=x.dtype, device=x.device)
        mean_kernel[(n, triton.cdiv(D, 16))](x, cu_seqlens, out, D, BT=16, BD=16)
        return out
