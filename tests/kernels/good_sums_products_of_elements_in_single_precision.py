# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return (a.float() * b.float()).sum(0)


def get_inputs():
    return [torch.randn(320, 24).half(), torch.randn(320, 24).half()]


def get_init_inputs():
    return []


@triton.jit
def column_kernel(a_ptr, b_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, rows, ROWS):
        r = start + tl.arange(0, ROWS)
        at = r[:, None] * columns + c[None, :]
        inside = (r[:, None] < rows) & (c[None, :] < columns)
        a = tl.load(a_ptr + at, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + at, mask=inside, other=0.0).to(tl.float32)
        total += tl.sum(a * b, 0)
    tl.store(y_ptr + c, total, mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        y = torch.empty(a.shape[1], device=a.device)
        column_kernel[(triton.cdiv(a.shape[1], 32),)](a, b, y, *a.shape, ROWS=16, COLUMNS=32)
        return y
