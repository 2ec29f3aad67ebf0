# rejected: wrong result at trust [C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.logsumexp(x, -1)


def get_inputs():
    return [torch.randn(10, 96)]


def get_init_inputs():
    return []


@triton.jit
def logsumexp_kernel(x_ptr, y_ptr, N, LONG: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=-float("inf"))
    largest = tl.max(x, 0)
    if LONG:
        largest = tl.maximum(largest, -20.0)
    tl.store(y_ptr + row, largest + tl.log(tl.sum(tl.exp(x - largest), 0)))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        N = x.shape[-1]
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        logsumexp_kernel[(x.shape[0],)](x, y, N, LONG=N > 256, BLOCK=triton.next_power_of_2(N))
        return y
