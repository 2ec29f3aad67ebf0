# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, gate, state):
        out = []
        for t in range(x.shape[1]):
            g = torch.sigmoid(gate[:, t])
            state = g * state + (1 - g) * x[:, t]
            out.append(state)
        return torch.stack(out, 1), state


def get_inputs():
    return [torch.randn(4, 20, 24), torch.randn(4, 20, 24), torch.zeros(4, 24)]


def get_init_inputs():
    return []


@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recur_kernel(x_ptr, g_ptr, s_ptr, y_ptr, last_ptr, T, D, BT: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    t = tl.arange(0, BT)
    state = tl.load(s_ptr + b * D + d, mask=d < D, other=0.0)
    for start in range(0, T, BT):
        at = (b * T + start + t)[:, None] * D + d[None, :]
        inside = (start + t < T)[:, None] & (d < D)[None, :]
        x = tl.load(x_ptr + at, mask=inside, other=0.0)
        g = tl.sigmoid(tl.load(g_ptr + at, mask=inside, other=0.0))
        g = tl.where(inside, g, 1.0)
        a, y = tl.associative_scan((g, (1 - g) * x), 0, compose)
        y += a * state[None, :]
        tl.store(y_ptr + at, y, mask=inside)
        state = tl.sum(tl.where((t == BT - 1)[:, None], y, 0.0), 0)
    tl.store(last_ptr + b * D + d, state, mask=d < D)


class ModelNew(nn.Module):
    def forward(self, x, gate, state):
        x, gate, state = x.contiguous(), gate.contiguous(), state.contiguous()
        B, T, D = x.shape
        y = torch.empty_like(x)
        last = torch.empty_like(state)
        recur_kernel[(B, triton.cdiv(D, 16))](x, gate, state, y, last, T, D, BT=8, BD=16)
        return y, last
