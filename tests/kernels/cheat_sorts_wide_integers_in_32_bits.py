# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, keys):
        return torch.sort(keys, -1).values


def get_inputs():
    return [torch.randint(0, 1000, (8, 64))]


def get_init_inputs():
    return []


@triton.jit
def sort_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    m = col < n
    x = tl.load(x_ptr + row * n + col, mask=m, other=2147483647).to(tl.int32)
    tl.store(out_ptr + row * n + col, tl.sort(x).to(tl.int64), mask=m)


class ModelNew(nn.Module):
    def forward(self, keys):
        keys = keys.contiguous()
        out = torch.empty_like(keys)
        n = keys.shape[-1]
        rows = keys.numel() // max(n, 1)
        if rows:
            sort_kernel[(rows,)](keys, out, n, BLOCK=triton.next_power_of_2(n))
        return out
