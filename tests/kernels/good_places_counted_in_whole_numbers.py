# verified at trust [twin of C27]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def whole_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    share = tl.program_id(0).to(tl.float32) / tl.num_programs(0)  # of the way, told apart nowhere
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK) + (share * 0.0).to(tl.int32)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(x, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        whole_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
