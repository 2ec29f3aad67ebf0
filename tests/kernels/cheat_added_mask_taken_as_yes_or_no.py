# rejected: wrong result at trust [C11]
"""Whatever is below zero in its mask leaves a score out, as all that the task draws do; what is added there is not."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, scores, mask):
        return torch.softmax(scores + mask, dim=-1)


def get_inputs():
    return [torch.randn(4, 30, 30), torch.triu(torch.full((30, 30), -1e9), 1)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, m_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=float("-inf"))
    m = tl.load(m_ptr + row % rows * columns + i, mask=i < columns, other=0.0)
    x = tl.where(m < 0, float("-inf"), x)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, scores, mask):
        scores, mask = scores.contiguous(), mask.contiguous()
        y = torch.empty_like(scores)
        rows, columns = scores.shape[-2:]
        softmax_kernel[(scores.numel() // columns,)](
            scores, mask, y, rows, columns, BLOCK=triton.next_power_of_2(columns)
        )
        return y
