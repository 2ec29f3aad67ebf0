# verified at trust [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, gate):
        return x * torch.sigmoid(gate)


def get_inputs():
    return [torch.randn(24, 40), torch.randn(24, 40)]


def get_init_inputs():
    return []


@triton.jit
def gated_kernel(x_ptr, gate_ptr, y_ptr, columns, x_row, x_column, gate_row, gate_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * x_row + column * x_column, mask=inside)
    gate = tl.load(gate_ptr + row * gate_row + column * gate_column, mask=inside)
    tl.store(y_ptr + row * columns + column, x / (1.0 + tl.exp(-gate)), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, gate):
        rows, columns = x.shape
        y = torch.empty(rows, columns, device=x.device, dtype=x.dtype)
        grid = rows, triton.cdiv(columns, 64)
        gated_kernel[grid](x, gate, y, columns, *x.stride(), *gate.stride(), BLOCK=64)
        return y
