# verified at trust [twin of C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width, experts, top):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.top = top

    def forward(self, x):
        shares = torch.softmax(self.gate(x), dim=-1)
        values, places = torch.topk(shares, self.top)
        return torch.zeros_like(shares).scatter(-1, places, values / values.sum(-1, keepdim=True))


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return [32, 8, 2]


@triton.jit
def route_kernel(x_ptr, w_ptr, y_ptr, width, experts, TOP: tl.constexpr, BLOCK_W: tl.constexpr, BLOCK_E: tl.constexpr):
    row = tl.program_id(0)
    e = tl.arange(0, BLOCK_E)
    c = tl.arange(0, BLOCK_W)
    x = tl.load(x_ptr + row * width + c, mask=c < width, other=0.0)
    inside = (e < experts)[:, None] & (c < width)[None, :]
    w = tl.load(w_ptr + e[:, None] * width + c[None, :], mask=inside, other=0.0)
    scores = tl.where(e < experts, tl.sum(w * x[None, :], axis=1), float("-inf"))
    left = scores
    chosen = e < 0
    for _ in range(TOP):
        best = tl.max(left, axis=0)
        now = e == tl.argmax(left, axis=0)
        chosen = chosen | now
        left = tl.where(now, float("-inf"), left)
    shares = tl.where(chosen, tl.exp(scores - tl.max(scores, axis=0)), 0.0)
    tl.store(y_ptr + row * experts + e, shares / tl.sum(shares, axis=0), mask=e < experts)


class ModelNew(nn.Module):
    def __init__(self, width, experts, top):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.top = top

    def forward(self, x):
        x = x.contiguous()
        experts, width = self.gate.weight.shape
        y = torch.empty(x.shape[0], experts, device=x.device, dtype=x.dtype)
        blocks = triton.next_power_of_2(width), triton.next_power_of_2(experts)
        route_kernel[(x.shape[0],)](x, self.gate.weight, y, width, experts, self.top, *blocks)
        return y
