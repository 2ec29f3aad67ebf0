# verified at trust [twin of C8 C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, starts, columns, values, dense):
        rows = torch.repeat_interleave(torch.arange(starts.shape[0] - 1, device=dense.device), starts.diff())
        out = torch.zeros(starts.shape[0] - 1, dense.shape[1], device=dense.device, dtype=dense.dtype)
        return out.index_add_(0, rows, values.unsqueeze(1) * dense[columns])


def get_inputs():
    starts = torch.arange(21) * 5
    return [starts, torch.randint(0, 30, (100,)), torch.randn(100), torch.randn(30, 24)]


def get_init_inputs():
    return []


@triton.jit
def csr_spmm(indptr, indices, data, B, C, N, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    begin, end = tl.load(indptr + row), tl.load(indptr + row + 1)
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for k in range(begin, end):
        j = tl.load(indices + k)
        acc += tl.load(data + k) * tl.load(B + j * N + cols, mask=cols < N, other=0.0)
    tl.store(C + row * N + cols, acc, mask=cols < N)


class ModelNew(nn.Module):
    def forward(self, starts, columns, values, dense):
        starts, columns, values, dense = (t.contiguous() for t in (starts, columns, values, dense))
        M, N = starts.numel() - 1, dense.shape[1]
        C = torch.empty((M, N), device=dense.device, dtype=dense.dtype)
        csr_spmm[(M, triton.cdiv(N, 16))](starts, columns, values, dense, C, N, BLOCK_N=16)
        return C
