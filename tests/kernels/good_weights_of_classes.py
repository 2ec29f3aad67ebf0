# verified [twin of C2 C25]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.ones(classes))

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, self.weight)


def get_inputs():
    return [torch.randn(32, 10), torch.randint(0, 10, (32,))]


def get_init_inputs():
    return [10]


@triton.jit
def losses_kernel(x_ptr, target_ptr, weight_ptr, loss_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * classes + column, mask=column < classes, other=-float("inf"))
    peak = tl.max(x, 0)
    target = tl.load(target_ptr + row)
    chosen = tl.load(x_ptr + row * classes + target)
    loss = peak + tl.log(tl.sum(tl.exp(x - peak), 0)) - chosen
    tl.store(loss_ptr + row, loss * tl.load(weight_ptr + target))


@triton.jit
def mean_kernel(loss_ptr, target_ptr, weight_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    weights = tl.zeros([BLOCK], tl.float32)
    for start in range(0, rows, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(loss_ptr + i, mask=i < rows, other=0.0)
        target = tl.load(target_ptr + i, mask=i < rows, other=0)
        weights += tl.load(weight_ptr + target, mask=i < rows, other=0.0)
    tl.store(out_ptr, tl.sum(total, 0) / tl.sum(weights, 0))


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.ones(classes))

    def forward(self, logits, target):
        logits, target = logits.contiguous(), target.contiguous()
        rows, classes = logits.shape
        losses = torch.empty(rows, device=logits.device)
        losses_kernel[(rows,)](logits, target, self.weight, losses, classes, BLOCK=triton.next_power_of_2(classes))
        mean = torch.empty((), device=logits.device)
        mean_kernel[(1,)](losses, target, self.weight, mean, rows, BLOCK=128)
        return mean
