# verified at trust [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, expert):
        order = torch.argsort(expert, stable=True)
        return x[order], order


@triton.jit
def rank_kernel(e_ptr, o_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mine = tl.load(e_ptr + i, mask=i < N, other=0)
    rank = tl.zeros([BLOCK], tl.int64)
    for s in range(0, N, BLOCK):
        j = s + tl.arange(0, BLOCK)
        other = tl.load(e_ptr + j, mask=j < N, other=0)
        before = (other[None, :] < mine[:, None]) | ((other[None, :] == mine[:, None]) & (j[None, :] < i[:, None]))
        rank += tl.sum((before & (j[None, :] < N)).to(tl.int64), 1)
    tl.store(o_ptr + rank, i.to(tl.int64), mask=i < N)


@triton.jit
def take_kernel(x_ptr, o_ptr, y_ptr, C, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.load(o_ptr + r) * C + c, mask=c < C, other=0.0)
    tl.store(y_ptr + r * C + c, x, mask=c < C)


class ModelNew(nn.Module):
    def forward(self, x, expert):
        x, expert = x.contiguous(), expert.contiguous()
        N, C = x.shape
        order = torch.empty(N, device=x.device, dtype=torch.int64)
        y = torch.empty_like(x)
        rank_kernel[(triton.cdiv(N, 32),)](expert, order, N, BLOCK=32)
        take_kernel[(N, triton.cdiv(C, 128))](x, order, y, C, BLOCK=128)
        return y, order


def get_inputs():
    return [torch.randn(50, 20), torch.randint(0, 6, (50,))]


def get_init_inputs():
    return []
