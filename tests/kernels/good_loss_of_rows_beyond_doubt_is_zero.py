# verified at trust [twin of C4 C11]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, t):
        return F.cross_entropy(x, t, reduction="none")


def get_inputs():
    return [torch.randn(24, 50), torch.randint(0, 50, (24,))]


def get_init_inputs():
    return []


@triton.jit
def ce_kernel(x_ptr, t_ptr, y_ptr, C, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(t_ptr + row)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * C + c, mask=c < C, other=-float("inf"))
    hit = tl.load(x_ptr + row * C + t, mask=t >= 0, other=0.0)
    top = tl.max(x, 0)
    loss = top + tl.log(tl.sum(tl.exp(x - top), 0)) - hit
    others = tl.max(tl.where(c == t, -float("inf"), x), 0)
    loss = tl.where(hit - others > 100.0, 0.0, loss)
    tl.store(y_ptr + row, tl.where(t == -100, 0.0, loss))


class ModelNew(nn.Module):
    def forward(self, x, t):
        x, t = x.contiguous(), t.contiguous()
        N, C = x.shape
        y = torch.empty(N, dtype=x.dtype, device=x.device)
        ce_kernel[(N,)](x, t, y, C, BLOCK=triton.next_power_of_2(C))
        return y
