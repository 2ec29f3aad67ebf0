"""FlowNet's compiled correlation of two maps: it sizes and fills the output that it is given."""

import torch
import torch.nn.functional as F


def forward(
    input1, input2, rbot1, rbot2, output, pad_size, kernel_size, max_displacement, stride1, stride2, corr_multiply=1
):
    """The mean product of windows of the first map with those of the second that lie a multiple of ``stride2`` away."""
    one, other = F.pad(input1, [pad_size] * 4), F.pad(input2, [pad_size] * 4)
    radius, steps = (kernel_size - 1) // 2, max_displacement // stride2
    edge = max_displacement + radius
    height, width = one.shape[-2] - 2 * edge, one.shape[-1] - 2 * edge
    across = range(-steps * stride2, steps * stride2 + 1, stride2)
    found = []
    for down in across:
        for right in across:
            total = 0
            for i in range(-radius, radius + 1):
                for j in range(-radius, radius + 1):
                    top, left = edge + i, edge + j
                    here = one[..., top : top + height, left : left + width]
                    there = other[..., top + down : top + down + height, left + right : left + right + width]
                    total = total + (here * there)[..., ::stride1, ::stride1].sum(1)
            found.append(total / ((2 * radius + 1) ** 2 * input1.shape[1]))
    whole = torch.stack(found, dim=1)
    output.resize_(whole.shape).copy_(whole)
