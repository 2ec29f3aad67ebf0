# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return {"mean": x.mean(dim=-1), "variance": x.var(dim=-1, unbiased=False)}


def get_inputs():
    return [torch.rand(6, 50)]


def get_init_inputs():
    return []


@triton.jit
def join(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    part = tl.where(count == 0.0, 0.0, count_b / count)
    delta = mean_b - mean_a
    return mean_a + delta * part, square_a + square_b + delta * delta * count_a * part, count


@triton.jit
def moments_kernel(x_ptr, mean_ptr, variance_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    count = tl.where(column < columns, 1.0, 0.0)
    mean, square, count = tl.reduce((x, tl.zeros_like(x), count), 0, join)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, square / count)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        mean, variance = torch.empty(rows, device=x.device), torch.empty(rows, device=x.device)
        moments_kernel[(rows,)](x, mean, variance, columns, BLOCK=triton.next_power_of_2(columns))
        return {"mean": mean, "variance": variance}
