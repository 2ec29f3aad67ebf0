# verified [twin of C12]
import torch
import triton
import triton.language as tl
from torch import nn

ROWS, COLUMNS = 40, 96


class Model(nn.Module):
    def forward(self, x):
        return x.square().sum()


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []


@triton.jit
def squares_kernel(x_ptr, share_ptr, ticket_ptr, y_ptr, n, programs, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    i = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(share_ptr + program, tl.sum(x * x, 0))
    ticket = tl.atomic_add(ticket_ptr, 1)
    if ticket == programs - 1:
        total = 0.0
        for start in range(0, programs, PROGRAMS):
            p = start + tl.arange(0, PROGRAMS)
            total += tl.sum(tl.load(share_ptr + p, mask=p < programs, other=0.0), 0)
        tl.store(y_ptr, total)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        programs = triton.cdiv(x.numel(), 256)
        share = torch.empty(programs, device=x.device, dtype=torch.float32)
        ticket = torch.zeros(1, device=x.device, dtype=torch.int32)
        y = torch.empty((), device=x.device, dtype=x.dtype)
        squares_kernel[(programs,)](x, share, ticket, y, x.numel(), programs, PROGRAMS=64, BLOCK=256)
        return y
