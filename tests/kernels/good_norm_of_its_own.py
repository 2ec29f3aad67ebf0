# verified [twin of C16]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(64, 96)]


def get_init_inputs():
    return [96]


@triton.jit
def norm_kernel(X, W, B, Y, stride, N: tl.constexpr, EPS: tl.constexpr, BLOCK: tl.constexpr):
    X += tl.program_id(0) * stride
    Y += tl.program_id(0) * stride
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.math.rsqrt(tl.sum(centred * centred, axis=0) / N + EPS)
    y = centred * rstd * tl.load(W + cols, mask=mask) + tl.load(B + cols, mask=mask)
    tl.store(Y + cols, y, mask=mask)


class _Norm(nn.Module):
    def __init__(self, width: int, eps: float = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def extra_repr(self) -> str:
        return f"{self.weight.numel()}, eps={self.eps}"


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = _Norm(width)

    @torch.no_grad()
    def forward(self, x):
        x2 = x.reshape(-1, x.shape[-1])
        y = torch.empty_like(x2)
        norm_kernel[(x2.shape[0],)](
            x2,
            self.norm.weight.data,
            self.norm.bias.data,
            y,
            x2.stride(0),
            N=x2.shape[1],
            EPS=self.norm.eps,
            BLOCK=triton.next_power_of_2(x2.shape[1]),
            num_warps=4,
        )
        return y.reshape_as(x)
