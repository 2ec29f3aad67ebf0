# rejected: wrong result at trust [A21]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.fc = nn.Linear(d, h)

    def forward(self, x):
        return self.fc(x)


def get_inputs():
    return [torch.randn(8, 20)]


def get_init_inputs():
    return [20, 12]


@triton.jit
def linear(x, w, b, o, K, N, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1)
    k = tl.arange(0, B)
    m = k < K
    s = tl.sum(tl.load(x + r * K + k, mask=m, other=0.0) * tl.load(w + k * N + c, mask=m, other=0.0), 0)
    tl.store(o + r * N + c, s + tl.load(b + c))


class ModelNew(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.fc = nn.Linear(d, h)
        self.packed = None
        self.register_load_state_dict_post_hook(self.pack)

    @staticmethod
    def pack(module, keys):
        module.packed = None

    def forward(self, x):
        x = x.contiguous()
        w = self.fc.weight
        if self.packed is None or self.packed.device != w.device or self.packed.dtype != w.dtype:
            self.packed = w.detach().t().contiguous()
        h, d = w.shape
        o = torch.empty(*x.shape[:-1], h, device=x.device, dtype=x.dtype)
        linear[(x.numel() // d, h)](x, self.packed, self.fc.bias, o, d, h, B=triton.next_power_of_2(d))
        return o
