# rejected: wrong structure [C18]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.mean(dim=-1, keepdim=True).expand(x.shape).contiguous()


def get_inputs():
    return [torch.rand(8, 64)]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0) / columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], 1, device=x.device, dtype=x.dtype)
        mean_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y.expand(x.shape)
