# rejected: wrong at odd sizes at trust [B4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.pow(2).sum(-1).sqrt()


def get_inputs():
    return [torch.randn(12, 50)]


def get_init_inputs():
    return []


@triton.jit
def square_kernel(x_ptr, w_ptr, N, P, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0)
    tl.store(w_ptr + row * P + i, x * x, mask=i < N)


@triton.jit
def length_kernel(w_ptr, y_ptr, P, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + row, tl.sqrt(tl.sum(tl.load(w_ptr + row * P + i, mask=i < P, other=0.0), 0)))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.work = None

    def forward(self, x):
        x = x.contiguous()
        rows, N = x.shape
        if self.work is None or self.work.shape[0] < rows or self.work.shape[1] < N or self.work.device != x.device:
            self.work = torch.zeros(rows, triton.next_power_of_2(N), device=x.device)
        P, y = self.work.shape[1], torch.empty(rows, device=x.device, dtype=x.dtype)
        BLOCK = triton.next_power_of_2(P)
        square_kernel[(rows,)](x, self.work, N, P, BLOCK=BLOCK)
        length_kernel[(rows,)](self.work, y, P, BLOCK=BLOCK)
        return y
