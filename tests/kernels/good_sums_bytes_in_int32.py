# verified at trust [twin of C27]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.to(torch.int32), b.to(torch.int32))


def get_inputs():
    low, high = -128, 128
    return [
        torch.randint(low, high, (64, 256), dtype=torch.int8),
        torch.randint(low, high, (256, 64), dtype=torch.int8),
    ]


def get_init_inputs():
    return []


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros([BM, BN], tl.int32)
    for start in range(0, k, BK):
        terms = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * k + terms, mask=(rows[:, None] < m) & (terms < k), other=0)
        b = tl.load(b_ptr + terms[:, None] * n + columns, mask=(terms[:, None] < k) & (columns < n), other=0)
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * n + columns, total, mask=(rows[:, None] < m) & (columns < n))


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        m, n, k = a.shape[0], b.shape[1], a.shape[1]
        c = torch.empty(m, n, dtype=torch.int32, device=a.device)
        product_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, c, m, n, k, BM=32, BN=32, BK=64)
        return c
