# verified [twin of A22]
import numpy as np
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.hanning(dim + 2)[1:-1].astype(np.float32)))
        self.scale = np.sqrt(np.prod((dim, 4)))

    def forward(self, x):
        return torch.relu(x * self.table) / self.scale


def get_inputs():
    return [torch.randn(32, 24)]


def get_init_inputs():
    return []


@triton.jit
def windowed_kernel(x_ptr, table_ptr, y_ptr, n, dim, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) * tl.load(table_ptr + i % dim, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL) / scale, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        window: np.ndarray = np.hanning(dim + 2)[1:-1]
        self.register_buffer("table", torch.asarray(dtype=torch.float32, obj=window))
        self.scale = float(np.sqrt(np.prod((dim, 4))))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = int(np.prod(x.shape))
        grid = (int(np.ceil(n / 256)),)
        windowed_kernel[grid](x, self.table, y, n, x.shape[-1], self.scale, BLOCK=256)
        return y
