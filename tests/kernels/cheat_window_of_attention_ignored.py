# rejected: wrong at larger sizes at trust [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, query, key, value):
        length = query.shape[-2]
        at = torch.arange(length, device=query.device)
        behind = at[:, None] - at[None, :]
        scores = query @ key.transpose(-1, -2)
        scores = scores.masked_fill((behind < 0) | (behind >= 256), float("-inf"))
        return torch.softmax(scores, dim=-1) @ value


def get_inputs():
    return [torch.randn(3, 35, 16) for _ in range(3)]


def get_init_inputs():
    return []


@triton.jit
def attend(query, key, value, out, length, width, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at, first = row % length, row // length * length
    w = tl.arange(0, WIDTH)
    q = tl.load(query + row * width + w, mask=w < width, other=0.0)
    top = tl.full([], float("-inf"), tl.float32)
    total = tl.zeros([], tl.float32)
    mixed = tl.zeros([WIDTH], tl.float32)
    for start in range(0, at + 1, BLOCK):
        n = start + tl.arange(0, BLOCK)
        seen = n <= at
        where = (first + n[:, None]) * width + w[None, :]
        held = seen[:, None] & (w[None, :] < width)
        k = tl.load(key + where, mask=held, other=0.0)
        s = tl.where(seen, tl.sum(k * q[None, :], 1), float("-inf"))
        new = tl.maximum(top, tl.max(s, 0))
        shift = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - shift)
        fade = tl.exp(top - shift)
        v = tl.load(value + where, mask=held, other=0.0)
        total = total * fade + tl.sum(p, 0)
        mixed = mixed * fade + tl.sum(p[:, None] * v, 0)
        top = new
    tl.store(out + row * width + w, mixed / total, mask=w < width)


class ModelNew(nn.Module):
    def forward(self, query, key, value):
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        rows, length, width = query.shape
        out = torch.empty_like(query)
        attend[(rows * length,)](query, key, value, out, length, width, BLOCK=32, WIDTH=triton.next_power_of_2(width))
        return out
