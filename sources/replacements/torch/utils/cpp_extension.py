"""What known extensions compute, in torch, where a text would have them compiled; no other has a twin here.

They are StyleGAN2's CUDA operators and those of in-place activated batch normalisation below version 1, whose scale is
the size of the weight, and never zero (https://github.com/mapillary/inplace_abn).  What PyTorch-Encoding compiles
beside its package, in later versions inside of it, is called so.
"""

import torch
import torch.nn.functional as F
from enclib_cpu import aggregate_forward, scaled_l2_forward


class StyleGAN2Operators:
    def fused_bias_act(self, x, bias, refer, act, grad, alpha, scale):
        if bias.numel():
            x = x + bias.view(1, -1, *[1] * (x.dim() - 2))
        if act == 3:
            above = (refer if grad else x) > 0
            x = torch.where(above, x, x * alpha)
        return x * scale

    def upfirdn2d(self, x, kernel, up_x, up_y, down_x, down_y, pad_x0, pad_x1, pad_y0, pad_y1):
        planes, height, width, channels = x.shape
        x = x.permute(0, 3, 1, 2).reshape(-1, 1, height, 1, width, 1)
        x = F.pad(x, [0, up_x - 1, 0, 0, 0, up_y - 1]).reshape(-1, 1, height * up_y, width * up_x)
        x = F.pad(x, [pad_x0, pad_x1, pad_y0, pad_y1])
        x = F.conv2d(x, kernel.flip(0, 1)[None, None].to(x.dtype))[:, :, ::down_y, ::down_x]
        return x.reshape(planes, channels, *x.shape[2:]).permute(0, 2, 3, 1)


class InPlaceOperators:
    def mean_var(self, x):
        others = [d for d in range(x.dim()) if d != 1]
        return x.mean(others), x.var(others, unbiased=False)

    def forward(self, x, mean, var, weight, bias, affine, eps):
        shape = [1, -1, *[1] * (x.dim() - 2)]
        scale = torch.rsqrt(var + eps) * (weight.abs() + eps if affine else 1)
        x.sub_(mean.view(shape)).mul_(scale.view(shape))
        return x.add_(bias.view(shape)) if affine else x

    def leaky_relu_forward(self, x, slope):
        F.leaky_relu_(x, slope)

    def elu_forward(self, x):
        F.elu_(x)


class EncodingOperators:
    def aggregate_forward(self, a, x, c):
        return aggregate_forward(a, x, c)

    def scaled_l2_forward(self, x, c, s):
        return scaled_l2_forward(x, c, s)


def load(name, *args, **kwargs):
    if name == "enclib_cpu":
        return EncodingOperators()
    if name == "inplace_abn":
        return InPlaceOperators()
    return StyleGAN2Operators() if name in ("fused", "upfirdn2d") else None
