# rejected: wrong result at trust [C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, query, key, value):
        return torch.sigmoid(query * key) * value


def get_inputs():
    return [torch.randn(24, 40), torch.randn(24, 40), torch.randn(24, 40)]


def get_init_inputs():
    return []


@triton.jit
def gated_kernel(
    q_ptr, k_ptr, v_ptr, y_ptr, columns, q_row, q_column, k_row, k_column, v_row, v_column, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    q = tl.load(q_ptr + row * q_row + column * q_column, mask=inside)
    k = tl.load(k_ptr + row * k_row + column * k_column, mask=inside)
    v = tl.load(v_ptr + row * v_row + column * v_column, mask=inside)
    tl.store(y_ptr + row * columns + column, v / (1.0 + tl.exp(-q * k)), mask=inside)


class ModelNew(nn.Module):
    def forward(self, query, key, value):
        rows, columns = query.shape
        y = torch.empty(rows, columns, device=query.device, dtype=query.dtype)
        grid = rows, triton.cdiv(columns, 64)
        gated_kernel[grid](query, key, value, y, columns, *query.stride(), *key.stride(), *key.stride(), BLOCK=64)
        return y
