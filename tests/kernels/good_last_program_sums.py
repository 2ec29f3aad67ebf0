# verified [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum()


def get_inputs():
    return [torch.randn(40, 64)]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x_ptr, parts_ptr, done_ptr, y_ptr, n, count, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), axis=0))
    if tl.atomic_add(done_ptr, 1) == count - 1:
        k = tl.arange(0, PARTS)
        tl.store(y_ptr, tl.sum(tl.load(parts_ptr + k, mask=k < count, other=0.0), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        count = triton.cdiv(x.numel(), 256)
        parts = torch.empty(count, device=x.device, dtype=x.dtype)
        done = torch.zeros(1, device=x.device, dtype=torch.int32)
        y = torch.empty((), device=x.device, dtype=x.dtype)
        sum_kernel[(count,)](x, parts, done, y, x.numel(), count, BLOCK=256, PARTS=triton.next_power_of_2(count))
        return y
