# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, batch, scale, flags):
        x = batch["x"] * scale + batch["shift"][0]
        return torch.where(flags, x, -x), None


def get_inputs():
    return [{"x": torch.rand(5, 7), "shift": [torch.rand(5, 7)], "unused": None}, 1.5, torch.rand(5, 7) > 0.5]


def get_init_inputs():
    return []


@triton.jit
def shift_kernel(x_ptr, shift_ptr, flag_ptr, y_ptr, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    y = tl.load(x_ptr + i, mask=mask) * scale + tl.load(shift_ptr + i, mask=mask)
    keep = tl.load(flag_ptr + i, mask=mask, other=0) != 0
    tl.store(y_ptr + i, tl.where(keep, y, -y), mask=mask)


class ModelNew(nn.Module):
    def forward(self, batch, scale, flags):
        x = batch["x"]
        y = torch.empty_like(x)
        shift_kernel[(triton.cdiv(x.numel(), 32),)](x, batch["shift"][0], flags, y, scale, x.numel(), BLOCK=32)
        return y, None
