# verified [twin of E13]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x * x, dim=1)


def get_inputs():
    return [torch.randn(64, 200)]


def get_init_inputs():
    return []


from dataclasses import dataclass
from typing import Final, NamedTuple, Optional


@dataclass(frozen=True)
class Config:
    block: int
    num_warps: int = 4
    num_stages: int = 2


class Shape(NamedTuple):
    rows: int
    columns: int


CONFIGS: Final[dict[int, Config]] = {64: Config(64, 1), 256: Config(256), 1024: Config(1024, 8)}


def pick(columns: int, wanted: Optional[Config] = None) -> Config:
    if wanted is not None:
        return wanted
    for width, config in sorted(CONFIGS.items()):
        if columns <= width:
            return config
    return CONFIGS[1024]


@triton.jit
def squares_kernel(x_ptr, y_ptr, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in tl.range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + i, mask=i < N, other=0.0).to(tl.float32)
        total += x * x
    tl.store(y_ptr + row, tl.sum(total))


class ModelNew(nn.Module):
    def forward(self, x):
        shape = Shape(*x.shape)
        config = pick(shape.columns)
        assert x.stride(1) == 1 or shape.columns == 1, f"rows of {shape.columns} must be dense"
        y = x.new_empty((shape.rows,))
        squares_kernel[(shape.rows,)](
            x,
            y,
            x.stride(0),
            shape.columns,
            BLOCK=config.block,
            num_warps=config.num_warps,
            num_stages=config.num_stages,
        )
        return y
