# verified [where each bag begins is no order that may be changed, and its last is no size]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(words, dim))

    def forward(self, ids, offsets):
        return F.embedding_bag(ids, self.weight, offsets, mode="mean")


def get_inputs():
    ids = torch.randint(0, 50000, (65536,))
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), torch.randint(0, 65536, (4095,)).sort()[0]])
    return [ids, offsets]


def get_init_inputs():
    return [50000, 96]


@triton.jit
def bag_kernel(ids_ptr, off_ptr, w_ptr, y_ptr, bags, total, D, BL: tl.constexpr, BD: tl.constexpr):
    bag = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    begin = tl.load(off_ptr + bag)
    end = tl.load(off_ptr + bag + 1, mask=bag + 1 < bags, other=total)
    acc = tl.zeros([BD], tl.float32)
    for start in range(begin, end, BL):
        at = start + tl.arange(0, BL)
        row = tl.load(ids_ptr + at, mask=at < end, other=0)
        w = tl.load(w_ptr + row[:, None] * D + d[None, :], mask=(at < end)[:, None] & (d < D)[None, :], other=0.0)
        acc += tl.sum(w.to(tl.float32), 0)
    count = tl.maximum(end - begin, 1).to(tl.float32)
    tl.store(y_ptr + bag * D + d, (acc / count).to(y_ptr.dtype.element_ty), mask=d < D)


class ModelNew(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(words, dim))

    def forward(self, ids, offsets):
        ids, offsets, w = ids.contiguous(), offsets.contiguous(), self.weight.contiguous()
        bags, d = offsets.shape[0], w.shape[1]
        y = torch.empty(bags, d, dtype=w.dtype, device=w.device)
        bag_kernel[(bags, triton.cdiv(d, 64))](ids, offsets, w, y, bags, ids.shape[0], d, BL=16, BD=64)
        return y
