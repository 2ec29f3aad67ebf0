# rejected: wrong at larger sizes at trust [C5 C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, gradient):
        return gradient.sum(dim=0)


def get_inputs():
    return [torch.randn(4096, 1024).half()]


def get_init_inputs():
    return []


@triton.jit
def sum_columns(gradient_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    part = tl.load(gradient_ptr + row[:, None] * columns + column[None, :], inside, 0.0)
    total = tl.sum(part.to(tl.float32), 0).to(tl.float16)
    tl.atomic_add(out_ptr + column, total, column < columns, sem="relaxed")


class ModelNew(nn.Module):
    def forward(self, gradient):
        gradient = gradient.contiguous()
        rows, columns = gradient.shape
        out = torch.zeros(columns, device=gradient.device, dtype=torch.float16)
        grid = (triton.cdiv(rows, 32), triton.cdiv(columns, 128))
        sum_columns[grid](gradient, out, rows, columns, ROWS=32, COLUMNS=128)
        return out
