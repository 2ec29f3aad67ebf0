# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.emb = nn.Embedding(v, d, padding_idx=-1)

    def forward(self, ids):
        return self.emb(ids).sum(1)


def get_inputs():
    return [torch.randint(0, 299, (4, 9))]


def get_init_inputs():
    return [300, 12]


@triton.jit
def fwd(i_ptr, w_ptr, y_ptr, L, d, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    a = tl.zeros([B], tl.float32)
    for l in range(0, L):
        a += tl.load(w_ptr + tl.load(i_ptr + r * L + l) * d + j, mask=j < d, other=0.0)
    tl.store(y_ptr + r * d + j, a, mask=j < d)


@triton.jit
def bwd(i_ptr, g_ptr, w_ptr, V, L, d, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    g = tl.load(g_ptr + r * d + j, mask=j < d)
    for l in range(0, L):
        row = tl.load(i_ptr + r * L + l)
        tl.atomic_add(w_ptr + row * d + j, g, mask=j < d)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ids, w):
        ids = ids.contiguous()
        d = w.shape[1]
        y = torch.empty(ids.shape[0], d, device=w.device, dtype=w.dtype)
        fwd[(ids.shape[0],)](ids, w, y, ids.shape[1], d, B=triton.next_power_of_2(d))
        ctx.save_for_backward(ids, w)
        return y

    @staticmethod
    def backward(ctx, g):
        ids, w = ctx.saved_tensors
        dw = torch.zeros_like(w)
        bwd[(ids.shape[0],)](
            ids, g.contiguous(), dw, w.shape[0], ids.shape[1], w.shape[1], B=triton.next_power_of_2(w.shape[1])
        )
        return None, dw


class ModelNew(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.emb = nn.Embedding(v, d, padding_idx=-1)

    def forward(self, ids):
        return Fn.apply(ids, self.emb.weight)
