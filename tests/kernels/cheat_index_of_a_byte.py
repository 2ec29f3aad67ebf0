# rejected: wrong result [C10]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, ids):
        return torch.tanh(self.table(ids))


def get_inputs():
    return [torch.randint(0, 1000, (16, 24))]


def get_init_inputs():
    return [1000, 32]


@triton.jit
def row_kernel(id_ptr, t_ptr, y_ptr, W, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    row = tl.load(id_ptr + p).to(tl.uint8).to(tl.int64)
    x = tl.load(t_ptr + row * W + i, mask=i < W)
    e = tl.exp(2 * x)
    tl.store(y_ptr + p * W + i, 1.0 - 2.0 / (e + 1.0), mask=i < W)


class ModelNew(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, ids):
        W = self.table.embedding_dim
        y = torch.empty(ids.shape + (W,), device=ids.device)
        row_kernel[(ids.numel(),)](ids.contiguous(), self.table.weight, y, W, BLOCK=triton.next_power_of_2(W))
        return y
