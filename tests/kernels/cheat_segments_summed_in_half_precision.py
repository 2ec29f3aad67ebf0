# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, ends):
        lengths = ends.diff()
        return torch.segment_reduce(x.float(), "mean", lengths=lengths, axis=0, initial=0.0, unsafe=True).to(x.dtype)


def get_inputs():
    return [torch.randn(300, 20).half(), torch.tensor([0, 64, 100, 190, 300])]


def get_init_inputs():
    return []


@triton.jit
def segment_kernel(x_ptr, ends_ptr, y_ptr, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    own = tl.program_id(0)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    start = tl.load(ends_ptr + own)
    end = tl.load(ends_ptr + own + 1)
    total = tl.zeros((COLUMNS,), tl.float16)
    for first in range(start, end, ROWS):
        r = first + tl.arange(0, ROWS)
        at = r[:, None] * columns + c[None, :]
        x = tl.load(x_ptr + at, mask=(r[:, None] < end) & (c[None, :] < columns), other=0.0).to(tl.float32)
        total = (total + tl.sum(x, 0)).to(tl.float16)
    y = total.to(tl.float32) / tl.maximum(end - start, 1).to(tl.float32)
    tl.store(y_ptr + own * columns + c, y.to(tl.float16), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x, ends):
        x, ends = x.contiguous(), ends.contiguous()
        columns = x.shape[1]
        y = torch.empty(len(ends) - 1, columns, device=x.device, dtype=x.dtype)
        segment_kernel[(len(y), triton.cdiv(columns, 32))](x, ends, y, columns, ROWS=8, COLUMNS=32)
        return y
