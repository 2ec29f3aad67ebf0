# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.linspace(0.2, 0.7, classes))

    def forward(self, scores, labels):
        keep = labels != -1
        w = self.weight[labels.clamp(min=0)] * keep
        picked = scores.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        return -(w * picked).sum() / w.sum()


def get_inputs():
    labels = torch.randint(0, 9, (40,))
    labels[::4] = -1
    return [torch.randn(40, 9), labels]


def get_init_inputs():
    return [9]


@triton.jit
def mean_kernel(x_ptr, t_ptr, w_ptr, y_ptr, rows, C, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    count = tl.zeros([BLOCK], tl.float32)
    for start in range(0, rows, BLOCK):
        r = start + tl.arange(0, BLOCK)
        t = tl.load(t_ptr + r, mask=r < rows, other=-1)
        keep = t != -1
        at = tl.maximum(t, 0)
        w = tl.load(w_ptr + at, mask=keep, other=0.0)
        total -= w * tl.load(x_ptr + r * C + at, mask=keep, other=0.0)
        count += w
    tl.store(y_ptr, tl.sum(total) / tl.maximum(tl.sum(count), 1.0))


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.linspace(0.2, 0.7, classes))

    def forward(self, scores, labels):
        scores, labels = scores.contiguous(), labels.contiguous()
        y = torch.empty((), device=scores.device)
        mean_kernel[(1,)](scores, labels, self.weight, y, scores.shape[0], scores.shape[1], BLOCK=64)
        return y
