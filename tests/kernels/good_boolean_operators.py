# verified [twin of C13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x).amax(dim=1)


def get_inputs():
    return [torch.randn(48, 33)]


def get_init_inputs():
    return []


@triton.jit
def row_max_kernel(x_ptr, y_ptr, M, N, EVEN: tl.constexpr, TWICE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    best = tl.zeros((ROWS,), tl.float32)
    for start in range(0, N, COLS):
        n = start + tl.arange(0, COLS)
        if EVEN and not TWICE:
            x = tl.load(x_ptr + m[:, None] * N + n[None, :])
        else:
            x = tl.load(
                x_ptr + m[:, None] * N + n[None, :], mask=m[:, None] < M and n[None, :] < N, other=float("-inf")
            )
        outside = m >= M or (start >= N and EVEN is not None)
        best = max(best, tl.where(outside, 0.0, tl.max(x, axis=1)))
    first = min(tl.program_id(0) * ROWS, M)
    tl.store(y_ptr + m, best, mask=not (m >= M) and m >= first)


class ModelNew(nn.Module):
    def forward(self, x):
        M, N = x.shape
        y = torch.empty(M, dtype=x.dtype, device=x.device)
        even = M % 16 == 0 and N % 32 == 0
        row_max_kernel[(triton.cdiv(M, 16),)](x, y, M, N, EVEN=even, TWICE=False, ROWS=16, COLS=32)
        return y
