# verified at trust [twin of C16]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns))
        self.register_buffer("mean", torch.zeros(rows, columns))
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def forward(self, gradient):
        self.step += 1
        self.mean.lerp_(gradient, 0.1)
        self.weight.sub_(0.01 * self.mean / (1 - 0.9 ** self.step.item()))
        return self.weight.clone()


def get_inputs():
    return [torch.randn(33, 57)]


def get_init_inputs():
    return [33, 57]


@triton.jit
def update(weight, mean, gradient, out, elements, correction, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < elements
    old = tl.load(mean + at, mask=inside)
    new = old + 0.1 * (tl.load(gradient + at, mask=inside) - old)
    moved = tl.load(weight + at, mask=inside) - 0.01 * new / correction
    tl.store(mean + at, new, mask=inside)
    tl.store(weight + at, moved, mask=inside)
    tl.store(out + at, moved, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns))
        self.register_buffer("mean", torch.zeros(rows, columns))
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def forward(self, gradient):
        self.step += 1
        gradient = gradient.contiguous()
        out = torch.empty_like(self.weight)
        update[(triton.cdiv(out.numel(), 256),)](
            self.weight, self.mean, gradient, out, out.numel(), 1 - 0.9 ** self.step.item(), BLOCK=256
        )
        return out
