# verified [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(64, 48)]


def get_init_inputs():
    return [48, 40]


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, sxm, sxk, swn, swk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pm, pn = tl.program_id(0), tl.program_id(1)
    x = tl.make_block_ptr(x_ptr, (M, K), (sxm, sxk), (pm * BM, 0), (BM, BK), (1, 0))
    w = tl.make_block_ptr(w_ptr, (K, N), (swk, swn), (0, pn * BN), (BK, BN), (0, 1))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(
            tl.load(x, boundary_check=(0, 1), padding_option="zero"),
            tl.load(w, boundary_check=(0, 1), padding_option="zero"),
            total,
            input_precision="ieee",
        )
        x = tl.advance(x, (0, BK))
        w = tl.advance(w, (BK, 0))
    b = tl.make_block_ptr(b_ptr, (N,), (1,), (pn * BN,), (BN,), (0,))
    total += tl.load(b, boundary_check=(0,), padding_option="zero")[None, :]
    y = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    tl.store(y, tl.maximum(total, 0.0), boundary_check=(0, 1))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        w = self.linear.weight
        M, K = x.shape
        N = w.shape[0]
        y = torch.empty((M, N), device=x.device, dtype=x.dtype)
        linear_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
            x, w, self.linear.bias, y, M, N, K, x.stride(0), x.stride(1), w.stride(0), w.stride(1), BM=16, BN=16, BK=16
        )
        return y
