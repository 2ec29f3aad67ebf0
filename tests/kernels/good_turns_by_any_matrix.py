# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Moves clouds of points: each by a matrix and an offset."""

    def forward(self, points, turn, offset):
        return points @ turn.transpose(1, 2) + offset[:, None]


def get_inputs():
    return [torch.randn(4, 60, 3), torch.eye(3).repeat(4, 1, 1), torch.randn(4, 3)]


def get_init_inputs():
    return []


@triton.jit
def move_kernel(x_ptr, t_ptr, o_ptr, y_ptr, n, D, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    b = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, WIDTH)
    inside = (i[:, None] < n) & (d[None, :] < D)
    y = tl.zeros((BLOCK, WIDTH), tl.float32)
    for k in range(D):
        x = tl.load(x_ptr + (b * n + i) * D + k, mask=i < n, other=0.0)
        turn = tl.load(t_ptr + b * D * D + d * D + k, mask=d < D, other=0.0)
        y += x[:, None] * turn[None, :]
    y += tl.load(o_ptr + b * D + d, mask=d < D, other=0.0)[None, :]
    tl.store(y_ptr + (b * n + i)[:, None] * D + d[None, :], y, mask=inside)


class ModelNew(nn.Module):
    def forward(self, points, turn, offset):
        points, turn, offset = points.contiguous(), turn.contiguous(), offset.contiguous()
        y = torch.empty_like(points)
        batch, n, width = points.shape
        grid = batch, triton.cdiv(n, 32)
        move_kernel[grid](points, turn, offset, y, n, width, BLOCK=32, WIDTH=triton.next_power_of_2(width))
        return y
