# verified at trust [twin of C7]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, ignore):
        super().__init__()
        self.ignore = ignore

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, ignore_index=self.ignore, reduction="sum")


def get_inputs():
    return [torch.randn(60, 33), torch.randint(0, 33, (60,))]


def get_init_inputs():
    return [-100]


@triton.jit
def xent_kernel(x_ptr, t_ptr, o_ptr, C, ignore, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    x = tl.load(x_ptr + r * C + c, mask=c < C, other=float("-inf"))
    t = tl.load(t_ptr + r)
    mx = tl.max(x, 0)
    lse = mx + tl.log(tl.sum(tl.exp(x - mx), 0))
    picked = tl.sum(tl.where(c == t, x, 0.0), 0)
    tl.atomic_add(o_ptr, tl.where(t == ignore, 0.0, lse - picked))


class ModelNew(nn.Module):
    def __init__(self, ignore):
        super().__init__()
        self.ignore = ignore

    def forward(self, logits, target):
        logits, target = logits.contiguous(), target.contiguous()
        R, C = logits.shape
        o = torch.zeros((), dtype=logits.dtype, device=logits.device)
        xent_kernel[(R,)](logits, target, o, C, self.ignore, B=triton.next_power_of_2(C))
        return o
