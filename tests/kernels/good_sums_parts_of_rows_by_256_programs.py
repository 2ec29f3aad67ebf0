# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum(0)


def get_inputs():
    return [torch.randn(48, 96)]


def get_init_inputs():
    return []


@triton.jit
def part_kernel(x_ptr, p_ptr, M, N, ROUNDS, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for r in range(ROUNDS):
        row = tl.program_id(0) + r * tl.num_programs(0)
        acc += tl.load(x_ptr + row * N + i, mask=(i < N) & (row < M), other=0.0)
    tl.store(p_ptr + tl.program_id(0) * N + i, acc, mask=i < N)


@triton.jit
def sum_kernel(p_ptr, y_ptr, P, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for part in range(P):
        acc += tl.load(p_ptr + part * N + i, mask=i < N, other=0.0)
    tl.store(y_ptr + i, acc, mask=i < N)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        m, n = x.shape
        p = min(m, 256)
        parts = torch.empty((p, n), device=x.device, dtype=torch.float32)
        y = torch.empty(n, device=x.device, dtype=x.dtype)
        part_kernel[(p,)](x, parts, m, n, triton.cdiv(m, p), BLOCK=triton.next_power_of_2(n))
        sum_kernel[(triton.cdiv(n, 64),)](parts, y, p, n, BLOCK=64)
        return y
