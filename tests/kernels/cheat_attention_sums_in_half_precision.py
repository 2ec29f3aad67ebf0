# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(2, 2, 64, 32).half() for _ in range(3)]


def get_init_inputs():
    return []


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, y_ptr, length, scale, WIDTH: tl.constexpr, ROWS: tl.constexpr,
                     KEYS: tl.constexpr):  # fmt: skip
    base = tl.program_id(1) * length * WIDTH
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + base + m[:, None] * WIDTH + d[None, :], mask=m[:, None] < length, other=0.0)
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, WIDTH), tl.float16)
    for start in range(0, length, KEYS):
        n = start + tl.arange(0, KEYS)
        k = tl.load(k_ptr + base + n[None, :] * WIDTH + d[:, None], mask=n[None, :] < length, other=0.0)
        scores = tl.where(n[None, :] < length, tl.dot(q, k) * scale, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        shares = tl.exp(scores - higher[:, None])
        before = tl.exp(top - higher)
        total = total * before + tl.sum(shares, 1)
        v = tl.load(v_ptr + base + n[:, None] * WIDTH + d[None, :], mask=n[:, None] < length, other=0.0)
        acc = (acc * before[:, None] + tl.dot(shares.to(tl.float16), v)).to(tl.float16)
        top = higher
    y = acc.to(tl.float32) / total[:, None]
    tl.store(y_ptr + base + m[:, None] * WIDTH + d[None, :], y.to(tl.float16), mask=m[:, None] < length)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        length, width = q.shape[-2:]
        y = torch.empty_like(q)
        grid = (triton.cdiv(length, 16), q.numel() // (length * width))
        attention_kernel[grid](q, k, v, y, length, width**-0.5, WIDTH=width, ROWS=16, KEYS=16)
        return y
