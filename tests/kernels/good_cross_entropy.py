# verified
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, logits, target):
        return F.cross_entropy(logits, target)


batch_size = 4096
num_classes = 10


def get_inputs():
    return [torch.randn(batch_size, num_classes), torch.randint(0, num_classes, (batch_size,))]


def get_init_inputs():
    return []


@triton.jit
def row_loss_kernel(logits_ptr, target_ptr, loss_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * classes + column, mask=column < classes, other=-float("inf"))
    top = tl.max(x, axis=0)
    log_sum = tl.log(tl.sum(tl.exp(x - top), axis=0)) + top
    target = tl.load(target_ptr + row)
    tl.store(loss_ptr + row, log_sum - tl.load(logits_ptr + row * classes + target))


@triton.jit
def mean_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, logits, target):
        rows, classes = logits.shape
        losses = torch.empty(rows, device=logits.device, dtype=torch.float32)
        row_loss_kernel[(rows,)](logits, target, losses, classes, BLOCK=triton.next_power_of_2(classes))
        out = torch.empty((), device=logits.device, dtype=torch.float32)
        mean_kernel[(1,)](losses, out, rows, BLOCK=1024)
        return out
