# verified [twin of C25]
import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.full((classes,), 2.5))

    def forward(self, scores, targets):
        losses = torch.relu(1.0 - scores * targets)
        return (losses * self.weight).sum(1)


def get_inputs():
    return [torch.randn(16, 40), torch.randn(16, 40).sign()]


def get_init_inputs():
    return [40]


@triton.jit
def hinge_kernel(s_ptr, t_ptr, w_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = c < columns
        s = tl.load(s_ptr + row * columns + c, mask=mask, other=0.0)
        t = tl.load(t_ptr + row * columns + c, mask=mask, other=0.0)
        w = tl.load(w_ptr + c, mask=mask, other=0.0)
        total += tl.where(mask, tl.maximum(1.0 - s * t, 0.0) * w, 0.0)
    tl.store(y_ptr + row, tl.sum(total, 0))


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.full((classes,), 2.5))

    def forward(self, scores, targets):
        scores, targets = scores.contiguous(), targets.contiguous()
        y = torch.empty(scores.shape[0], dtype=scores.dtype, device=scores.device)
        hinge_kernel[(scores.shape[0],)](scores, targets, self.weight, y, scores.shape[1], BLOCK=32)
        return y
