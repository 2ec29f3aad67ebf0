"""The building blocks that OpenMMLab's packages take from mmcv and mmengine."""

import itertools
import logging
import math

import torch
import torch.nn as nn


class BaseModule(nn.Module):
    def __init__(self, init_cfg=None):
        super().__init__()
        self.init_cfg = init_cfg

    def init_weights(self):
        pass


class BaseModel(BaseModule):
    def __init__(self, data_preprocessor=None, init_cfg=None):
        super().__init__(init_cfg)
        self.data_preprocessor = nn.Identity()


class MMLogger:
    get_current_instance = get_instance = staticmethod(lambda *_, **__: logging.getLogger("mmengine"))


class Sequential(BaseModule, nn.Sequential):
    def __init__(self, *args, init_cfg=None):
        BaseModule.__init__(self, init_cfg)
        nn.Sequential.__init__(self, *args)


class ModuleList(BaseModule, nn.ModuleList):
    def __init__(self, modules=None, init_cfg=None):
        BaseModule.__init__(self, init_cfg)
        nn.ModuleList.__init__(self, modules)


class ModuleDict(BaseModule, nn.ModuleDict):
    def __init__(self, modules=None, init_cfg=None):
        BaseModule.__init__(self, init_cfg)
        nn.ModuleDict.__init__(self, modules)


def constant_init(module, val, bias=0):
    if getattr(module, "weight", None) is not None:
        nn.init.constant_(module.weight, val)
    if getattr(module, "bias", None) is not None:
        nn.init.constant_(module.bias, bias)


def normal_init(module, mean=0, std=1, bias=0):
    if getattr(module, "weight", None) is not None:
        nn.init.normal_(module.weight, mean, std)
    if getattr(module, "bias", None) is not None:
        nn.init.constant_(module.bias, bias)


def trunc_normal_init(module, mean=0, std=1, a=-2, b=2, bias=0):
    if getattr(module, "weight", None) is not None:
        nn.init.trunc_normal_(module.weight, mean, std, a, b)
    if getattr(module, "bias", None) is not None:
        nn.init.constant_(module.bias, bias)


def xavier_init(module, gain=1, bias=0, distribution="normal"):
    if getattr(module, "weight", None) is not None:
        fill = nn.init.xavier_uniform_ if distribution == "uniform" else nn.init.xavier_normal_
        fill(module.weight, gain=gain)
    if getattr(module, "bias", None) is not None:
        nn.init.constant_(module.bias, bias)


def kaiming_init(module, a=0, mode="fan_out", nonlinearity="relu", bias=0, distribution="normal"):
    if getattr(module, "weight", None) is not None:
        fill = nn.init.kaiming_uniform_ if distribution == "uniform" else nn.init.kaiming_normal_
        fill(module.weight, a=a, mode=mode, nonlinearity=nonlinearity)
    if getattr(module, "bias", None) is not None:
        nn.init.constant_(module.bias, bias)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return nn.init.trunc_normal_(tensor, mean, std, a, b)


def bias_init_with_prob(prior_prob):
    return float(-math.log((1 - prior_prob) / prior_prob))


class Registry:
    def __init__(self, name="", build_func=None, parent=None, scope=None, locations=(), **kwargs):
        self.name, self.build_func, self.module_dict = name, build_func, {}

    def register_module(self, name=None, force=False, module=None):
        def register(kind):
            names = [name] if isinstance(name, str) else name or [kind.__name__]
            self.module_dict.update(dict.fromkeys(names, kind))
            return kind

        if module is not None:
            return register(module)
        return register

    def get(self, key):
        short = key.split(".")[-1]
        known = {**{k: v[1] for k, v in NORMS.items()}, **ACTIVATIONS, **CONVS, **self.module_dict}
        return known[short] if short in known else getattr(nn, short)

    def build(self, cfg, *args, **kwargs):
        if self.build_func is not None:
            return self.build_func(cfg, *args, registry=self, **kwargs)
        return build_from_cfg(cfg, self, *args, **kwargs)

    def __contains__(self, key):
        return key in self.module_dict


