# verified [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, dim, heads=12, dim_head=128):
        super().__init__()
        self.to_qkv = nn.Linear(dim, heads * dim_head, bias=False)

    def forward(self, x):
        return self.to_qkv(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]


@triton.jit
def project_kernel(
    x_ptr, w_ptr, y_ptr, n_rows, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, dim, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + rows * dim + k[None, :], mask=(rows < n_rows) & (k[None, :] < dim), other=0.0)
        w = tl.load(w_ptr + cols * dim + k[:, None], mask=(cols < 1536) & (k[:, None] < dim), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    tl.store(y_ptr + rows * 1536 + cols, acc, mask=(rows < n_rows) & (cols < 1536))


class ModelNew(nn.Module):
    def __init__(self, dim, heads=12, dim_head=128):
        super().__init__()
        self.to_qkv = nn.Linear(dim, heads * dim_head, bias=False)

    def forward(self, x):
        x = x.contiguous()
        n_rows, dim = x.shape
        y = torch.empty((n_rows, 1536), device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(n_rows, 16), triton.cdiv(1536, 64))
        project_kernel[grid](x, self.to_qkv.weight, y, n_rows, dim, BLOCK_M=16, BLOCK_N=64, BLOCK_K=16)
        return y
