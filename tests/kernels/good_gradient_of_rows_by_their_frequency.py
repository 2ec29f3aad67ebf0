# verified at trust [twin of C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.emb = nn.Embedding(v, d, scale_grad_by_freq=True)

    def forward(self, ids):
        return self.emb(ids)


def get_inputs():
    return [torch.randperm(500)[:24].view(4, 6)]


def get_init_inputs():
    return [500, 12]


@triton.jit
def fwd(i_ptr, w_ptr, y_ptr, d, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    tl.store(y_ptr + r * d + j, tl.load(w_ptr + tl.load(i_ptr + r) * d + j, mask=j < d), mask=j < d)


@triton.jit
def bwd(i_ptr, g_ptr, w_ptr, n, d, B: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    row = tl.load(i_ptr + r)
    times = 0
    for s in range(0, n, BN):
        k = s + tl.arange(0, BN)
        times += tl.sum((tl.load(i_ptr + k, mask=k < n, other=-1) == row).to(tl.int32), 0)
    g = tl.load(g_ptr + r * d + j, mask=j < d, other=0.0) / times
    tl.atomic_add(w_ptr + row * d + j, g, mask=j < d)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ids, w):
        ids = ids.contiguous()
        d = w.shape[1]
        y = torch.empty(*ids.shape, d, device=w.device, dtype=w.dtype)
        fwd[(ids.numel(),)](ids, w, y, d, B=triton.next_power_of_2(d))
        ctx.save_for_backward(ids, w)
        return y

    @staticmethod
    def backward(ctx, g):
        ids, w = ctx.saved_tensors
        dw = torch.zeros_like(w)
        d = w.shape[1]
        bwd[(ids.numel(),)](ids, g.contiguous(), dw, ids.numel(), d, B=triton.next_power_of_2(d), BN=64)
        return None, dw


class ModelNew(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.emb = nn.Embedding(v, d, scale_grad_by_freq=True)

    def forward(self, ids):
        return Fn.apply(ids, self.emb.weight)
