"""DCNv2's compiled operator: a convolution whose taps are moved and weighted, as torchvision's is."""

from torchvision.ops import deform_conv2d


def dcn_v2_forward(
    input, weight, bias, offset, mask, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    deformable_groups,
):  # fmt: skip
    stride, padding, dilation = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    return deform_conv2d(input, offset, weight, bias, stride, padding, dilation, mask)
