# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, logits, target):
        return F.cross_entropy(logits, target, label_smoothing=0.1)


def get_inputs():
    return [torch.randn(64, 50), torch.randint(0, 50, (64,))]


def get_init_inputs():
    return []


@triton.jit
def loss_kernel(x_ptr, t_ptr, o_ptr, rows, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    t = tl.load(t_ptr + r)
    x = tl.load(x_ptr + r * n + c, mask=c < n, other=-float("inf"))
    m = tl.max(x, 0)
    lse = m + tl.log(tl.sum(tl.exp(x - m), 0))
    own = tl.sum(tl.where(c == t, x, 0.0), 0)
    mean = tl.sum(tl.where(c < n, x, 0.0), 0) / n
    loss = 0.9 * (lse - own) + 0.1 * (lse - mean)
    tl.store(o_ptr + r, tl.where(t == -100, 0.0, loss))


@triton.jit
def mean_kernel(p_ptr, o_ptr, rows, B: tl.constexpr):
    acc = 0.0
    for s in range(0, rows, B):
        i = s + tl.arange(0, B)
        acc += tl.sum(tl.load(p_ptr + i, mask=i < rows, other=0.0), 0)
    tl.store(o_ptr, acc / rows)


class ModelNew(nn.Module):
    def forward(self, logits, target):
        logits, target = logits.contiguous(), target.contiguous()
        rows, n = logits.shape
        part = torch.empty(rows, dtype=logits.dtype, device=logits.device)
        out = torch.empty((), dtype=logits.dtype, device=logits.device)
        loss_kernel[(rows,)](logits, target, part, rows, n, B=triton.next_power_of_2(n))
        mean_kernel[(1,)](part, out, rows, B=256)
        return out
