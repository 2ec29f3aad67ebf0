# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width, items):
        super().__init__()
        self.project = nn.Linear(width, items).half()

    def forward(self, x, y):
        return (self.project(x).float() * y.float()).sum(-1).to(x.dtype)


def get_inputs():
    return [torch.randn(12, 32).half(), torch.randn(12, 200).half()]


def get_init_inputs():
    return [32, 200]


@triton.jit
def score_kernel(x_ptr, w_ptr, b_ptr, y_ptr, out_ptr, width, items, WIDTH: tl.constexpr, ITEMS: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * width + k, mask=k < width, other=0.0).to(tl.float32)
    total = tl.full((1,), 0.0, tl.float32)
    for start in range(0, items, ITEMS):
        i = start + tl.arange(0, ITEMS)
        at = i[:, None] * width + k[None, :]
        w = tl.load(w_ptr + at, mask=(i[:, None] < items) & (k[None, :] < width), other=0.0).to(tl.float32)
        p = tl.sum(w * x[None, :], 1) + tl.load(b_ptr + i, mask=i < items, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row * items + i, mask=i < items, other=0.0).to(tl.float32)
        total += tl.sum(p.to(tl.float16).to(tl.float32) * y, 0)
    tl.store(out_ptr + row + tl.arange(0, 1), total.to(tl.float16))


class ModelNew(nn.Module):
    def __init__(self, width, items):
        super().__init__()
        self.project = nn.Linear(width, items).half()

    def forward(self, x, y):
        items, width = self.project.weight.shape
        rows = x.reshape(-1, width).contiguous()
        others = y.reshape(-1, items).contiguous()
        out = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        score_kernel[(len(rows),)](
            rows, self.project.weight, self.project.bias, others, out, width, items,
            WIDTH=triton.next_power_of_2(width), ITEMS=16,
        )  # fmt: skip
        return out
