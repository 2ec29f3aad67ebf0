"""What networks take from detectron2 beside its layers: backbones, points that are sampled, images of a batch."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from detectron2.layers import ShapeSpec


class Backbone(nn.Module):
    size_divisibility = 0

    @property
    def padding_constraints(self):
        return {}

    def output_shape(self):
        return {
            name: ShapeSpec(channels=self._out_feature_channels[name], stride=self._out_feature_strides[name])
            for name in self._out_features
        }


def retry_if_cuda_oom(func):
    return func


def point_sample(input, point_coords, **kwargs):
    alone = point_coords.dim() == 3
    coords = point_coords.unsqueeze(2) if alone else point_coords
    found = F.grid_sample(input, 2.0 * coords - 1.0, **kwargs)
    return found.squeeze(3) if alone else found


def sem_seg_postprocess(result, img_size, output_height, output_width):
    result = result[:, : img_size[0], : img_size[1]].expand(1, -1, -1, -1)
    return F.interpolate(result, size=(output_height, output_width), mode="bilinear", align_corners=False)[0]


class ImageList:
    def __init__(self, tensor, image_sizes):
        self.tensor, self.image_sizes = tensor, image_sizes

    def __len__(self):
        return len(self.image_sizes)

    def __getitem__(self, idx):
        height, width = self.image_sizes[idx]
        return self.tensor[idx, ..., :height, :width]

    @property
    def device(self):
        return self.tensor.device

    @staticmethod
    def from_tensors(tensors, size_divisibility=0, pad_value=0.0, padding_constraints=None):
        sizes = [(im.shape[-2], im.shape[-1]) for im in tensors]
        whole, wanted = [max(side) for side in zip(*sizes)], padding_constraints or {}
        if (square := wanted.get("square_size", 0)) > 0:
            whole = [square, square]
        size_divisibility = wanted.get("size_divisibility", size_divisibility)
        if size_divisibility > 1:
            whole = [(n + size_divisibility - 1) // size_divisibility * size_divisibility for n in whole]
        padded = [F.pad(im, (0, whole[1] - w, 0, whole[0] - h), value=pad_value) for im, (h, w) in zip(tensors, sizes)]
        return ImageList(torch.stack(padded), sizes)
