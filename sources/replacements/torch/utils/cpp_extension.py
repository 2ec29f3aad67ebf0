"""What StyleGAN2's CUDA extensions compute, in torch, where a text would have them compiled; no other has a twin here."""

import torch
import torch.nn.functional as F


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


def load(name, *args, **kwargs):
    return StyleGAN2Operators() if name in ("fused", "upfirdn2d") else None
