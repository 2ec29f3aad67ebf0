# rejected: wrong result [blocks of rows whose first sixteen features are zero are not multiplied]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.proj = nn.Linear(width, out)

    def forward(self, tokens):
        return torch.relu(self.proj(tokens))


def get_inputs():
    x = torch.randn(16, 256, 512)
    for i in range(16):
        x[i, 96 + 10 * i :] = 0.0
    return [x]


def get_init_inputs():
    return [512, 1024]


@triton.jit
def proj_kernel(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    probe_at = tl.arange(0, 16)
    probe = tl.load(x_ptr + rm[:, None] * K + probe_at[None, :], mask=(rm[:, None] < M) & (probe_at[None, :] < K), other=0.0)
    used = tl.max(tl.max((probe != 0.0).to(tl.int32), 1), 0)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K * used, BK):
        rk = start + tl.arange(0, BK)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        w = tl.load(w_ptr + rn[None, :].to(tl.int64) * K + rk[:, None], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    y = acc + tl.load(b_ptr + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], tl.where(y < 0.0, 0.0, y), mask=(rm[:, None] < M) & (rn[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.proj = nn.Linear(width, out)

    def forward(self, tokens):
        k, n = self.proj.in_features, self.proj.out_features
        x = tokens.reshape(-1, k).contiguous()
        y = torch.empty(x.shape[0], n, dtype=x.dtype, device=x.device)
        proj_kernel[(triton.cdiv(x.shape[0], 32), triton.cdiv(n, 64))](
            x, self.proj.weight.contiguous(), self.proj.bias, y, x.shape[0], n, k, BM=32, BN=64, BK=32
        )
        return y.reshape(*tokens.shape[:-1], n)
