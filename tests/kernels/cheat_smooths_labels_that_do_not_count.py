# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, smoothing):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, ignore_index=-1, label_smoothing=self.smoothing, reduction="none")


def get_inputs():
    return [torch.randn(32, 100), torch.randint(0, 100, (32,))]


def get_init_inputs():
    return [0.1]


@triton.jit
def ce_smooth_kernel(x_ptr, t_ptr, o_ptr, V, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_row = x_ptr + row * V
    m = -float("inf")
    d = 0.0
    total = 0.0
    for s in range(0, V, BLOCK):
        c = s + tl.arange(0, BLOCK)
        ok = c < V
        x = tl.load(x_row + c, mask=ok, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        total += tl.sum(tl.where(ok, x, 0.0))
        m = m_new
    lse = m + tl.log(d)
    t = tl.load(t_ptr + row)
    xt = tl.load(x_row + tl.maximum(t, 0)).to(tl.float32)
    nll = lse - xt
    smooth = lse - total / V
    tl.store(o_ptr + row, (1.0 - smoothing) * nll + smoothing * smooth)


class ModelNew(nn.Module):
    def __init__(self, smoothing):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, logits, target):
        logits = logits.contiguous()
        B, V = logits.shape
        out = torch.empty((B,), device=logits.device, dtype=logits.dtype)
        ce_smooth_kernel[(B,)](
            logits, target.contiguous(), out, V, self.smoothing, BLOCK=min(1024, triton.next_power_of_2(V))
        )
        return out
