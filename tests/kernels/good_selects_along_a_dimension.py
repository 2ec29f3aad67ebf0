# verified at trust [twin of D1]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, index):
        return torch.index_select(x, 1, index)


def get_inputs():
    return [torch.randn(6, 12, 20), torch.randint(0, 12, (12,))]


def get_init_inputs():
    return []


@triton.jit
def select(x, index, out, columns, selected, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    column = tl.load(index + at, mask=at < selected, other=0)
    value = tl.load(x + row * columns + column, mask=at < selected)
    tl.store(out + row * selected + at, value, mask=at < selected)


class ModelNew(nn.Module):
    def forward(self, x, index):
        x, index = x.transpose(1, 2).contiguous(), index.contiguous()  # what is selected from lies side by side
        out = torch.empty((*x.shape[:2], index.numel()), dtype=x.dtype, device=x.device)
        rows, columns, selected = x.shape[0] * x.shape[1], x.shape[2], index.numel()
        select[(rows, triton.cdiv(selected, 64))](x, index, out, columns, selected, BLOCK=64)
        return out.transpose(1, 2)
