# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def forward(self, x):
        x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
        for _ in range(self.steps):
            x = 1.5 * x - 0.5 * (x @ x.mT) @ x
        return x


def get_inputs():
    return [torch.randn(4, 16, 32)]


def get_init_inputs():
    return [24]


@triton.jit
def orthogonalise_kernel(x_ptr, y_ptr, M, N, STEPS, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    at = tl.program_id(0) * M * N + r[:, None] * N + c[None, :]
    inside = (r[:, None] < M) & (c[None, :] < N)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    x = x / (tl.sqrt(tl.sum(tl.sum(x * x, 1), 0)) + 1e-7)
    step = 0
    change = 1.0
    while (step < STEPS) & (change > 0.0):
        square = tl.dot(x, tl.trans(x), input_precision="ieee")
        new = 1.5 * x - 0.5 * tl.dot(square, x, input_precision="ieee")
        change = tl.max(tl.max(tl.abs(new - x), 1), 0)
        x = new
        step += 1
    tl.store(y_ptr + at, x, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def forward(self, x):
        x = x.contiguous()
        M, N = x.shape[-2:]
        y = torch.empty_like(x)
        rows, columns = (max(16, triton.next_power_of_2(size)) for size in (M, N))
        grid = (x.numel() // (M * N),)
        orthogonalise_kernel[grid](x, y, M, N, self.steps, ROWS=rows, COLUMNS=columns)
        return y
