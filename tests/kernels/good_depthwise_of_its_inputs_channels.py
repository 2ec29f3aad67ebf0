# verified [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels, k):
        super().__init__()
        self.w = nn.Parameter(torch.randn(channels, 1, k, k))
        self.k = k

    def forward(self, x):
        return F.conv2d(x, self.w, padding=self.k // 2, groups=x.shape[1])


def get_inputs():
    return [torch.randn(4, 64, 32, 32)]


def get_init_inputs():
    return [64, 3]


@triton.jit
def depthwise_kernel(x, w, y, C, H, W, P, KS: tl.constexpr, BLOCK: tl.constexpr):
    bc = tl.program_id(0)
    c = bc % C
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = i < H * W
    r = i // W
    q = i % W
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for a in tl.static_range(KS):
        for b in tl.static_range(KS):
            rr = r + a - P
            qq = q + b - P
            ok = m & (rr >= 0) & (rr < H) & (qq >= 0) & (qq < W)
            acc += tl.load(x + bc * H * W + rr * W + qq, mask=ok, other=0.0) * tl.load(w + c * KS * KS + a * KS + b)
    tl.store(y + bc * H * W + i, acc, mask=m)


class ModelNew(nn.Module):
    def __init__(self, channels, k):
        super().__init__()
        self.w = nn.Parameter(torch.randn(channels, 1, k, k))
        self.k = k

    def forward(self, x):
        x = x.contiguous()
        B, C, H, W = x.shape
        y = torch.empty_like(x)
        depthwise_kernel[(B * C, triton.cdiv(H * W, 256))](x, self.w, y, C, H, W, self.k // 2, KS=self.k, BLOCK=256)
        return y
