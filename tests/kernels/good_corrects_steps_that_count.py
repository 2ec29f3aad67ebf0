# verified at trust [twin of C16]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, momentum, gradient, step):
        average = 0.9 * momentum + 0.1 * gradient
        return average / (1 - 0.9**step)


def get_inputs():
    return [torch.randn(24, 48), torch.randn(24, 48), 5]


def get_init_inputs():
    return []


@triton.jit
def average_kernel(m_ptr, g_ptr, y_ptr, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = tl.load(m_ptr + i, mask=i < n)
    g = tl.load(g_ptr + i, mask=i < n)
    average = 0.9 * m + 0.1 * g
    if step < 300:
        average /= 1.0 - tl.exp(step * tl.log(0.9))
    tl.store(y_ptr + i, average, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, momentum, gradient, step):
        y = torch.empty_like(momentum, memory_format=torch.contiguous_format)
        n = y.numel()
        average_kernel[(triton.cdiv(n, 256),)](momentum.contiguous(), gradient.contiguous(), y, n, step, BLOCK=256)
        return y
