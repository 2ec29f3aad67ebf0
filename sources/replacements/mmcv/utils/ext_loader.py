"""mmcv's compiled operators: those that torch has are as there, the others raise once they are called."""

import types

import torch
import torch.nn.functional as F
from pointnet2_ops._ext import ball_query, furthest_point_sampling, gather_points, group_points
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


def softmax_focal_loss_forward(input, target, weight, output, gamma, alpha):
    true = input.gather(1, target.unsqueeze(1)).squeeze(1)
    loss = -alpha * (1 - true) ** gamma * true.clamp(min=torch.finfo(input.dtype).tiny).log()
    output.copy_(loss * weight[target] if len(weight) else loss)


def furthest_point_sampling_forward(points_xyz, temp, output, b, n, m):
    output.copy_(furthest_point_sampling(points_xyz, m))


def furthest_point_sampling_with_dist_forward(points_dist, temp, output, b, n, m):
    chosen, away = torch.zeros_like(output[:, 0], dtype=torch.long), temp
    for i in range(m):
        output[:, i] = chosen
        away = torch.minimum(away, points_dist[torch.arange(len(chosen)), chosen])
        chosen = away.argmax(dim=1)


def ball_query_forward(center_xyz, xyz, idx, b, n, m, min_radius, max_radius, nsample):
    if min_radius:
        raise NotImplementedError("balls with a hole")
    idx.copy_(ball_query(center_xyz, xyz, max_radius, nsample))


def group_points_forward(b, c, n, npoints, nsample, features, indices, output):
    output.copy_(group_points(features, indices))


def gather_points_forward(features, indices, output, b, c, n, npoints):
    output.copy_(gather_points(features, indices))


def carafe_naive_forward(features, masks, output, kernel_size, group_size, scale_factor):
    n, c, h, w = features.shape
    near = F.unfold(features, kernel_size, padding=kernel_size // 2).view(n, c * kernel_size**2, h, w)
    near = near.repeat_interleave(scale_factor, 2).repeat_interleave(scale_factor, 3)
    near = near.view(n, group_size, c // group_size, kernel_size**2, *output.shape[2:])
    weights = masks.view(n, group_size, 1, kernel_size**2, *output.shape[2:])
    output.copy_((near * weights).sum(3).view(output.shape))


def carafe_forward(features, masks, rfeatures, routput, rmasks, output, kernel_size, group_size, scale_factor):
    carafe_naive_forward(features, masks, output, kernel_size, group_size, scale_factor)


def load_ext(name, funcs):
    def absent(*args, **kwargs):
        raise NotImplementedError(f"compiled operators of {name}")

    known = {
        "deform_conv_forward": deform_conv_forward,
        "modulated_deform_conv_forward": modulated_deform_conv_forward,
        "roi_align_forward": roi_align_forward,
        "sigmoid_focal_loss_forward": sigmoid_focal_loss_forward,
        "softmax_focal_loss_forward": softmax_focal_loss_forward,
        "furthest_point_sampling_forward": furthest_point_sampling_forward,
        "furthest_point_sampling_with_dist_forward": furthest_point_sampling_with_dist_forward,
        "ball_query_forward": ball_query_forward,
        "group_points_forward": group_points_forward,
        "gather_points_forward": gather_points_forward,
        "carafe_naive_forward": carafe_naive_forward,
        "carafe_forward": carafe_forward,
    }
    return types.SimpleNamespace(**{function: known.get(function, absent) for function in funcs})
