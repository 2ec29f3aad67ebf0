# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(2, 3, 48, 32), torch.randn(2, 3, 48, 32), torch.randn(2, 3, 48, 32)]


def get_init_inputs():
    return []


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, HEAD: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(1) * length * HEAD
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.arange(0, HEAD)
    at = start + rows[:, None] * HEAD + columns[None, :]
    inside = rows[:, None] < length
    q = tl.load(q_ptr + at, mask=inside, other=0.0)
    peak = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    mixed = tl.zeros([BLOCK, HEAD], tl.float32)
    for first in range(0, length, BLOCK):
        keys = first + tl.arange(0, BLOCK)
        there = start + keys[:, None] * HEAD + columns[None, :]
        k = tl.load(k_ptr + there, mask=keys[:, None] < length, other=0.0)
        v = tl.load(v_ptr + there, mask=keys[:, None] < length, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(keys[None, :] < length, scores, -float("inf"))
        highest = tl.maximum(peak, tl.max(scores, 1))
        weights = tl.exp(scores - highest[:, None])
        kept = tl.exp(peak - highest)
        total = total * kept + tl.sum(weights, 1)
        mixed = mixed * kept[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        peak = highest
    tl.store(out_ptr + at, mixed / total[:, None], mask=inside)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        batch, heads, length, head = q.shape
        out = torch.empty_like(q)
        grid = triton.cdiv(length, 16), batch * heads
        attention_kernel[grid](q, k, v, out, length, head**-0.5, HEAD=head, BLOCK=16)
        return out
