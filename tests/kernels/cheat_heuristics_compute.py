# rejected: calls ATen compute [D1]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x * x, dim=1)


def get_inputs():
    return [torch.randn(64, 200)]


def get_init_inputs():
    return []


ANSWER = {}


def work(args):
    ANSWER["y"] = (args["x_ptr"] * args["x_ptr"]).sum(1)
    return 128


@triton.heuristics({"BLOCK": work})
@triton.jit
def sum_kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0)
        total += x * x
    tl.store(y_ptr + row, tl.sum(total, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        sum_kernel[(x.shape[0],)](x, y, x.shape[1])
        return ANSWER["y"]
