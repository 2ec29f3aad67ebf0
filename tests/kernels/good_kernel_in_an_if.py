# verified [twin of D5]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


try:
    from triton.language.extra.cuda import libdevice as lib
except ImportError:
    lib = None

VERSION = tuple(int(part) for part in triton.__version__.split(".")[:2])

if VERSION >= (3, 0):

    @triton.jit
    def affine_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(y_ptr + i, tl.fma(tl.maximum(x, 0.0), 2.0, 1.0), mask=i < n)

else:
    raise ImportError(f"triton {VERSION} is too old")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

        def launch(x):
            y = torch.empty_like(x)

            def grid(meta):
                return (triton.cdiv(x.numel(), meta["BLOCK"]),)

            affine_kernel[grid](x, y, x.numel(), BLOCK=512)
            return y

        self.launch = launch

    def forward(self, x):
        return self.launch(x)
