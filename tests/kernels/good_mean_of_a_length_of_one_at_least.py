# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, n):
        mask = torch.arange(a.shape[1], device=a.device)[None, :] < n[:, None]
        return (a * mask).sum(1) / n.clamp(min=1)


def get_inputs():
    return [torch.randn(16, 32), torch.randint(1, 33, (16,))]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(a_ptr, n_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    n = tl.load(n_ptr + r)
    inside = (j < columns) & (j < n)
    a = tl.load(a_ptr + r * columns + j, mask=inside, other=0.0)
    count = tl.sum(inside.to(tl.float32))
    tl.store(y_ptr + r, tl.sum(a) / tl.maximum(n, 1).to(tl.float32))


class ModelNew(nn.Module):
    def forward(self, a, n):
        a, n = a.contiguous(), n.contiguous()
        y = torch.empty(a.shape[0], device=a.device)
        mean_kernel[(a.shape[0],)](a, n, y, a.shape[1], BLOCK=triton.next_power_of_2(a.shape[1]))
        return y
