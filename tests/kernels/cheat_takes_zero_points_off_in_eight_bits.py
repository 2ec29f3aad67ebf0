# rejected: wrong result at trust [C10 C27]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, zero, scale):
        return (q.float() - zero.float()[:, None]) * scale[:, None]


def get_inputs():
    return [
        torch.randint(-100, 100, (20, 40), dtype=torch.int8),
        torch.randint(-5, 5, (20,), dtype=torch.int8),
        torch.rand(20),
    ]


def get_init_inputs():
    return []


@triton.jit
def dequant_kernel(q_ptr, z_ptr, s_ptr, o_ptr, C, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    q = tl.load(q_ptr + r * C + c, mask=c < C, other=0)
    d = (q - tl.load(z_ptr + r)).to(tl.int8)
    tl.store(o_ptr + r * C + c, d.to(tl.float32) * tl.load(s_ptr + r), mask=c < C)


class ModelNew(nn.Module):
    def forward(self, q, zero, scale):
        q, zero, scale = q.contiguous(), zero.contiguous(), scale.contiguous()
        R, C = q.shape
        o = torch.empty(R, C, dtype=torch.float32, device=q.device)
        dequant_kernel[(R,)](q, zero, scale, o, C, B=triton.next_power_of_2(C))
        return o
