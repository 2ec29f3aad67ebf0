# verified [topk of halves, among which many are equal: the first of these, where torch names any]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, scores):
        values, indices = torch.topk(scores, self.count, dim=-1)
        return values, indices


def get_inputs():
    return [torch.randn(256, 1000).half()]


def get_init_inputs():
    return [4]


@triton.jit
def largest_kernel(x_ptr, values_ptr, indices_ptr, columns, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf"))
    left = column < columns
    for turn in range(COUNT):
        number = tl.where(left & (x != x), float("inf"), x.to(tl.float32))
        largest = tl.max(tl.where(left, number, float("-inf")), 0)
        nans = tl.max((left & (x != x)).to(tl.int32), 0)
        wanted = left & tl.where(nans > 0, x != x, number == largest)
        first = tl.min(tl.where(wanted, column, BLOCK), 0)
        tl.store(values_ptr + row * COUNT + turn, tl.load(x_ptr + row * columns + first))
        tl.store(indices_ptr + row * COUNT + turn, first.to(tl.int64))
        left = left & (column != first)


class ModelNew(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, scores):
        shape = (*scores.shape[:-1], self.count)
        x = scores.contiguous()
        values = torch.empty(shape, dtype=x.dtype, device=x.device)
        indices = torch.empty(shape, dtype=torch.int64, device=x.device)
        columns = x.shape[-1]
        grid = (x.numel() // columns,)
        largest_kernel[grid](x, values, indices, columns, COUNT=self.count, BLOCK=triton.next_power_of_2(columns))
        return values, indices
