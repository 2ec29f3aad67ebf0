# verified at trust [twin of C20]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return (a[:, None] == b[None, :]).sum(dim=1)


def get_inputs():
    a = torch.randint(0, 2**40, (64,))
    return [a, a[torch.randint(0, 64, (48,))]]


def get_init_inputs():
    return []


@triton.jit
def match_kernel(a_ptr, b_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    count = tl.zeros([BLOCK], tl.int64)
    for j in range(0, m):
        count += (a == tl.load(b_ptr + j)).to(tl.int64)
    tl.store(y_ptr + i, count, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        y = torch.empty(a.shape, dtype=torch.int64, device=a.device)
        match_kernel[(triton.cdiv(a.numel(), 32),)](a, b, y, a.numel(), b.numel(), BLOCK=32)
        return y
