# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """What passes thresholds that are no round numbers, from either side, and where it is kept within ends."""

    def __init__(self, least):
        super().__init__()
        self.least = least
        self.register_buffer("most", torch.tensor(0.35), persistent=False)

    def forward(self, x):
        inside = torch.clamp(x, -0.6, 0.6)
        return (x >= self.least).float(), torch.where(x > self.most, x, -x), (inside == x).float(), (x - 0.45).sign()


def get_inputs():
    return [torch.randn(30, 41)]


def get_init_inputs():
    return [0.3]


@triton.jit
def thresholds_kernel(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, n, least, most, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=0.0)
    tl.store(a_ptr + i, (x >= least).to(tl.float32), mask=inside)
    tl.store(b_ptr + i, tl.where(x > most, x, -x), mask=inside)
    tl.store(c_ptr + i, (tl.abs(x) <= 0.6).to(tl.float32), mask=inside)
    tl.store(d_ptr + i, tl.where(x > 0.45, 1.0, tl.where(x < 0.45, -1.0, 0.0)), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, least):
        super().__init__()
        self.least = least

    def forward(self, x):
        x = x.contiguous()
        a, b, c, d = (torch.empty_like(x) for _ in range(4))
        n = x.numel()
        thresholds_kernel[(triton.cdiv(n, 128),)](x, a, b, c, d, n, self.least, 0.35, B=128)
        return a, b, c, d
