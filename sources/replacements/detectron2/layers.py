"""Layers of detectron2 that are more than torch's own, and the names that it hands on."""

from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.ops import deform_conv2d, roi_align

ConvTranspose2d, Linear, BatchNorm2d = nn.ConvTranspose2d, nn.Linear, nn.BatchNorm2d
interpolate = F.interpolate
ShapeSpec = namedtuple("ShapeSpec", ["channels", "height", "width", "stride"], defaults=(None,) * 4)


class FrozenBatchNorm2d(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.num_features, self.eps = num_features, eps
        self.register_buffer("weight", torch.ones(num_features))
        self.register_buffer("bias", torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features) - eps)

    def forward(self, x):
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        bias = self.bias - self.running_mean * scale
        return x * scale.reshape(1, -1, 1, 1) + bias.reshape(1, -1, 1, 1)

    @classmethod
    def convert_frozen_batchnorm(cls, module):
        return module


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt((x - mean).pow(2).mean(1, keepdim=True) + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


def get_norm(norm, out_channels):
    if isinstance(norm, str):
        if not norm:
            return None
        norm = {
            "BN": nn.BatchNorm2d,
            "SyncBN": nn.BatchNorm2d,
            "naiveSyncBN": nn.BatchNorm2d,
            "nnSyncBN": nn.BatchNorm2d,
            "FrozenBN": FrozenBatchNorm2d,
            "GN": lambda channels: nn.GroupNorm(32, channels),
            "LN": LayerNorm,
        }[norm]
    return None if norm is None else norm(out_channels)


class Conv2d(nn.Conv2d):
    def __init__(self, *args, norm=None, activation=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.norm = norm
        self.activation = activation

    def forward(self, x):
        x = super().forward(x)
        x = x if self.norm is None else self.norm(x)
        return x if self.activation is None else self.activation(x)


class DeformConv(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
                 deformable_groups=1, bias=False, norm=None, activation=None):  # fmt: skip
        super().__init__()
        own = nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias)
        self.weight, self.bias = own.weight, own.bias
        self.stride, self.padding, self.dilation = own.stride, own.padding, own.dilation
        self.norm = norm
        self.activation = activation

    def forward(self, x, offset, mask=None):
        x = deform_conv2d(x, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask)
        x = x if self.norm is None else self.norm(x)
        return x if self.activation is None else self.activation(x)


class ModulatedDeformConv(DeformConv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
                 deformable_groups=1, bias=True, norm=None, activation=None):  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         deformable_groups, bias, norm, activation)  # fmt: skip


class ROIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=True):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


class CNNBlockBase(nn.Module):
    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.stride = stride

    def freeze(self):
        for parameter in self.parameters():
            parameter.requires_grad = False
        return self


def cat(tensors, dim=0):
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, dim)


def nonzero_tuple(x):
    return x.unsqueeze(0).nonzero().unbind(1) if x.dim() == 0 else x.nonzero().unbind(1)


def cross_entropy(input, target, *, reduction="mean", **kwargs):
    return F.cross_entropy(input, target, reduction=reduction, **kwargs)
