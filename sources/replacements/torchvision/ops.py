"""What models use of torchvision.ops, in plain torch; written anew for tasks."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class FrozenBatchNorm2d(nn.Module):
    """Batch normalisation with fixed statistics and affine parameters."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", torch.ones(num_features))
        self.register_buffer("bias", torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, x):
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        shift = self.bias - self.running_mean * scale
        return x * scale.view(1, -1, 1, 1) + shift.view(1, -1, 1, 1)


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(boxes1, boxes2):
    low = torch.maximum(boxes1[:, None, :2], boxes2[:, :2])
    high = torch.minimum(boxes1[:, None, 2:], boxes2[:, 2:])
    shared = (high - low).clamp(min=0).prod(dim=2)
    return shared / (box_area(boxes1)[:, None] + box_area(boxes2) - shared)


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def deform_conv2d(input, offset, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mask=None):
    batch, channels, height, width = input.shape
    (down, across), (rows, columns) = _pair(dilation), weight.shape[2:]
    high, wide = offset.shape[2:]
    groups, taps = offset.shape[1] // (2 * rows * columns), rows * columns
    y, x = offset.view(batch, groups, taps, 2, high, wide).unbind(3)
    y = y + (torch.arange(rows, device=x.device) * down).repeat_interleave(columns).view(-1, 1, 1)
    x = x + (torch.arange(columns, device=x.device) * across).repeat(rows).view(-1, 1, 1)
    y = y + torch.arange(high, device=x.device).view(-1, 1) * _pair(stride)[0] - _pair(padding)[0]
    x = x + torch.arange(wide, device=x.device) * _pair(stride)[1] - _pair(padding)[1]
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    planes = input.reshape(batch * groups, channels // groups, height, width)
    taken = F.grid_sample(planes, grid.view(batch * groups, taps * high, wide, 2), align_corners=False)
    taken = taken.view(batch, groups, channels // groups, taps, high, wide)
    if mask is not None:
        taken = taken * mask.view(batch, groups, 1, taps, high, wide)
    parts = channels // weight.shape[1]
    taken = taken.reshape(batch, parts, weight.shape[1] * taps, high * wide)
    answer = weight.reshape(parts, -1, weight.shape[1] * taps) @ taken
    answer = answer.view(batch, -1, high, wide)
    return answer if bias is None else answer + bias.view(-1, 1, 1)


class DeformConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
        super().__init__()
        self.stride, self.padding, self.dilation = _pair(stride), _pair(padding), _pair(dilation)
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels // groups, *_pair(kernel_size)))
        nn.init.kaiming_uniform_(self.weight, a=5**0.5)
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def forward(self, input, offset, mask=None):
        return deform_conv2d(input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask)


def stochastic_depth(input, p, mode, training=True):
    if not training or p == 0.0:
        return input
    size = [input.shape[0]] + [1] * (input.ndim - 1) if mode == "row" else [1] * input.ndim
    return input * input.new_empty(size).bernoulli_(1.0 - p).div_(1.0 - p)


class StochasticDepth(nn.Module):
    def __init__(self, p, mode):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)


class Permute(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return torch.permute(x, self.dims)


class SqueezeExcitation(nn.Module):
    def __init__(self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, x):
        return x * self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x)))))


class Conv2dNormActivation(nn.Sequential):
    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
                 norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU, dilation=1, inplace=None, bias=None):  # fmt: skip
        padding = (kernel_size - 1) // 2 * dilation if padding is None else padding
        bias = norm_layer is None if bias is None else bias
        layers = [nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)
        self.out_channels = out_channels


ConvNormActivation = Conv2dNormActivation


def _bilinear(planes, image, y, x):
    """Of each image that is named, values between pixels at all rows y and columns x; nothing lies beyond a border."""
    height, width = planes.shape[2:]
    inside = ((y >= -1) & (y <= height))[:, :, None] & ((x >= -1) & (x <= width))[:, None, :]
    y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
    top, left = y.floor().long(), x.floor().long()
    down, across = y - top, x - left
    answer = 0.0
    for row, high in ((top, 1 - down), ((top + 1).clamp(max=height - 1), down)):
        for column, wide in ((left, 1 - across), ((left + 1).clamp(max=width - 1), across)):
            taken = planes[image[:, None, None], :, row[:, :, None], column[:, None, :]]
            answer = answer + taken * (high[:, :, None] * wide[:, None, :])[..., None]
    return answer * inside[..., None]


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Means over the bins of boxes, which are (image, x1, y1, x2, y2), or a list of (x1, y1, x2, y2) for each image."""
    if isinstance(boxes, (list, tuple)):
        numbered = [F.pad(b, (1, 0), value=float(i)) for i, b in enumerate(boxes)]
        boxes = torch.cat(numbered)
    rows, columns = _pair(output_size)
    x1, y1, x2, y2 = (boxes[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)).unbind(1)
    least = -float("inf") if aligned else 1.0
    high, wide = (y2 - y1).clamp(min=least) / rows, (x2 - x1).clamp(min=least) / columns
    if sampling_ratio > 0:
        down, across = torch.full_like(high, sampling_ratio), torch.full_like(wide, sampling_ratio)
        most = sampling_ratio
    else:
        down, across = high.ceil(), wide.ceil()
        most = max(1, int(torch.cat([down, across, down.new_ones(1)]).max()))
    step = torch.arange(most, device=input.device)
    bins = torch.arange(max(rows, columns), device=input.device)

    def places(start, size, count, number):
        within = (step + 0.5) * (size / count.clamp(min=1))[:, None]
        return start[:, None, None] + bins[:number, None] * size[:, None, None] + within[:, None, :]

    y, x = places(y1, high, down, rows), places(x1, wide, across, columns)
    values = _bilinear(input, boxes[:, 0].long(), y.flatten(1), x.flatten(1))
    values = values.view(len(boxes), rows, most, columns, most, -1)
    counted = (step < down[:, None])[:, None, :, None, None, None] & (step < across[:, None])[
        :, None, None, None, :, None
    ]
    means = (values * counted).sum((2, 4)) / (down * across).clamp(min=1).view(-1, 1, 1, 1)
    return means.permute(0, 3, 1, 2)


class RoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)
