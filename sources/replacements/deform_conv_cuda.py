"""OpenMMLab's compiled deformable convolutions, under both of the names they had: each fills the output it is given."""

from torchvision.ops import deform_conv2d


def deform_conv_forward(
    input, weight, offset, output, columns, ones, kernel_w, kernel_h, stride_w, stride_h, pad_w, pad_h, dilation_w,
    dilation_h, groups, deformable_groups, im2col_step,
):  # fmt: skip
    assert offset.dim() == 4
    assert offset.shape[1] == 2 * deformable_groups * kernel_h * kernel_w
    assert offset.shape[2] == output.shape[2]
    assert offset.shape[3] == output.shape[3]
    stride, padding, dilation = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    output.copy_(deform_conv2d(input, offset, weight, None, stride, padding, dilation))


def modulated_deform_conv_forward(
    input, weight, bias, ones, offset, mask, output, columns, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w,
    dilation_h, dilation_w, groups, deformable_groups, with_bias,
):  # fmt: skip
    assert offset.shape[1] == 2 * deformable_groups * kernel_h * kernel_w
    assert mask.shape[1] == deformable_groups * kernel_h * kernel_w
    stride, padding, dilation = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    output.copy_(deform_conv2d(input, offset, weight, bias if with_bias else None, stride, padding, dilation, mask))


deform_conv_forward_cuda = deform_conv_forward
modulated_deform_conv_cuda_forward = modulated_deform_conv_forward
