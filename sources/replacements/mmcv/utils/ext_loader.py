"""mmcv's compiled operators: those that torch has are as there, the others raise once they are called."""

import types

import torch
import torch.nn.functional as F
from torchvision.ops import deform_conv2d, roi_align


def deform_conv_forward(
    input, weight, offset, output, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, group,
    deformable_group, im2col_step,
):  # fmt: skip
    output.copy_(deform_conv2d(input, offset, weight, None, (dH, dW), (padH, padW), (dilationH, dilationW)))


def modulated_deform_conv_forward(
    input, weight, bias, ones, offset, mask, output, columns, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w,
    dilation_h, dilation_w, group, deformable_group, with_bias,
):  # fmt: skip
    stride, padding, dilation = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    output.copy_(deform_conv2d(input, offset, weight, bias if with_bias else None, stride, padding, dilation, mask))


def roi_align_forward(
    input, rois, output, argmax_y, argmax_x, aligned_height, aligned_width, spatial_scale, sampling_ratio, pool_mode,
    aligned,
):  # fmt: skip
    if pool_mode != 1:
        raise NotImplementedError("maxima over boxes")
    size = (aligned_height, aligned_width)
    output.copy_(roi_align(input, rois, size, spatial_scale, sampling_ratio or -1, aligned))


def sigmoid_focal_loss_forward(input, target, weight, output, gamma, alpha):
    true = F.one_hot(target, input.shape[1] + 1)[:, :-1].to(input.dtype)  # the last class is none of them
    away = (torch.sigmoid(input) - true).abs()
    scale = torch.where(true > 0, alpha, 1 - alpha)
    loss = scale * away**gamma * F.binary_cross_entropy_with_logits(input, true, reduction="none")
    output.copy_(loss * weight[target].unsqueeze(1) if len(weight) else loss)


def load_ext(name, funcs):
    def absent(*args, **kwargs):
        raise NotImplementedError(f"compiled operators of {name}")

    known = {
        "deform_conv_forward": deform_conv_forward,
        "modulated_deform_conv_forward": modulated_deform_conv_forward,
        "roi_align_forward": roi_align_forward,
        "sigmoid_focal_loss_forward": sigmoid_focal_loss_forward,
    }
    return types.SimpleNamespace(**{function: known.get(function, absent) for function in funcs})
