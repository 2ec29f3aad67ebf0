"""fvcore's initialisations and losses."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def c2_xavier_fill(module):
    nn.init.kaiming_uniform_(module.weight, a=1)
    if module.bias is not None:
        nn.init.constant_(module.bias, 0)


def c2_msra_fill(module):
    nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    if module.bias is not None:
        nn.init.constant_(module.bias, 0)


def reduced(loss, reduction):
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def sigmoid_focal_loss(inputs, targets, alpha=-1, gamma=2, reduction="none"):
    p = torch.sigmoid(inputs)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return reduced(loss, reduction)


sigmoid_focal_loss_jit = sigmoid_focal_loss


def smooth_l1_loss(input, target, beta, reduction="none"):
    n = torch.abs(input - target)
    loss = n if beta < 1e-5 else torch.where(n < beta, 0.5 * n**2 / beta, n - 0.5 * beta)
    return reduced(loss, reduction)


def giou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    width = (torch.min(x2, x2g) - torch.max(x1, x1g)).clamp(min=0)
    height = (torch.min(y2, y2g) - torch.max(y1, y1g)).clamp(min=0)
    inner = width * height
    union = (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - inner
    hull = (torch.max(x2, x2g) - torch.min(x1, x1g)) * (torch.max(y2, y2g) - torch.min(y1, y1g))
    return reduced(1 - inner / (union + eps) + (hull - union) / (hull + eps), reduction)


class FlopCountAnalysis:
    def __init__(self, model, inputs):
        model(*inputs) if isinstance(inputs, tuple) else model(inputs)

    def total(self):
        return 0
