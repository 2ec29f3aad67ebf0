# verified at trust [twin of C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, q, k, v):
        shares = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, dim=-1)
        return self.drop(shares) @ v


def get_inputs():
    return [torch.randn(2, 24, 16), torch.randn(2, 24, 16), torch.randn(2, 24, 16)]


def get_init_inputs():
    return [0.2]


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, y_ptr, S, T, D, scale, p, seed, TRAIN: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr
):
    row, batch = tl.program_id(0), tl.program_id(1)
    t, d = tl.arange(0, BT), tl.arange(0, BD)
    q = tl.load(q_ptr + (batch * S + row) * D + d, mask=d < D, other=0.0)
    inside = (t[:, None] < T) & (d[None, :] < D)
    places = (batch * T + t[:, None]) * D + d[None, :]
    scores = tl.sum(tl.load(k_ptr + places, mask=inside, other=0.0) * q[None, :], 1) * scale
    scores = tl.where(t < T, scores, -float("inf"))
    shares = tl.exp(scores - tl.max(scores, 0))
    shares = shares / tl.sum(shares, 0)
    if TRAIN:
        shares = tl.where(tl.rand(seed, (batch * S + row) * T + t) > p, shares / (1.0 - p), 0.0)
    y = tl.sum(tl.load(v_ptr + places, mask=inside, other=0.0) * shares[:, None], 0)
    tl.store(y_ptr + (batch * S + row) * D + d, y, mask=d < D)


class ModelNew(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        B, S, D = q.shape
        T = k.shape[1]
        y = torch.empty_like(q)
        seed = int(torch.randint(2**31, (1,))) if self.training else 0
        blocks = {"BT": triton.next_power_of_2(T), "BD": triton.next_power_of_2(D)}
        kernel[(S, B)](q, k, v, y, S, T, D, D**-0.5, self.p, seed, TRAIN=self.training, **blocks)
        return y
