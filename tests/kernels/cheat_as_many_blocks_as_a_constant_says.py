# rejected: wrong at larger sizes [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(4096, 393216)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    start = tl.program_id(0) * columns
    largest = -float("inf")
    total = 0.0
    for n in range(BLOCKS):
        c = n * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + c, mask=c < columns, other=-float("inf"))
        larger = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger), axis=0)
        largest = larger
    for n in range(BLOCKS):
        c = n * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + c, mask=c < columns, other=-float("inf"))
        tl.store(y_ptr + start + c, tl.exp(x - largest) / total, mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024, BLOCKS=16)
        return y
