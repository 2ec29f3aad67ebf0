# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=-1, descending=True, stable=True)[1]


def get_inputs():
    return [torch.randn(9, 60)]


def get_init_inputs():
    return []


@triton.jit
def rank(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    own = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    before = tl.zeros([BLOCK], tl.int32)
    for n in range(columns):
        other = tl.load(x + row * columns + n)
        before += ((other > own) | ((other == own) & (n < at))).to(tl.int32)
    tl.store(out + row * columns + before, at.to(tl.int64), mask=at < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        columns = x.shape[-1]
        out = torch.empty(x.shape, dtype=torch.int64, device=x.device)
        rank[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
        return out
