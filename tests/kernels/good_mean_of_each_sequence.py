# verified at trust [twin of C8 C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, lengths):
        ids = torch.repeat_interleave(torch.arange(len(lengths), device=x.device), lengths)
        out = torch.zeros(len(lengths), x.shape[1], device=x.device, dtype=x.dtype)
        out.index_add_(0, ids, x)
        return out / lengths.clamp(min=1).unsqueeze(1)


def get_inputs():
    return [torch.randn(64, 16), torch.tensor([10, 30, 4, 20])]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(x_ptr, n_ptr, y_ptr, width, BLOCK: tl.constexpr):
    sequence = tl.program_id(0)
    start = tl.zeros((), tl.int64)
    for k in range(sequence):
        start += tl.load(n_ptr + k)
    length = tl.load(n_ptr + sequence)
    c = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(length):
        total += tl.load(x_ptr + (start + i) * width + c, mask=c < width, other=0.0)
    tl.store(y_ptr + sequence * width + c, total / tl.maximum(length, 1), mask=c < width)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        x, lengths = x.contiguous(), lengths.contiguous()
        y = torch.empty(lengths.shape[0], x.shape[1], device=x.device, dtype=x.dtype)
        mean_kernel[(lengths.shape[0],)](x, lengths, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
