# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.CrossEntropyLoss(ignore_index=-1)

    def forward(self, logits, target):
        return self.loss(logits, target)


def get_inputs():
    return [torch.randn(64, 10), torch.randint(0, 10, (64,))]


def get_init_inputs():
    return []


@triton.jit
def loss_kernel(x_ptr, target_ptr, y_ptr, rows, columns, B: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, B)
    c = tl.arange(0, C)
    inside = (r < rows)[:, None] & (c < columns)[None, :]
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=inside, other=float("-inf"))
    x = tl.where((r < rows)[:, None], x, 0.0)
    top = tl.max(x, axis=1)
    sums = tl.log(tl.sum(tl.exp(x - top[:, None]), axis=1)) + top
    t = tl.load(target_ptr + r, mask=r < rows, other=0)
    picked = tl.sum(tl.where(c[None, :] == t[:, None], x, 0.0), axis=1)
    tl.store(y_ptr, tl.sum(tl.where(r < rows, sums - picked, 0.0), axis=0) / rows)


class ModelNew(nn.Module):
    def forward(self, logits, target):
        y = torch.empty((), device=logits.device, dtype=logits.dtype)
        B, C = triton.next_power_of_2(logits.shape[0]), triton.next_power_of_2(logits.shape[1])
        loss_kernel[(1,)](logits, target, y, logits.shape[0], logits.shape[1], B=B, C=C)
        return y
