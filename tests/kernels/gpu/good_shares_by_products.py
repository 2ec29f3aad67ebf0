# verified at trust [twin of C7]
# Each thread fuses a product of its own into the sum that all of them hold: their scores differ in a last bit, and
# where scores are large shares of these do not add up to one.
import torch
import triton
import triton.language as tl
from torch import nn

ROWS, KEYS, FEATURES = 24, 40, 16


class Model(nn.Module):
    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return torch.softmax(queries @ keys.t() * queries.shape[1] ** -0.5, 1) @ values


def get_inputs():
    return [torch.randn(ROWS, FEATURES), torch.randn(KEYS, FEATURES), torch.randn(KEYS, FEATURES)]


def get_init_inputs():
    return []


@triton.jit
def decode_kernel(q_ptr, k_ptr, v_ptr, y_ptr, count, features, scale, KEYS: tl.constexpr, FEATURES: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, FEATURES)
    there = column < features
    q = tl.load(q_ptr + row * features + column, mask=there, other=0.0) * scale
    largest, total = float("-inf"), 0.0
    answer = tl.zeros((FEATURES,), tl.float32)
    for start in range(0, count, KEYS):
        key = start + tl.arange(0, KEYS)
        place = key[:, None] * features + column[None, :]
        both = (key < count)[:, None] & there[None, :]
        k = tl.load(k_ptr + place, mask=both, other=0.0)
        v = tl.load(v_ptr + place, mask=both, other=0.0)
        score = tl.where(key < count, tl.sum(q[None, :] * k, 1), float("-inf"))
        larger = tl.maximum(largest, tl.max(score, 0))
        share, kept = tl.exp(score - larger), tl.exp(largest - larger)
        total = total * kept + tl.sum(share, 0)
        answer = answer * kept + tl.sum(share[:, None] * v, 0)
        largest = larger
    tl.store(y_ptr + row * features + column, answer / total, mask=there)


class ModelNew(nn.Module):
    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        queries, keys, values = queries.contiguous(), keys.contiguous(), values.contiguous()
        rows, features = queries.shape
        y = torch.empty_like(queries)
        block = triton.next_power_of_2(features)
        decode_kernel[(rows,)](queries, keys, values, y, len(keys), features, features**-0.5, KEYS=8, FEATURES=block)
        return y
