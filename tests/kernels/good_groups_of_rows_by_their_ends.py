# verified at trust [twin of C14]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Rows sorted by group, each group with a matrix of its own; offsets[i] is where group i ends."""

    def forward(self, x, w, offsets):
        row = torch.arange(x.shape[0], device=x.device)
        group = torch.bucketize(row, offsets, right=True).clamp(max=w.shape[0] - 1)
        out = torch.zeros(x.shape[0], w.shape[2], dtype=x.dtype, device=x.device)
        for g in range(w.shape[0]):
            hit = (group == g)[:, None].to(x.dtype)
            out = out + hit * (x @ w[g])
        return out


def get_inputs():
    return [torch.randn(50, 24), torch.randn(4, 24, 20), torch.tensor([13, 13, 37, 50])]


def get_init_inputs():
    return []


@triton.jit
def grouped(x_ptr, w_ptr, off_ptr, o_ptr, T, K, N, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    g = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    start = tl.load(off_ptr + g - 1, mask=g > 0, other=0).to(tl.int32)
    end = tl.load(off_ptr + g).to(tl.int32)
    end = tl.where(g == G - 1, T, tl.minimum(end, T))
    for s in range(start, end, BM):
        m = s + tl.arange(0, BM)
        acc = tl.zeros([BM, BN], tl.float32)
        for ks in range(0, K, BK):
            k = ks + tl.arange(0, BK)
            a = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < end) & (k[None, :] < K), other=0.0)
            b = tl.load(
                w_ptr + g.to(tl.int64) * K * N + k[:, None] * N + n[None, :],
                mask=(k[:, None] < K) & (n[None, :] < N),
                other=0.0,
            )
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(
            o_ptr + m[:, None] * N + n[None, :],
            acc.to(o_ptr.dtype.element_ty),
            mask=(m[:, None] < end) & (n[None, :] < N),
        )


class ModelNew(nn.Module):
    def forward(self, x, w, offsets):
        x, w, offsets = x.contiguous(), w.contiguous(), offsets.contiguous()
        T, K = x.shape
        G, _, N = w.shape
        out = torch.zeros(T, N, dtype=x.dtype, device=x.device)
        grouped[(G, triton.cdiv(N, 16))](x, w, offsets, out, T, K, N, G, BM=16, BN=16, BK=16)
        return out
