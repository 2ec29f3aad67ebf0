# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        temperature = torch.exp(-1e-5 * self.step.float())
        self.step += 1
        return torch.sigmoid(x / temperature)


def get_inputs():
    return [torch.randn(20, 32)]


def get_init_inputs():
    return []


@triton.jit
def sigmoid_kernel(x_ptr, step_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    temperature = tl.exp(-1e-5 * tl.load(step_ptr).to(tl.float32))
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.sigmoid(x / temperature), mask=i < n)


@triton.jit
def step_kernel(step_ptr):
    tl.store(step_ptr, tl.load(step_ptr) + 1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        sigmoid_kernel[(triton.cdiv(x.numel(), 128),)](x, self.step, y, x.numel(), BLOCK=128)
        step_kernel[(1,)](self.step)
        return y
