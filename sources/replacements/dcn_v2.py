"""DCNv2, a package of its own that CenterNet's kin build: convolutions whose taps are moved and weighted, in torch."""

import math

import torch
import torch.nn as nn
from torch.nn.modules.utils import _pair
from torchvision.ops import deform_conv2d


def dcn_v2_conv(input, offset, mask, weight, bias, stride, padding, dilation, deformable_groups):
    stride, padding, dilation = _pair(stride), _pair(padding), _pair(dilation)
    assert mask.shape[1] == deformable_groups * weight.shape[2] * weight.shape[3]
    return deform_conv2d(input, offset, weight, bias, stride, padding, dilation, mask)


class DCNv2(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation=1, deformable_groups=1):
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding, self.dilation = _pair(padding), _pair(dilation)
        self.deformable_groups = deformable_groups
        bound = 1 / math.sqrt(in_channels * self.kernel_size[0] * self.kernel_size[1])
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, *self.kernel_size).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, input, offset, mask):
        taps = self.deformable_groups * self.kernel_size[0] * self.kernel_size[1]
        assert offset.shape[1] == 2 * taps
        assert mask.shape[1] == taps
        sizes = self.stride, self.padding, self.dilation
        return dcn_v2_conv(input, offset, mask, self.weight, self.bias, *sizes, self.deformable_groups)


class DCN(DCNv2):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation=1, deformable_groups=1):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, deformable_groups)
        taps = self.deformable_groups * self.kernel_size[0] * self.kernel_size[1]
        self.conv_offset_mask = nn.Conv2d(in_channels, 3 * taps, self.kernel_size, self.stride, self.padding)
        nn.init.zeros_(self.conv_offset_mask.weight)
        nn.init.zeros_(self.conv_offset_mask.bias)

    def forward(self, input):
        across, down, mask = self.conv_offset_mask(input).chunk(3, dim=1)
        return super().forward(input, torch.cat((across, down), dim=1), torch.sigmoid(mask))
