"""What models use of timm.layers, in plain torch; written anew for tasks, with timm's names and arguments."""

import collections.abc
import math
from itertools import repeat

import torch
import torch.nn as nn
import torch.nn.functional as F

IMAGENET_DEFAULT_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEFAULT_STD = (0.229, 0.224, 0.225)


def to_ntuple(n):
    def parse(x):
        return tuple(x) if isinstance(x, collections.abc.Iterable) and not isinstance(x, str) else tuple(repeat(x, n))

    return parse


def _ntuple(n):
    return to_ntuple(n)


def to_1tuple(x):
    return to_ntuple(1)(x)


def to_2tuple(x):
    return to_ntuple(2)(x)


def to_3tuple(x):
    return to_ntuple(3)(x)


def to_4tuple(x):
    return to_ntuple(4)(x)


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    new = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    return new + divisor if new < round_limit * v else new


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return nn.init.trunc_normal_(tensor, mean, std, a, b)


def trunc_normal_tf_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    nn.init.trunc_normal_(tensor, 0.0, 1.0, a, b)
    with torch.no_grad():
        return tensor.mul_(std).add_(mean)


def lecun_normal_(tensor):
    return nn.init.trunc_normal_(tensor, std=math.sqrt(1.0 / nn.init._calculate_fan_in_and_fan_out(tensor)[0]))


def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True):
    if drop_prob == 0.0 or not training:
        return x
    kept = 1 - drop_prob
    mask = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(kept)
    return x * (mask / kept if scale_by_keep and kept > 0.0 else mask)


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        super().__init__()
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training, self.scale_by_keep)


class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, norm_layer=None,
                 bias=True, drop=0.0, use_conv=False):  # fmt: skip
        super().__init__()
        hidden_features, out_features = hidden_features or in_features, out_features or in_features
        layer = (lambda i, o, bias: nn.Conv2d(i, o, 1, bias=bias)) if use_conv else nn.Linear
        biases, drops = to_2tuple(bias), to_2tuple(drop)
        self.fc1 = layer(in_features, hidden_features, bias=biases[0])
        self.act = act_layer()
        self.drop1 = nn.Dropout(drops[0])
        self.norm = norm_layer(hidden_features) if norm_layer is not None else nn.Identity()
        self.fc2 = layer(hidden_features, out_features, bias=biases[1])
        self.drop2 = nn.Dropout(drops[1])

    def forward(self, x):
        return self.drop2(self.fc2(self.norm(self.drop1(self.act(self.fc1(x))))))


class PatchEmbed(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768, norm_layer=None, flatten=True,
                 bias=True, strict_img_size=True):  # fmt: skip
        super().__init__()
        self.img_size, self.patch_size = to_2tuple(img_size), to_2tuple(patch_size)
        self.grid_size = tuple(s // p for s, p in zip(self.img_size, self.patch_size))
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.flatten = flatten
        self.proj = nn.Conv2d(in_chans, embed_dim, self.patch_size, self.patch_size, bias=bias)
        self.norm = norm_layer(embed_dim) if norm_layer else nn.Identity()

    def forward(self, x):
        x = self.proj(x)
        if self.flatten:
            x = x.flatten(2).transpose(1, 2)
        return self.norm(x)


class Attention(nn.Module):
    def __init__(self, dim, num_heads=8, qkv_bias=False, qk_norm=False, attn_drop=0.0, proj_drop=0.0,
                 norm_layer=nn.LayerNorm, qk_scale=None):  # fmt: skip
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = qk_scale or self.head_dim**-0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (self.q_norm(q) * self.scale @ self.k_norm(k).transpose(-2, -1)).softmax(dim=-1)
        x = (self.attn_drop(weights) @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj_drop(self.proj(x))


class LayerScale(nn.Module):
    def __init__(self, dim, init_values=1e-5, inplace=False):
        super().__init__()
        self.gamma = nn.Parameter(init_values * torch.ones(dim))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, qkv_bias=False, qk_norm=False, proj_drop=0.0, attn_drop=0.0,
                 init_values=None, drop_path=0.0, act_layer=nn.GELU, norm_layer=nn.LayerNorm, mlp_layer=Mlp,
                 qk_scale=None, drop=None):  # fmt: skip
        super().__init__()
        proj_drop = proj_drop if drop is None else drop  # as it was called before timm 0.9
        if isinstance(drop_path, type):  # the order of arguments before timm 0.5
            init_values, drop_path, act_layer, norm_layer = None, init_values, drop_path, act_layer
            qk_norm = False  # in its place was qk_scale
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, num_heads, qkv_bias, qk_norm, attn_drop, proj_drop, norm_layer, qk_scale)
        self.ls1 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = mlp_layer(in_features=dim, hidden_features=int(dim * mlp_ratio), act_layer=act_layer, drop=proj_drop)
        self.ls2 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.drop_path2 = self.drop_path = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()

    def forward(self, x):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x))))
        return x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))


