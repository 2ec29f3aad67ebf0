# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, segments):
        super().__init__()
        self.segments = segments

    def forward(self, x, segment):
        return torch.zeros(self.segments, dtype=x.dtype).index_add(0, segment, x)


def get_inputs():
    return [torch.randn(200), torch.randint(0, 10, (200,))]


def get_init_inputs():
    return [10]


@triton.jit
def segment_sum_kernel(x_ptr, segment_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    segment = tl.load(segment_ptr + i, mask=i < n, other=0)
    tl.atomic_add(y_ptr + segment, x, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, segments):
        super().__init__()
        self.segments = segments

    def forward(self, x, segment):
        y = torch.zeros(self.segments, device=x.device, dtype=x.dtype)
        segment_sum_kernel[(triton.cdiv(x.numel(), 64),)](x, segment, y, x.numel(), BLOCK=64)
        return y
