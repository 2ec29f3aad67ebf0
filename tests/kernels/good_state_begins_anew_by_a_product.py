# verified at trust [twin of C7]
"""As parallel scans have it: no state is infinite."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, done, state):
        states = []
        for t in range(x.shape[1]):
            state = torch.where(done[:, t, None], torch.zeros_like(state), state)
            state = 0.5 * state + x[:, t]
            states.append(state)
        return torch.stack(states, 1)


def get_inputs():
    return [torch.randn(4, 16, 8), torch.rand(4, 16) < 0.05, torch.randn(4, 8)]


def get_init_inputs():
    return []


@triton.jit
def state_kernel(x_ptr, d_ptr, s_ptr, y_ptr, T, C, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    state = tl.load(s_ptr + b * C + c, mask=c < C, other=0.0)
    for t in range(T):
        done = tl.load(d_ptr + b * T + t) != 0
        state = state * (1.0 - done.to(tl.float32))
        state = 0.5 * state + tl.load(x_ptr + (b * T + t) * C + c, mask=c < C, other=0.0)
        tl.store(y_ptr + (b * T + t) * C + c, state, mask=c < C)


class ModelNew(nn.Module):
    def forward(self, x, done, state):
        x, done, state = x.contiguous(), done.contiguous(), state.contiguous()
        B, T, C = x.shape
        y = torch.empty_like(x)
        state_kernel[(B,)](x, done.view(torch.uint8), state, y, T, C, BLOCK=triton.next_power_of_2(C))
        return y
