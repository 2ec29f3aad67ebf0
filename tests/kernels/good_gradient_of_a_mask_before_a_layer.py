# verified at trust [twin of C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.drop = nn.Dropout(p)
        self.fc = nn.Linear(d, h, bias=False)

    def forward(self, x):
        return self.fc(self.drop(x))


def get_inputs():
    return [torch.randn(12, 20)]


def get_init_inputs():
    return [20, 6, 0.3]


@triton.jit
def linear(x, w, o, K, N, seed, p, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1)
    k = tl.arange(0, B)
    m = k < K
    v = tl.load(x + r * K + k, mask=m, other=0.0)
    v = tl.where(tl.rand(seed, r * K + k) >= p, v / (1 - p), 0.0)
    tl.store(o + r * N + c, tl.sum(v * tl.load(w + c * K + k, mask=m, other=0.0), 0))


@triton.jit
def into_x(g, w, d, K, N, seed, p, B: tl.constexpr):
    r = tl.program_id(0)
    k = tl.arange(0, B)
    m = k < K
    acc = tl.zeros((B,), tl.float32)
    for c in range(N):
        acc += tl.load(g + r * N + c) * tl.load(w + c * K + k, mask=m, other=0.0)
    acc = tl.where(tl.rand(seed, r * K + k) >= p, acc / (1 - p), 0.0)
    tl.store(d + r * K + k, acc, mask=m)


@triton.jit
def into_w(g, x, d, R, K, N, seed, p, B: tl.constexpr):
    c = tl.program_id(0)
    k = tl.arange(0, B)
    m = k < K
    acc = tl.zeros((B,), tl.float32)
    for r in range(R):
        v = tl.load(x + r * K + k, mask=m, other=0.0)
        v = tl.where(tl.rand(seed, r * K + k) >= p, v / (1 - p), 0.0)
        acc += tl.load(g + r * N + c) * v
    tl.store(d + c * K + k, acc, mask=m)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, p):
        x = x.contiguous()
        R, K = x.shape
        N = w.shape[0]
        ctx.seed = int(torch.randint(0, 2**31 - 1, ()).item()) if p > 0 else 0
        ctx.p = p
        ctx.save_for_backward(x, w)
        o = torch.empty(R, N, device=x.device, dtype=x.dtype)
        linear[(R, N)](x, w, o, K, N, ctx.seed, p, B=triton.next_power_of_2(K))
        return o

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g = g.contiguous()
        R, K = x.shape
        N = w.shape[0]
        dx, dw = torch.empty_like(x), torch.empty_like(w)
        into_x[(R,)](g, w, dx, K, N, ctx.seed, ctx.p, B=triton.next_power_of_2(K))
        into_w[(N,)](g, x, dw, R, K, N, ctx.seed, ctx.p, B=triton.next_power_of_2(K))
        return dx, dw, None


class ModelNew(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.p = p
        self.fc = nn.Linear(d, h, bias=False)

    def forward(self, x):
        return Fn.apply(x, self.fc.weight, self.p if self.training else 0.0)
