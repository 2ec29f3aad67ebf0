"""FlowNet2's compiled warp of an image by a flow in pixels: it fills the output that it is given."""

import torch
import torch.nn.functional as F


def forward(input1, input2, output, kernel_size, bilinear=True):
    """What lies beyond the image is its edge; windows of several pixels are summed, as the kernel does."""
    height, width = input1.shape[-2:]
    rows, columns = torch.meshgrid(*(torch.arange(n) for n in input2.shape[-2:]), indexing="ij")
    total = torch.zeros_like(output)
    for down in range(kernel_size):
        for right in range(kernel_size):
            x, y = columns + right + input2[:, 0], rows + down + input2[:, 1]
            grid = torch.stack([2 * x / max(width - 1, 1) - 1, 2 * y / max(height - 1, 1) - 1], dim=-1)
            mode = "bilinear" if bilinear else "nearest"
            total += F.grid_sample(input1, grid, mode, padding_mode="border", align_corners=True)
    output.copy_(total)
