# rejected: wrong result at trust [C11 C20]
"""The mean of a bag of padding alone is no number, where torch says zero."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self, words, columns):
        super().__init__()
        self.table = nn.EmbeddingBag(words, columns, mode="mean", padding_idx=0)

    def forward(self, words):
        return self.table(words)


def get_inputs():
    return [torch.randint(0, 30, (14, 9))]


def get_init_inputs():
    return [30, 20]


@triton.jit
def bag_kernel(i_ptr, w_ptr, y_ptr, length, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    count = 0
    for j in range(0, length):
        word = tl.load(i_ptr + row * length + j)
        total += tl.load(w_ptr + word * columns + c, mask=(c < columns) & (word != 0), other=0.0)
        count += (word != 0).to(tl.int32)
    y = total / count.to(tl.float32)
    tl.store(y_ptr + row * columns + c, y, mask=c < columns)


class ModelNew(nn.Module):
    def __init__(self, words, columns):
        super().__init__()
        self.table = nn.EmbeddingBag(words, columns, mode="mean", padding_idx=0)

    def forward(self, words):
        words, weight = words.contiguous(), self.table.weight.contiguous()
        columns = weight.shape[1]
        y = torch.empty(words.shape[0], columns, dtype=weight.dtype, device=words.device)
        bag_kernel[(words.shape[0], triton.cdiv(columns, 32))](words, weight, y, words.shape[1], columns, BLOCK=32)
        return y
