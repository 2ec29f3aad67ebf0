# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """LAMB's step of one tensor: its ratio is one where either norm is zero, and ten at most."""

    def forward(self, weight, update):
        w, u = weight.norm(), update.norm()
        ratio = torch.where((w > 0) & (u > 0), w / torch.where(u > 0, u, torch.ones_like(u)), torch.ones_like(w))
        return weight - 0.01 * ratio.clamp(max=10.0) * update


def get_inputs():
    return [torch.randn(20, 24), torch.randn(20, 24)]


def get_init_inputs():
    return []


@triton.jit
def norms_kernel(w_ptr, u_ptr, s_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    u = tl.load(u_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(s_ptr, tl.sum(w * w, 0))
    tl.atomic_add(s_ptr + 1, tl.sum(u * u, 0))


@triton.jit
def step_kernel(w_ptr, u_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    u = tl.load(u_ptr + i, mask=i < n, other=0.0)
    a, b = tl.sqrt(tl.load(s_ptr)), tl.sqrt(tl.load(s_ptr + 1))
    ratio = tl.minimum(tl.where((a > 0) & (b > 0), a / tl.where(b > 0, b, 1.0), 1.0), 10.0)
    tl.store(y_ptr + i, w - 0.01 * ratio * u, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, weight, update):
        weight, update = weight.contiguous(), update.contiguous()
        y = torch.empty_like(weight)
        n = weight.numel()
        sums = weight.new_zeros(2)
        norms_kernel[(triton.cdiv(n, 256),)](weight, update, sums, n, BLOCK=256)
        step_kernel[(triton.cdiv(n, 256),)](weight, update, sums, y, n, BLOCK=256)
        return y
