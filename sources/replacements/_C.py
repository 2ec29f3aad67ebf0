"""Operators that maskrcnn-benchmark and its many descendants compile beside their Python, as ``from package import _C``.

And those of Deformable DETR's, which go by that name as well.
"""

import torch
from deform_conv_cuda import deform_conv_forward, modulated_deform_conv_forward  # noqa: F401 - taken from here
from MultiScaleDeformableAttention import ms_deform_attn_forward  # noqa: F401 - taken from here
from torchvision.ops import roi_align


def _kept(boxes, scores, threshold, shared):
    """Numbers of boxes that no better one covers; ``shared`` tells which can cover each other."""
    if len(boxes) == 0:
        return torch.empty(0, dtype=torch.long, device=boxes.device)
    order = scores.argsort(descending=True, stable=True)
    boxes, shared = boxes[order], shared[order][:, order]
    area = (boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)
    low = torch.maximum(boxes[:, None, :2], boxes[:, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[:, 2:])
    common = (high - low + 1).clamp(min=0).prod(dim=2)
    covers = (common / (area[:, None] + area - common) > threshold) & shared
    kept = torch.ones_like(scores, dtype=torch.bool)
    for i in range(len(boxes) - 1):
        kept[i + 1 :] &= ~(covers[i, i + 1 :] & kept[i])
    return order[kept].sort().values


def nms(boxes, scores, threshold):
    return _kept(boxes, scores, threshold, scores.new_ones(len(scores), len(scores), dtype=torch.bool))


def ml_nms(boxes, scores, labels, threshold):
    return _kept(boxes, scores, threshold, labels[:, None] == labels)


def roi_align_forward(input, rois, spatial_scale, rows, columns, sampling_ratio, aligned=False):
    return roi_align(input, rois, (rows, columns), spatial_scale, sampling_ratio, aligned)


def roi_pool_forward(input, rois, spatial_scale, rows, columns):
    """The largest of each bin, and where it is; of a bin beside the image 0, and nowhere."""
    height, width = input.shape[2:]
    corners = (rois[:, 1:] * spatial_scale + 0.5).floor()
    sizes = (corners[:, 2:] - corners[:, :2] + 1).clamp(min=1)

    def inside(start, size, bins, side):
        """Of each bin along one side, the pixels that are in it."""
        number = torch.arange(bins, device=input.device)
        first = ((number * (size / bins)[:, None]).floor() + start[:, None]).clamp(0, side)
        last = (((number + 1) * (size / bins)[:, None]).ceil() + start[:, None]).clamp(0, side)
        place = torch.arange(side, device=input.device)
        return (place >= first[..., None]) & (place < last[..., None])

    down = inside(corners[:, 1], sizes[:, 1], rows, height)
    across = inside(corners[:, 0], sizes[:, 0], columns, width)
    pixels = (down[:, :, None, :, None] & across[:, None, :, None, :]).flatten(3)
    maps = input[rois[:, 0].long()].flatten(2)
    values = maps[:, :, None, None].masked_fill(~pixels[:, None], -float("inf"))
    answer, place = values.max(-1)
    empty = ~pixels.any(-1)[:, None].expand_as(answer)
    return answer.masked_fill(empty, 0.0), place.masked_fill(empty, -1)


def sigmoid_focalloss_forward(logits, targets, num_classes, gamma, alpha):
    """Of each row and class; targets count from 1, 0 is the background, and rows below are left out."""
    targets = targets.reshape(-1, 1).long()
    own = targets == torch.arange(1, num_classes + 1, device=logits.device)
    p = logits.sigmoid()
    hit = -alpha * (1 - p) ** gamma * torch.nn.functional.logsigmoid(logits)
    miss = -(1 - alpha) * p**gamma * torch.nn.functional.logsigmoid(-logits)
    return torch.where(own, hit, torch.where(targets >= 0, miss, torch.zeros_like(logits)))


def deform_psroi_pooling_forward(
    data, rois, moved, output, count, unmoved, spatial_scale, channels, groups, size, parts, samples, deviation
):
    """Means over samples of bins, each moved by a share of its box; bins may have maps of their own (``groups``)."""
    number, (height, width) = len(rois), data.shape[2:]
    start = (rois[:, 1:3] + 0.5).floor() * spatial_scale - 0.5
    extent = (((rois[:, 3:5] + 0.5).floor() + 1) * spatial_scale - 0.5 - start).clamp(min=0.1)
    bins, step = torch.arange(size, device=data.device), torch.arange(samples, device=data.device)
    kinds = 1 if unmoved else moved.shape[1] // 2
    part = bins * parts // size
    shift = moved.view(number, kinds, 2, parts, parts)[..., part[:, None], part] * deviation if not unmoved else None

    def places(axis, bin, side):
        """Where samples are along one axis, and whether that is inside."""
        first, whole = start[:, axis].view(-1, 1, 1, 1), extent[:, axis].view(-1, 1, 1, 1)
        at = first + bin * whole / size + (0.0 if shift is None else shift[:, :, axis] * whole)
        at = at.expand(number, kinds, size, size)[..., None] + step * (whole / size / samples)[..., None]
        return at.clamp(0, side - 1), (at >= -0.5) & (at <= side - 0.5)

    x, inside_x = places(0, bins, width)
    y, inside_y = places(1, bins[:, None], height)
    x, y, inside = x[..., None, :], y[..., None], inside_x[..., None, :] & inside_y[..., None]
    group = bins * groups // size
    maps = data[rois[:, 0].long()].view(number, kinds, channels // kinds, groups, groups, height, width)
    maps = maps.permute(0, 1, 3, 4, 5, 6, 2)
    box = torch.arange(number, device=data.device).view(-1, 1, 1, 1, 1, 1)
    kind = torch.arange(kinds, device=data.device).view(-1, 1, 1, 1, 1)
    values = 0.0
    for row, high in ((y.floor(), 1 - y % 1), (y.ceil(), y % 1)):
        for column, wide in ((x.floor(), 1 - x % 1), (x.ceil(), x % 1)):
            taken = maps[box, kind, group.view(-1, 1, 1, 1), group.view(-1, 1, 1), row.long(), column.long()]
            values = values + taken * (high * wide)[..., None]
    counted = inside.sum((4, 5))[..., None]
    means = (values * inside[..., None]).sum((4, 5)) / counted.clamp(min=1)
    output.copy_(means.permute(0, 1, 4, 2, 3).reshape(output.shape))
    count.copy_(counted.expand_as(means).permute(0, 1, 4, 2, 3).reshape(count.shape))
