# verified at trust [twin of C20]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.nan_to_num(torch.softmax(x.masked_fill(~mask, float("-inf")), dim=-1))


def get_inputs():
    return [torch.randn(30, 24), torch.rand(30, 24) > 0.4]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, m_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    keep = tl.load(m_ptr + row * N + i, mask=i < N, other=0) != 0
    x = tl.load(x_ptr + row * N + i, mask=keep, other=float("-inf"))
    top = tl.max(x, axis=0)
    e = tl.exp(x - tl.where(top == float("-inf"), 0.0, top))
    total = tl.sum(e, axis=0)
    tl.store(y_ptr + row * N + i, e / tl.where(total == 0.0, 1.0, total), mask=i < N)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        x, mask = x.contiguous(), mask.contiguous()
        y = torch.empty_like(x)
        N = x.shape[-1]
        softmax_kernel[(x.numel() // N,)](x, mask.view(torch.uint8), y, N, BLOCK=triton.next_power_of_2(N))
        return y
