# verified [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.emb = nn.Embedding(n, d, max_norm=1.0)

    def forward(self, i):
        return self.emb(i)


def get_inputs():
    return [torch.randint(0, 30, (5, 7))]


def get_init_inputs():
    return [30, 16]


@triton.jit
def renorm_kernel(w, i, E, D, B: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    used = 0
    for start in range(0, E, C):
        e = start + tl.arange(0, C)
        used += tl.sum((tl.load(i + e, mask=e < E, other=-1) == row).to(tl.int32), 0)
    if used > 0:
        v = tl.load(w + row * D + c, mask=c < D, other=0.0)
        norm = tl.sqrt(tl.sum(v * v, 0))
        tl.store(w + row * D + c, v * tl.where(norm > 1.0, 1.0 / (norm + 1e-7), 1.0), mask=c < D)


@triton.jit
def lookup_kernel(w, i, o, D, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(o + r * D + c, tl.load(w + tl.load(i + r) * D + c, mask=c < D), mask=c < D)


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.emb = nn.Embedding(n, d, max_norm=1.0)

    def forward(self, i):
        i = i.contiguous()
        w = self.emb.weight
        n, d = w.shape
        b = triton.next_power_of_2(d)
        o = torch.empty(*i.shape, d, device=w.device, dtype=w.dtype)
        renorm_kernel[(n,)](w, i, i.numel(), d, B=b, C=1024)
        lookup_kernel[(i.numel(),)](w, i, o, d, B=b)
        return o
