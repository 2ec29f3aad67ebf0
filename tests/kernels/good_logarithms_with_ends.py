# verified at trust [twin of C7]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, share, label):
        return F.binary_cross_entropy(share, label, reduction="none")


def get_inputs():
    return [torch.sigmoid(torch.randn(24, 40)), torch.randint(0, 2, (24, 40)).float()]


def get_init_inputs():
    return []


@triton.jit
def entropy_kernel(share_ptr, label_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    share = tl.load(share_ptr + i, mask=i < count, other=0.5)
    label = tl.load(label_ptr + i, mask=i < count)
    one = tl.maximum(tl.log(share), -100.0)
    other = tl.maximum(tl.log(1.0 - share), -100.0)
    tl.store(y_ptr + i, -(label * one + (1.0 - label) * other), mask=i < count)


class ModelNew(nn.Module):
    def forward(self, share, label):
        share, label = share.contiguous(), label.contiguous()
        y = torch.empty_like(share)
        count = share.numel()
        entropy_kernel[(triton.cdiv(count, 256),)](share, label, y, count, BLOCK=256)
        return y
