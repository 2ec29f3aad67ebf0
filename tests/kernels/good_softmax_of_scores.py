# verified at trust [twin of C1]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.softmax(a @ b, -1)


def get_inputs():
    return [torch.randn(32, 32), torch.randn(32, 32)]


def get_init_inputs():
    return []


@triton.jit
def mm_kernel(a_ptr, b_ptr, y_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for s in range(0, k, BK):
        d = s + tl.arange(0, BK)
        a = tl.load(a_ptr + i[:, None] * k + d[None, :], mask=(i[:, None] < m) & (d[None, :] < k), other=0.0)
        b = tl.load(b_ptr + d[:, None] * n + j[None, :], mask=(d[:, None] < k) & (j[None, :] < n), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(y_ptr + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def softmax_kernel(y_ptr, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    a = tl.load(y_ptr + r * columns + j, mask=j < columns, other=-float("inf"))
    e = tl.exp(a - tl.max(a))
    tl.store(y_ptr + r * columns + j, e / tl.sum(e), mask=j < columns)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        y = torch.empty((a.shape[0], b.shape[1]), device=a.device)
        mm_kernel[(triton.cdiv(a.shape[0], 32), triton.cdiv(b.shape[1], 32))](
            a, b, y, a.shape[0], b.shape[1], a.shape[1], BM=32, BN=32, BK=32
        )
        softmax_kernel[(y.shape[0],)](y, y.shape[1], BLOCK=triton.next_power_of_2(y.shape[1]))
        return y
