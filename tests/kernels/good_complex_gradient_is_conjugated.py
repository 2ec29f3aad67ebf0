# verified at trust [twin of C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return a * b


def get_inputs():
    return [torch.randn(6, 20, dtype=torch.complex64), torch.randn(6, 20, dtype=torch.complex64)]


def get_init_inputs():
    return []


@triton.jit
def kernel(a_ptr, b_ptr, o_ptr, n, sign, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a_real = tl.load(a_ptr + 2 * i, mask=mask, other=0.0)
    a_imag = tl.load(a_ptr + 2 * i + 1, mask=mask, other=0.0)
    b_real = tl.load(b_ptr + 2 * i, mask=mask, other=0.0)
    b_imag = sign * tl.load(b_ptr + 2 * i + 1, mask=mask, other=0.0)
    tl.store(o_ptr + 2 * i, a_real * b_real - a_imag * b_imag, mask=mask)
    tl.store(o_ptr + 2 * i + 1, a_imag * b_real + a_real * b_imag, mask=mask)


def product(a, b, sign):
    a, b = a.resolve_conj().contiguous(), b.resolve_conj().contiguous()
    o = torch.empty_like(a)
    grid = (triton.cdiv(o.numel(), 128),)
    kernel[grid](torch.view_as_real(a), torch.view_as_real(b), torch.view_as_real(o), o.numel(), sign, BLOCK=128)
    return o


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return product(a.detach(), b.detach(), 1.0)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return product(g, b.detach(), -1.0), product(g, a.detach(), -1.0)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return Product.apply(a, b)
