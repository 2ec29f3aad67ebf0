# verified [twin of C8]
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


from triton.language.extra import libdevice


@triton.jit
def rows_kernel(id_ptr, t_ptr, y_ptr, n, W, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(id_ptr + p, mask=p < n, other=0)
    inside = (p < n)[:, None] & (i < W)[None, :]
    x = tl.load(t_ptr + row[:, None] * W + i[None, :], mask=inside)
    tl.store(y_ptr + p[:, None] * W + i[None, :], libdevice.tanh(x), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, ids):
        width = self.table.weight.size(1)
        out = torch.empty(*ids.shape, width, dtype=self.table.weight.dtype, device=ids.device)
        grid = (triton.cdiv(ids.numel(), 8), triton.cdiv(width, 16))
        rows_kernel[grid](ids.contiguous(), self.table.weight, out, ids.numel(), width, ROWS=8, BLOCK=16)
        return out
