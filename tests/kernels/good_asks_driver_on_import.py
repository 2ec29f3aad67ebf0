# verified [twin of E13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(40, 33)]


def get_init_inputs():
    return []


DEVICE = triton.runtime.driver.active.get_active_torch_device()
properties = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
PROGRAMS = max(properties["multiprocessor_count"], torch.cuda.get_device_properties(DEVICE).multi_processor_count)
FULL_WARPS = torch.ones(4, device="cuda").numel()


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def get_autotune_config():
    warps = (2, FULL_WARPS) if is_cuda() else (1, 2)
    return [triton.Config({}, num_warps=w, num_stages=2) for w in warps]


@triton.autotune(configs=get_autotune_config(), key=["cols"])
@triton.jit
def softmax_kernel(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        i = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=float("-inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        assert x.device == DEVICE
        y = torch.empty_like(x)
        softmax_kernel[(min(PROGRAMS, rows),)](x, y, rows, cols, BLOCK=triton.next_power_of_2(cols))
        return y
