# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x.float(), dim=0).to(x.dtype)


def get_inputs():
    return [torch.randn(512, 20).half()]


def get_init_inputs():
    return []


@triton.jit
def column_kernel(x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    before = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, rows, ROWS):
        r = start + tl.arange(0, ROWS)
        at = r[:, None] * columns + c[None, :]
        inside = (r[:, None] < rows) & (c[None, :] < columns)
        x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + at, (tl.cumsum(x, 0) + before[None, :]).to(tl.float16), mask=inside)
        before = (before + tl.sum(x, 0)).to(tl.float32)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, columns = x.shape[0], x.numel() // x.shape[0]
        column_kernel[(triton.cdiv(columns, 32),)](x, y, rows, columns, ROWS=16, COLUMNS=32)
        return y
