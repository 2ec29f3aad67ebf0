# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        h = torch.zeros_like(b[:, 0])
        out = []
        for t in range(b.shape[1]):
            h = torch.sigmoid(a[:, t]) * h + b[:, t]
            out.append(h)
        return torch.stack(out, dim=1)


def get_inputs():
    return [torch.randn(3, 40, 24), torch.randn(3, 40, 24)]


def get_init_inputs():
    return []


@triton.jit
def scan_kernel(a_ptr, b_ptr, y_ptr, T, D, BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = c < D
    h = tl.zeros((BLOCK,), tl.float32)
    for t in range(0, T):
        at = batch * T * D + t * D + c
        g = tl.load(a_ptr + at, mask=m, other=0.0)
        h = h / (1.0 + tl.exp(-g)) + tl.load(b_ptr + at, mask=m, other=0.0)
        tl.store(y_ptr + at, h, mask=m)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        B, T, D = b.shape
        y = torch.empty_like(b)
        scan_kernel[(B, triton.cdiv(D, 32))](a, b, y, T, D, BLOCK=32)
        return y