NORMS = {"BN": ("bn", nn.BatchNorm2d), "BN1d": ("bn", nn.BatchNorm1d), "BN2d": ("bn", nn.BatchNorm2d),
         "BN3d": ("bn", nn.BatchNorm3d), "SyncBN": ("bn", nn.BatchNorm2d), "GN": ("gn", nn.GroupNorm),
         "LN": ("ln", nn.LayerNorm), "IN": ("in", nn.InstanceNorm2d), "IN1d": ("in", nn.InstanceNorm1d),
         "IN2d": ("in", nn.InstanceNorm2d), "IN3d": ("in", nn.InstanceNorm3d)}  # fmt: skip


class Conv2dAdaptivePadding(nn.Conv2d):
    def forward(self, x):
        sides = zip(x.shape[2:], self.kernel_size, self.stride, self.dilation)
        pads = [max((math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0) for n, k, s, d in sides]
        x = nn.functional.pad(x, [part for n in reversed(pads) for part in (n // 2, n - n // 2)])
        return nn.functional.conv2d(x, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)


class HSigmoid(nn.Module):
    def __init__(self, bias=3.0, divisor=6.0, min_value=0.0, max_value=1.0):
        super().__init__()
        self.bias, self.divisor, self.min_value, self.max_value = bias, divisor, min_value, max_value

    def forward(self, x):
        return ((x + self.bias) / self.divisor).clamp(self.min_value, self.max_value)


CONVS = {
    "Conv": nn.Conv2d,
    "Conv1d": nn.Conv1d,
    "Conv2d": nn.Conv2d,
    "Conv3d": nn.Conv3d,
    "deconv": nn.ConvTranspose2d,
    "Conv2dAdaptivePadding": Conv2dAdaptivePadding,
}
RELU = {"type": "ReLU"}
ACTIVATIONS = {"ReLU": nn.ReLU, "LeakyReLU": nn.LeakyReLU, "PReLU": nn.PReLU, "ReLU6": nn.ReLU6, "ELU": nn.ELU,
               "Sigmoid": nn.Sigmoid, "Tanh": nn.Tanh, "GELU": nn.GELU, "SiLU": nn.SiLU, "Swish": nn.SiLU,
               "HSwish": nn.Hardswish, "HSigmoid": HSigmoid, "Mish": nn.Mish}  # fmt: skip
PADDINGS = {"zero": nn.ZeroPad2d, "reflect": nn.ReflectionPad2d, "replicate": nn.ReplicationPad2d}
CONV_LAYERS = Registry("conv layer")
NORM_LAYERS = Registry("norm layer")
ACTIVATION_LAYERS = Registry("activation layer")
PADDING_LAYERS = Registry("padding layer")
UPSAMPLE_LAYERS = Registry("upsample layer")


def build_norm_layer(cfg, num_features, postfix=""):
    given = dict(cfg)
    kind = given.pop("type")
    if kind in NORM_LAYERS:
        layer = NORM_LAYERS.module_dict[kind]
        return getattr(layer, "_abbr_", "norm") + str(postfix), layer(num_features, **given)
    short, layer = NORMS[kind]
    requires_grad = given.pop("requires_grad", True)
    given.setdefault("eps", 1e-5)
    named = "num_channels" if layer is nn.GroupNorm else "normalized_shape" if layer is nn.LayerNorm else "num_features"
    norm = layer(**{named: num_features}, **given)
    for parameter in norm.parameters():
        parameter.requires_grad = requires_grad
    return short + str(postfix), norm


def build_conv_layer(cfg, *args, **kwargs):
    given = dict(cfg or {"type": "Conv2d"})
    return {**CONVS, **CONV_LAYERS.module_dict}[given.pop("type")](*args, **kwargs, **given)


def build_activation_layer(cfg):
    given = dict(cfg)
    kind = {**ACTIVATIONS, **ACTIVATION_LAYERS.module_dict}[given.pop("type")]
    if kind in (nn.Sigmoid, nn.Tanh, nn.GELU, nn.PReLU, HSigmoid):
        given.pop("inplace", None)
    return kind(**given)


def build_padding_layer(cfg, *args, **kwargs):
    return {**PADDINGS, **PADDING_LAYERS.module_dict}[cfg["type"]](*args, **kwargs)


def build_upsample_layer(cfg, *args, **kwargs):
    given = dict(cfg)
    kind = given.pop("type")
    if kind in UPSAMPLE_LAYERS:
        return UPSAMPLE_LAYERS.module_dict[kind](*args, **kwargs, **given)
    if kind == "deconv":
        return nn.ConvTranspose2d(*args, **kwargs, **given)
    return nn.Upsample(scale_factor=given.get("scale_factor", 2), mode=kind)


def build_dropout(cfg, default_args=None):
    kind = cfg["type"]
    return nn.Dropout(cfg.get("drop_prob", 0.5)) if kind == "Dropout" else nn.Identity()


def build_from_cfg(cfg, registry=None, default_args=None, **kwargs):
    if isinstance(cfg, nn.Module) or registry is None:
        return cfg
    given = {**(default_args or {}), **cfg}
    kind = given.pop("type")
    return (registry.get(kind) if isinstance(kind, str) else kind)(**given)


def build_model_from_cfg(cfg, registry=None, default_args=None, **kwargs):
    if isinstance(cfg, list):
        return nn.Sequential(*(build_from_cfg(c, registry, default_args) for c in cfg))
    return build_from_cfg(cfg, registry, default_args)


MODELS, TASK_UTILS, DATASETS, TRANSFORMS, METRICS = (
    Registry(name) for name in ("model", "task util", "dataset", "transform", "metric")
)
Conv2d, Conv3d, ConvTranspose2d = nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d
Linear, MaxPool2d = nn.Linear, nn.MaxPool2d


def is_seq_of(seq, expected_type, seq_type=(list, tuple)):
    return isinstance(seq, seq_type) and all(isinstance(item, expected_type) for item in seq)


def is_list_of(seq, expected_type):
    return is_seq_of(seq, expected_type, list)


def is_tuple_of(seq, expected_type):
    return is_seq_of(seq, expected_type, tuple)


def is_str(x):
    return isinstance(x, str)


def digit_version(version_str):
    return tuple(int(part) for part in version_str.split("+")[0].split(".")[:3] if part.isdigit())


def is_norm(layer, exclude=None):
    return isinstance(layer, (nn.modules.batchnorm._BatchNorm, nn.GroupNorm, nn.LayerNorm))


class ConvModule(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias="auto",
                 conv_cfg=None, norm_cfg=None, act_cfg=RELU, inplace=True, with_spectral_norm=False,
                 padding_mode="zeros", order=("conv", "norm", "act")):  # fmt: skip
        super().__init__()
        self.conv_cfg, self.norm_cfg, self.act_cfg, self.inplace = conv_cfg, norm_cfg, act_cfg, inplace
        self.order, self.with_norm, self.with_activation = order, norm_cfg is not None, act_cfg is not None
        bias = not self.with_norm if bias == "auto" else bias
        self.padding_layer = None
        if padding_mode not in ("zeros", "circular"):
            self.padding_layer, padding = build_padding_layer({"type": padding_mode}, padding), 0
        self.conv = build_conv_layer(
            conv_cfg,
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )
        self.in_channels, self.out_channels = self.conv.in_channels, self.conv.out_channels
        self.kernel_size, self.stride = self.conv.kernel_size, self.conv.stride
        self.padding, self.dilation, self.groups = padding, self.conv.dilation, self.conv.groups
        if with_spectral_norm:
            self.conv = nn.utils.spectral_norm(self.conv)
        if self.with_norm:
            channels = out_channels if order.index("norm") > order.index("conv") else in_channels
            self.norm_name, norm = build_norm_layer(norm_cfg, channels)
            self.add_module(self.norm_name, norm)
        if self.with_activation:
            self.activate = build_activation_layer({"inplace": inplace, **act_cfg})

    @property
    def norm(self):
        return getattr(self, self.norm_name) if self.with_norm else None

    def forward(self, x, activate=True, norm=True):
        for layer in self.order:
            if layer == "conv":
                x = self.conv(x if self.padding_layer is None else self.padding_layer(x))
            elif layer == "norm" and norm and self.with_norm:
                x = self.norm(x)
            elif layer == "act" and activate and self.with_activation:
                x = self.activate(x)
        return x


class DepthwiseSeparableConvModule(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, norm_cfg=None,
                 act_cfg=RELU, dw_norm_cfg="default", dw_act_cfg="default", pw_norm_cfg="default",
                 pw_act_cfg="default", **kwargs):  # fmt: skip
        super().__init__()
        self.depthwise_conv = ConvModule(
            in_channels,
            in_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=in_channels,
            norm_cfg=norm_cfg if dw_norm_cfg == "default" else dw_norm_cfg,
            act_cfg=act_cfg if dw_act_cfg == "default" else dw_act_cfg,
            **kwargs,
        )
        self.pointwise_conv = ConvModule(
            in_channels,
            out_channels,
            1,
            norm_cfg=norm_cfg if pw_norm_cfg == "default" else pw_norm_cfg,
            act_cfg=act_cfg if pw_act_cfg == "default" else pw_act_cfg,
            **kwargs,
        )

    def forward(self, x):
        return self.pointwise_conv(self.depthwise_conv(x))


class Scale(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale, dtype=torch.float))

    def forward(self, x):
        return x * self.scale


class FFN(BaseModule):
    def __init__(self, embed_dims=256, feedforward_channels=1024, num_fcs=2, act_cfg=RELU, ffn_drop=0.0,
                 dropout_layer=None, add_identity=True, init_cfg=None, layer_scale_init_value=0.0,
                 **kwargs):  # fmt: skip
        super().__init__(init_cfg)
        self.embed_dims, self.add_identity = embed_dims, add_identity
        widths = [embed_dims] + [feedforward_channels] * (num_fcs - 1)
        hidden = [
            nn.Sequential(nn.Linear(a, b), build_activation_layer(act_cfg), nn.Dropout(ffn_drop))
            for a, b in itertools.pairwise(widths)
        ]
        self.layers = nn.Sequential(*hidden, nn.Linear(widths[-1], embed_dims), nn.Dropout(ffn_drop))
        self.dropout_layer = build_dropout(dropout_layer) if dropout_layer else nn.Identity()
        self.gamma = nn.Parameter(layer_scale_init_value * torch.ones(embed_dims)) if layer_scale_init_value else 1.0

    def forward(self, x, identity=None):
        out = self.dropout_layer(self.layers(x) * self.gamma)
        return out + (x if identity is None else identity) if self.add_identity else out


class MultiheadAttention(BaseModule):
    def __init__(self, embed_dims, num_heads, attn_drop=0.0, proj_drop=0.0, dropout_layer=None, init_cfg=None,
                 batch_first=False, **kwargs):  # fmt: skip
        super().__init__(init_cfg)
        self.embed_dims, self.num_heads, self.batch_first = embed_dims, num_heads, batch_first
        self.attn = nn.MultiheadAttention(embed_dims, num_heads, attn_drop, batch_first=batch_first)
        self.proj_drop = nn.Dropout(proj_drop)
        self.dropout_layer = build_dropout(dropout_layer) if dropout_layer else nn.Identity()

    def forward(self, query, key=None, value=None, identity=None, query_pos=None, key_pos=None, attn_mask=None,
                key_padding_mask=None, **kwargs):  # fmt: skip
        key = query if key is None else key
        value = key if value is None else value
        identity = query if identity is None else identity
        if key_pos is None and query_pos is not None and query_pos.shape == key.shape:
            key_pos = query_pos
        query = query if query_pos is None else query + query_pos
        key = key if key_pos is None else key + key_pos
        out = self.attn(query, key, value, attn_mask=attn_mask, key_padding_mask=key_padding_mask)[0]
        return identity + self.dropout_layer(self.proj_drop(out))


def to_2tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x, x)


def get_dist_info():
    return 0, 1


class ConfigDict(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)
