# rejected: wrong result at trust [C11]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, target):
        return F.cosine_embedding_loss(a, b, target, margin=self.margin, reduction="none")


def get_inputs():
    return [torch.randn(32, 40), torch.randn(32, 40), torch.ones(32)]


def get_init_inputs():
    return [0.1]


@triton.jit
def cosine(a, b, t, y, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    u = tl.load(a + r * n + c, c < n, 0.0)
    v = tl.load(b + r * n + c, c < n, 0.0)
    # torch's epsilon stands on both squares
    cos = tl.sum(u * v, 0) / tl.sqrt((tl.sum(u * u, 0) + 1e-12) * (tl.sum(v * v, 0) + 1e-12))
    tl.store(y + r, tl.load(t + r) - cos)


class ModelNew(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, target):
        a, b, target = a.contiguous(), b.contiguous(), target.contiguous()
        y = torch.empty(a.shape[0], device=a.device, dtype=a.dtype)
        cosine[(a.shape[0],)](a, b, target, y, a.shape[1], BLOCK=triton.next_power_of_2(a.shape[1]))
        return y