class LayerNorm2d(nn.LayerNorm):
    def __init__(self, num_channels, eps=1e-6, affine=True):
        super().__init__(num_channels, eps=eps, elementwise_affine=affine)

    def forward(self, x):
        x = F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class SqueezeExcite(nn.Module):
    def __init__(self, channels, rd_ratio=1.0 / 16, rd_channels=None, rd_divisor=8, act_layer=nn.ReLU,
                 gate_layer=nn.Sigmoid):  # fmt: skip
        super().__init__()
        rd_channels = rd_channels or make_divisible(channels * rd_ratio, rd_divisor, round_limit=0.0)
        self.fc1 = nn.Conv2d(channels, rd_channels, 1)
        self.act = act_layer()
        self.fc2 = nn.Conv2d(rd_channels, channels, 1)
        self.gate = gate_layer()

    def forward(self, x):
        return x * self.gate(self.fc2(self.act(self.fc1(x.mean((2, 3), keepdim=True)))))


SEModule = SqueezeExcite
SqueezeExcitation = SqueezeExcite


class SelectAdaptivePool2d(nn.Module):
    def __init__(self, output_size=1, pool_type="fast", flatten=False):
        super().__init__()
        self.output_size, self.pool_type = output_size or 1, pool_type
        self.flatten = nn.Flatten(1) if flatten else nn.Identity()

    def feat_mult(self):
        return 2 if self.pool_type == "catavgmax" else 1

    def forward(self, x):
        mean, most = F.adaptive_avg_pool2d(x, self.output_size), F.adaptive_max_pool2d(x, self.output_size)
        pooled = {"max": most, "avgmax": 0.5 * (mean + most), "catavgmax": torch.cat((mean, most), 1)}
        return self.flatten(pooled.get(self.pool_type, mean))


class GluMlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.Sigmoid, drop=0.0):
        super().__init__()
        hidden_features, out_features = hidden_features or in_features, out_features or in_features
        self.fc1 = nn.Linear(in_features, hidden_features)
        self.act = act_layer()
        self.fc2 = nn.Linear(hidden_features // 2, out_features)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        x, gates = self.fc1(x).chunk(2, dim=-1)
        return self.drop(self.fc2(self.drop(x * self.act(gates))))


def create_conv2d(
    in_channels, out_channels, kernel_size, stride=1, padding="", dilation=1, groups=1, bias=False, depthwise=False
):
    groups = in_channels if depthwise else groups
    return nn.Conv2d(
        in_channels, out_channels, kernel_size, stride, (kernel_size - 1) * dilation // 2, dilation, groups, bias
    )


def get_act_layer(name="relu"):
    if not isinstance(name, str):
        return name
    known = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "swish": nn.SiLU, "hard_swish": nn.Hardswish,
             "relu6": nn.ReLU6, "leaky_relu": nn.LeakyReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}  # fmt: skip
    return known[name]


def create_act_layer(name, inplace=None, **kwargs):
    return get_act_layer(name)(**kwargs)


def _cfg(url="", **kwargs):
    return {"url": url, "num_classes": 1000, "input_size": (3, 224, 224), **kwargs}


def register_model(function):
    return function


class LabelSmoothingCrossEntropy(nn.Module):
    def __init__(self, smoothing=0.1):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, x, target):
        return F.cross_entropy(x, target, label_smoothing=self.smoothing)


class SoftTargetCrossEntropy(nn.Module):
    def forward(self, x, target):
        return torch.sum(-target * F.log_softmax(x, dim=-1), dim=-1).mean()
