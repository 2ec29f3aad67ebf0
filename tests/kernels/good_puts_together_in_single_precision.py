# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, place):
        return torch.zeros(8, x.shape[1], device=x.device).index_put((place,), x.float(), accumulate=True).to(x.dtype)


def get_inputs():
    return [torch.randn(400, 16).half(), torch.randint(0, 8, (400,))]


def get_init_inputs():
    return []


@triton.jit
def put_kernel(x_ptr, place_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    own = tl.program_id(0)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, rows, ROWS):
        r = start + tl.arange(0, ROWS)
        here = (r < rows) & ((tl.load(place_ptr + r, mask=r < rows, other=0) + 8) % 8 == own)
        at = r[:, None] * columns + c[None, :]
        x = tl.load(x_ptr + at, mask=here[:, None] & (c[None, :] < columns), other=0.0).to(tl.float32)
        total += tl.sum(x, 0)
    tl.store(y_ptr + own * columns + c, total.to(tl.float16), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x, place):
        x, place = x.contiguous(), place.contiguous()
        rows, columns = x.shape
        y = torch.empty(8, columns, device=x.device, dtype=x.dtype)
        put_kernel[(8, triton.cdiv(columns, 32))](x, place, y, rows, columns, ROWS=16, COLUMNS=32)
        return y
