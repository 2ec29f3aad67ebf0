# verified [twin of C13 C14]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b, c):
        return torch.exp(a), torch.exp(b), torch.exp(c.t())


def get_inputs():
    return [torch.randn(20, 33), torch.randn(70), torch.randn(9, 40)]


def get_init_inputs():
    return []


@triton.jit
def exp_kernel(from_ptrs, to_ptrs, sizes_ptr, BLOCK: tl.constexpr):
    group = tl.program_id(1)
    x_ptr = tl.load(from_ptrs + group).to(tl.pointer_type(tl.float32))
    y_ptr = tl.load(to_ptrs + group).to(tl.pointer_type(tl.float32))
    n = tl.load(sizes_ptr + group)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.exp(x), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b, c):
        group = [a.contiguous(), b.contiguous(), c.t().contiguous()]
        made = [torch.empty_like(x) for x in group]
        sources = torch.tensor([x.data_ptr() for x in group], device=a.device)
        targets = torch.tensor([y.data_ptr() for y in made], device=a.device)
        sizes = torch.tensor([x.numel() for x in group], dtype=torch.int32, device=a.device)
        blocks = triton.cdiv(max(x.numel() for x in group), 256)
        exp_kernel[(blocks, 3)](sources, targets, sizes, BLOCK=256)
        return tuple(made)
