"""Convolutions as timm's networks ask for them."""

from timm.layers.conv2d_same import create_conv2d_pad


def create_conv2d(in_channels, out_channels, kernel_size, **kwargs):
    depthwise = kwargs.pop("depthwise", False)
    groups = in_channels if depthwise else kwargs.pop("groups", 1)
    return create_conv2d_pad(in_channels, out_channels, kernel_size, groups=groups, **kwargs)
