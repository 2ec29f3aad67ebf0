# verified at trust [twin of C7 C16]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, weight):
        return x.int() @ weight.int().t()


def get_inputs():
    return [torch.randint(-16, 16, (48, 192), dtype=torch.int8), torch.randint(-16, 16, (80, 192), dtype=torch.int8)]


def get_init_inputs():
    return []


@triton.jit
def product_kernel(x_ptr, w_ptr, y_ptr, rows, columns, depth, SIDE: tl.constexpr, STEP: tl.constexpr):
    r = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    c = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    total = tl.zeros([SIDE, SIDE], tl.int32)
    for start in range(0, depth, STEP):
        d = start + tl.arange(0, STEP)
        x = tl.load(x_ptr + r[:, None] * depth + d[None, :], mask=(r < rows)[:, None] & (d < depth)[None, :], other=0)
        w = tl.load(
            w_ptr + c[None, :] * depth + d[:, None], mask=(c < columns)[None, :] & (d < depth)[:, None], other=0
        )
        total = tl.dot(x, w, total, out_dtype=tl.int32)
    y = y_ptr + r[:, None] * columns + c[None, :]
    tl.store(y, total.to(tl.int32), mask=(r < rows)[:, None] & (c < columns)[None, :])


class ModelNew(nn.Module):
    def forward(self, x, weight):
        rows, depth = x.shape
        y = torch.empty(rows, weight.shape[0], device=x.device, dtype=torch.int32)
        grid = triton.cdiv(rows, 16), triton.cdiv(weight.shape[0], 16)
        product_kernel[grid](x, weight, y, rows, weight.shape[0], depth, SIDE=16, STEP=32)
        return y
