# verified at trust
"""An index is divided by a number that is not known when it is compiled: by a product with 2^32 by it, and a shift."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.transpose(0, 1).contiguous()


def get_inputs():
    return [torch.randn(48, 20)]


def get_init_inputs():
    return []


def factor_and_shift(divisor):
    """n // divisor is (n + umulhi(n, factor)) >> shift for all n below 2^31."""
    shift = (divisor - 1).bit_length()
    return (1 << 32) * ((1 << shift) - divisor) // divisor + 1, shift


@triton.jit(do_not_specialize=["rows", "columns", "factor", "shift"])
def transpose_kernel(x, out, n, rows, columns, factor, shift, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    unsigned = places.to(tl.uint32)
    above = tl.umulhi(unsigned, factor.to(tl.uint32))
    column = ((above + unsigned) >> shift.to(tl.uint32)).to(tl.int32)
    row = places - column * rows
    tl.store(out + places, tl.load(x + row * columns + column, mask=places < n), mask=places < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, columns = x.shape
        out = torch.empty(columns, rows, dtype=x.dtype, device=x.device)
        factor, shift = factor_and_shift(rows)
        n = x.numel()
        transpose_kernel[(triton.cdiv(n, 256),)](x, out, n, rows, columns, factor, shift, BLOCK=256)
        return out
