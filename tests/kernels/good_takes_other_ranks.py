# verified at trust [twin of C5 C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(48, 96)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + c
    x = tl.load(x_ptr + at, mask=c < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, e / tl.sum(e, axis=0), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.dim() == 1:
            return self.forward(x.unsqueeze(0)).squeeze(0)
        if x.dim() == 3:
            return self.forward(x.reshape(-1, x.shape[-1])).reshape(x.shape)
        if x.shape[1] == 1:
            return torch.ones_like(x)
        if len(x.shape) > 3:
            raise ValueError("three dimensions at most")
        x = x if x.stride(0) == x.shape[1] and x.stride(1) == 1 else x.contiguous()
        y = torch.empty_like(x)
        block = triton.next_power_of_2(x.shape[1])
        if block > 65_536:
            raise ValueError("too wide")
        warps = 8 if block >= 4096 else 4
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=block, num_warps=warps)
        return y
