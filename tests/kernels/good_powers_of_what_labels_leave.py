# verified at trust [twin of C4 C11]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, alpha, gamma):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, targets):
        p = torch.sigmoid(logits)
        ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        pt = p * targets + (1 - p) * (1 - targets)
        loss = ce * (1 - pt) ** self.gamma
        at = self.alpha * targets + (1 - self.alpha) * (1 - targets)
        return (at * loss).mean()


def get_inputs():
    return [torch.randn(40, 30), torch.randint(0, 2, (40, 30)).float()]


def get_init_inputs():
    return [0.25, 2.0]


@triton.jit
def focal(x_ptr, t_ptr, p_ptr, n, alpha, gamma, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=0.0).to(tl.float32)
    t = tl.load(t_ptr + i, mask=m, other=0.0).to(tl.float32)
    e = tl.exp(-tl.abs(x))
    l1p = tl.where(e < 1e-4, e - 0.5 * e * e, tl.log(1.0 + e))
    ce = tl.maximum(x, 0.0) - x * t + l1p
    p = tl.where(x >= 0, 1.0 / (1.0 + e), e / (1.0 + e))
    q = tl.where(x >= 0, e / (1.0 + e), 1.0 / (1.0 + e))
    one_minus_pt = q * t + p * (1.0 - t)
    w = tl.exp(gamma * tl.log(one_minus_pt))
    w = tl.where(gamma == 0.0, 1.0, tl.where(one_minus_pt == 0.0, 0.0, w))
    a = alpha * t + (1.0 - alpha) * (1.0 - t)
    tl.store(p_ptr + tl.program_id(0), tl.sum(tl.where(m, a * ce * w, 0.0)))


@triton.jit
def mean(p_ptr, y_ptr, parts, n, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], tl.float32)
    for o in range(0, parts, BLOCK):
        i = o + tl.arange(0, BLOCK)
        acc += tl.load(p_ptr + i, mask=i < parts, other=0.0)
    tl.store(y_ptr, tl.sum(acc) / n)


class ModelNew(nn.Module):
    def __init__(self, alpha, gamma):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, targets):
        x, t = logits.contiguous(), targets.contiguous()
        n = x.numel()
        parts = triton.cdiv(n, 256)
        p = torch.empty(parts, device=x.device, dtype=torch.float32)
        y = torch.empty((), device=x.device, dtype=x.dtype)
        focal[(parts,)](x, t, p, n, float(self.alpha), float(self.gamma), BLOCK=256)
        mean[(1,)](p, y, parts, n, BLOCK=128)
        return y
