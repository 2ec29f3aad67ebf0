# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * 0.02 / width**0.5)

    def forward(self, x):
        h = torch.zeros_like(x)
        for _ in range(30):
            h = torch.tanh(h @ self.weight + x)
        return h


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return [32]


@triton.jit
def settle_kernel(x_ptr, w_ptr, y_ptr, M, N, STEPS, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    r, c = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    inside = (r[:, None] < M) & (c[None, :] < N)
    at = r[:, None] * N + c[None, :]
    square = (c[:, None] < N) & (c[None, :] < N)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    w = tl.load(w_ptr + c[:, None] * N + c[None, :], mask=square, other=0.0)
    h = tl.zeros((ROWS, WIDTH), tl.float32)
    step = 0
    change = 1.0
    while (step < STEPS) & (change > 0.0):
        new = tl.dot(h, w, acc=x, input_precision="ieee")
        e = tl.exp(-2.0 * tl.abs(new))
        t = (1.0 - e) / (1.0 + e)
        new = tl.where(new < 0, -t, t)
        size = tl.max(tl.max(tl.abs(new), 1), 0)
        change = tl.max(tl.max(tl.abs(new - h), 1), 0) / tl.maximum(size, 1e-30)
        h = new
        step += 1
    tl.store(y_ptr + at, h, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * 0.02 / width**0.5)

    def forward(self, x):
        x = x.contiguous()
        N = self.weight.shape[0]
        M = x.numel() // N
        y = torch.empty_like(x)
        width = max(16, triton.next_power_of_2(N))
        settle_kernel[(triton.cdiv(M, 16),)](x, self.weight, y, M, N, 30, ROWS=16, WIDTH=width)
        return y
