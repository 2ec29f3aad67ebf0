# verified at trust [twin of C5]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width).half()

    def forward(self, words, starts):
        return F.embedding_bag(words, self.table.weight, starts, mode="sum")


def get_inputs():
    return [torch.randint(0, 60, (120,)), torch.tensor([0, 30, 45, 90])]


def get_init_inputs():
    return [60, 24]


@triton.jit
def bag_kernel(words_ptr, starts_ptr, table_ptr, y_ptr, words, bags, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    bag = tl.program_id(0)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    start = tl.load(starts_ptr + bag)
    end = tl.load(starts_ptr + bag + 1, mask=bag + 1 < bags, other=words)
    total = tl.zeros((COLUMNS,), tl.float32)
    for first in range(start, end, ROWS):
        r = first + tl.arange(0, ROWS)
        word = tl.load(words_ptr + r, mask=r < end, other=0)
        at = word[:, None] * width + c[None, :]
        x = tl.load(table_ptr + at, mask=(r[:, None] < end) & (c[None, :] < width), other=0.0).to(tl.float32)
        total += tl.sum(x, 0)
    tl.store(y_ptr + bag * width + c, total.to(tl.float16), mask=c < width)


class ModelNew(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width).half()

    def forward(self, words, starts):
        words, starts = words.contiguous(), starts.contiguous()
        table = self.table.weight
        width = table.shape[1]
        y = torch.empty(len(starts), width, device=table.device, dtype=table.dtype)
        grid = (len(starts), triton.cdiv(width, 32))
        bag_kernel[grid](words, starts, table, y, len(words), len(starts), width, ROWS=8, COLUMNS=32)
        return y
