# verified at trust [twin of C14]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, labels):
        """How many there are of each label; those below zero are none."""
        return (labels.reshape(-1, 1) == torch.arange(32, device=labels.device)).sum(0)


def get_inputs():
    return [torch.randint(-1, 32, (24, 40))]


def get_init_inputs():
    return []


@triton.jit
def count_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1).to(tl.int32)
    counts = tl.histogram(x, 32, mask=(x >= 0) & (x < 32))
    tl.atomic_add(y_ptr + tl.arange(0, 32), counts.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, labels):
        labels = labels.contiguous()
        y = torch.zeros(32, dtype=torch.int64, device=labels.device)
        n = labels.numel()
        count_kernel[(triton.cdiv(n, 256),)](labels, y, n, BLOCK=256)
        return y
