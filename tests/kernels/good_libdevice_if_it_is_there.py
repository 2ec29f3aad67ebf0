# verified [twin of D6]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def get_inputs():
    return [torch.randn(4, 9, 64)]


def get_init_inputs():
    return [64]


try:
    from triton.language.extra.libdevice import rsqrt
except ModuleNotFoundError:
    from triton.language.extra.cuda.libdevice import rsqrt


@triton.jit
def k(X, Y, W, xs, ys, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < N
    x = tl.load(X + row * xs + c, mask=mask, other=0.0)
    dtype = x.dtype
    x = x.to(tl.float32)
    r = rsqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(W + c, mask=mask, other=0.0)
    tl.store(Y + row * ys + c, (x * r * w).to(dtype), mask=mask)


def settings(n):
    block = triton.next_power_of_2(n)
    if block > 65536:
        raise RuntimeError(f"Cannot launch Triton kernel since n = {n} exceeds the maximum.")
    warps = 4
    if block >= 2048:
        warps = 8
    return block, warps


class RMSFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, eps):
        shape = x.shape
        x = x.view(-1, shape[-1]) if x.is_contiguous() else x.contiguous().view(-1, shape[-1])
        y = torch.empty_like(x)
        block, warps = settings(shape[-1])
        k[(x.shape[0],)](x, y, w, x.stride(0), y.stride(0), shape[-1], eps, BLOCK=block, num_warps=warps)
        return y.view(*shape)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.variance_epsilon = 1e-6

    def forward(self, x):
        return RMSFunction.apply(x, self.weight, self.variance_epsilon)
