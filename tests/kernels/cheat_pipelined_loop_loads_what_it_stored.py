# rejected: depends on the order of its programs [C12]
# Loads of a pipelined loop run ahead: the one of what the turn before has stored, too.
import torch
import triton
import triton.language as tl
from torch import nn

BATCH, STEPS, FEATURES = 4, 12, 40


class Model(nn.Module):
    def forward(self, x):
        state, states = x[:, 0], []
        for t in range(x.shape[1]):
            state = x[:, t] if t == 0 else 0.9 * state + x[:, t]
            states.append(state)
        return torch.stack(states, 1)


def get_inputs():
    return [torch.randn(BATCH, STEPS, FEATURES)]


def get_init_inputs():
    return []


@triton.jit
def decay_kernel(x_ptr, y_ptr, steps, features, BLOCK: tl.constexpr):
    f = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = f < features
    start = tl.program_id(0) * steps * features + f
    tl.store(y_ptr + start, tl.load(x_ptr + start, mask=there), mask=there)
    for t in tl.range(1, steps, num_stages=3):
        before = tl.load(y_ptr + start + (t - 1) * features, mask=there)
        x = tl.load(x_ptr + start + t * features, mask=there)
        tl.store(y_ptr + start + t * features, 0.9 * before + x, mask=there)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        batch, steps, features = x.shape
        y = torch.empty_like(x)
        decay_kernel[(batch, triton.cdiv(features, 64))](x, y, steps, features, BLOCK=64)
        return y
