# verified [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.flip(-1) * 2.0


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []


@triton.jit
def flip_kernel(x_ptr, t_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.store(t_ptr + row * columns + i, x * 2.0, mask=i < columns)
    tl.debug_barrier()
    y = tl.load(t_ptr + row * columns + columns - 1 - i, mask=i < columns)
    tl.store(y_ptr + row * columns + i, y, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        t, y = torch.empty_like(x), torch.empty_like(x)
        flip_kernel[(x.shape[0],)](x, t, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
