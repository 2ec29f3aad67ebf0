# verified [twin of C12]
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
    state = tl.zeros((BLOCK,), tl.float32)
    for t in tl.range(0, steps, step=1, num_stages=3):
        state = 0.9 * state + tl.load(x_ptr + start + t * features, mask=there)
        tl.store(y_ptr + start + t * features, state, mask=there)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        batch, steps, features = x.shape
        y = torch.empty_like(x)
        decay_kernel[(batch, triton.cdiv(features, 64))](x, y, steps, features, BLOCK=64)
        return y
