# verified [twin of D10]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, labels):
        return x * 2.0 + labels.float()[:, None]


def get_inputs():
    return [torch.randn(32, 64), torch.randint(0, 9, (32,))]


def get_init_inputs():
    return []


@triton.jit
def add_label_kernel(x_ptr, labels_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    label = tl.load(labels_ptr + row).to(tl.float32)
    tl.store(y_ptr + row * columns + i, x * 2.0 + label, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x, labels):
        y = torch.empty_like(x)
        add_label_kernel[(x.shape[0],)](
            x, labels.to(torch.int32), y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1])
        )
        return y
