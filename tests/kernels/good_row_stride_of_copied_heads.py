# verified at trust [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(2, 4, 16, 64)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, stride, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * stride + c, mask=c < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + r * N + c, e / tl.sum(e, 0), mask=c < N)


class ModelNew(nn.Module):
    def forward(self, x):
        N = x.shape[-1]
        rows = x.reshape(-1, N)
        if rows.stride(1) != 1:
            rows = rows.contiguous()
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        softmax_kernel[(len(rows),)](rows, y, rows.stride(0), N, BLOCK=triton.next_power_of_2(N))
        return y
