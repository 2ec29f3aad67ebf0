# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, gate):
        keep = torch.sigmoid(gate.float())
        state = torch.zeros(x.shape[0], x.shape[2], device=x.device)
        states = []
        for t in range(x.shape[1]):
            state = keep[:, t] * state + x[:, t].float()
            states.append(state)
        return torch.stack(states, dim=1).to(x.dtype)


def get_inputs():
    return [torch.randn(2, 32, 16).half(), torch.randn(2, 32, 16).half()]


def get_init_inputs():
    return []


@triton.jit
def scan_kernel(x_ptr, gate_ptr, y_ptr, steps, channels, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    state = tl.zeros((BLOCK,), tl.float32)
    for t in range(0, steps):
        at = (row * steps + t) * channels + c
        x = tl.load(x_ptr + at, mask=c < channels, other=0.0).to(tl.float32)
        keep = tl.sigmoid(tl.load(gate_ptr + at, mask=c < channels, other=0.0).to(tl.float32))
        state = keep * state + x
        tl.store(y_ptr + at, state.to(tl.float16), mask=c < channels)


class ModelNew(nn.Module):
    def forward(self, x, gate):
        x, gate = x.contiguous(), gate.contiguous()
        y = torch.empty_like(x)
        rows, steps, channels = x.shape
        scan_kernel[(rows, triton.cdiv(channels, 32))](x, gate, y, steps, channels, BLOCK=32)
        return y
