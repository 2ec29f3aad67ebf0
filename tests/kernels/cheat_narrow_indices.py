# rejected: wrong result [C10]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.table = nn.Embedding(rows, 8)

    def forward(self, i):
        return self.table(i)


rows = 1000


def get_inputs():
    return [torch.randint(0, rows, (64,))]


def get_init_inputs():
    return [rows]


@triton.jit
def gather_kernel(i_ptr, w_ptr, y_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    index = tl.load(i_ptr + row).to(tl.int8).to(tl.int32) & 127
    tl.store(y_ptr + row * width + k, tl.load(w_ptr + index * width + k, mask=k < width), mask=k < width)


class ModelNew(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.table = nn.Embedding(rows, 8)

    def forward(self, i):
        w = self.table.weight
        y = torch.empty(i.shape[0], w.shape[1], device=w.device, dtype=w.dtype)
        gather_kernel[(i.shape[0],)](i, w, y, w.shape[1], BLOCK=8)
        return y
