# verified [twin of C8]
import torch
import triton
import triton.language as tl
from torch import nn

ROWS, COLUMNS = 48, 64


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) ** 2


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []


def fits(configurations, named, **_):
    return [c for c in configurations if c.kwargs["EVEN"] == int(named["n"] % 64 == 0)]


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64, "EVEN": 1}), triton.Config({"BLOCK": 128, "EVEN": 0})],
    key=["n"],
    prune_configs_by={"early_config_prune": fits},
)
@triton.jit
def square_kernel(x_ptr, y_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        i = i % (n // BLOCK * BLOCK)
    x = tl.maximum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0.0)
    tl.store(y_ptr + i, x * x, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        square_kernel[lambda given: (triton.cdiv(x.numel(), given["BLOCK"]),)](x, y, x.numel())
        return y
