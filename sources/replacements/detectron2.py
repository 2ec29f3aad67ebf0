"""The layers and shapes that networks take from detectron2: convolutions with a norm, backbones, images of a batch."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ShapeSpec:
    def __init__(self, channels=None, height=None, width=None, stride=None):
        self.channels, self.height, self.width, self.stride = channels, height, width, stride


class Conv2d(nn.Conv2d):
    def __init__(self, *args, norm=None, activation=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.norm = norm
        self.activation = activation

    def forward(self, x):
        x = super().forward(x)
        x = x if self.norm is None else self.norm(x)
        return x if self.activation is None else self.activation(x)


ConvTranspose2d, BatchNorm2d, Linear = nn.ConvTranspose2d, nn.BatchNorm2d, nn.Linear
interpolate = F.interpolate


class FrozenBatchNorm2d(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.num_features, self.eps = num_features, eps
        self.register_buffer("weight", torch.ones(num_features))
        self.register_buffer("bias", torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features) - eps)

    def forward(self, x):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)


def get_norm(norm, out_channels):
    if norm is None or norm == "":
        return None
    if isinstance(norm, str):
        batch = nn.BatchNorm2d  # of one process
        norm = {"FrozenBN": FrozenBatchNorm2d, "GN": lambda channels: nn.GroupNorm(32, channels)}.get(norm, batch)
    return norm(out_channels)


def cat(tensors, dim=0):
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, dim)


def nonzero_tuple(x):
    return x.unsqueeze(0).nonzero().unbind(1) if x.dim() == 0 else x.nonzero().unbind(1)


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
        whole = [max(side) for side in zip(*sizes)]
        if size_divisibility > 1:
            whole = [(n + size_divisibility - 1) // size_divisibility * size_divisibility for n in whole]
        padded = [F.pad(im, (0, whole[1] - w, 0, whole[0] - h), value=pad_value) for im, (h, w) in zip(tensors, sizes)]
        return ImageList(torch.stack(padded), sizes)
