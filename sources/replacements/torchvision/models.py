"""torchvision's networks that others build on: ResNets, VGGs and MobileNetV2, with random weights."""

from collections import OrderedDict

import torch
import torch.nn as nn


class Addresses(dict):
    """Where trained weights of networks are, by the networks' names; nobody fetches them."""

    def __missing__(self, name):
        return f"{name}.pth"


model_urls = Addresses()


def load_state_dict_from_url(*args, **kwargs):
    return {}


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    return nn.Conv2d(in_planes, out_planes, 3, stride, dilation, dilation, groups, bias=False)


def conv1x1(in_planes, out_planes, stride=1):
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None
    ):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None
    ):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(
        self,
        block,
        layers,
        num_classes=1000,
        zero_init_residual=False,
        groups=1,
        width_per_group=64,
        replace_stride_with_dilation=None,
        norm_layer=None,
    ):
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes, self.dilation = 64, 1
        self.groups, self.base_width = groups, width_per_group
        dilate = replace_stride_with_dilation or [False, False, False]
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], stride=2, dilate=dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], stride=2, dilate=dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], stride=2, dilate=dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        downsample, before = None, self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                conv1x1(self.inplanes, planes * block.expansion, stride), self._norm_layer(planes * block.expansion)
            )
        layers = [
            block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, before, self._norm_layer)
        ]
        self.inplanes = planes * block.expansion
        layers += [
            block(
                self.inplanes,
                planes,
                groups=self.groups,
                base_width=self.base_width,
                dilation=self.dilation,
                norm_layer=self._norm_layer,
            )
            for _ in range(1, blocks)
        ]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def resnet18(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(BasicBlock, [2, 2, 2, 2], **kwargs)


def resnet34(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(BasicBlock, [3, 4, 6, 3], **kwargs)


def resnet50(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(Bottleneck, [3, 4, 6, 3], **kwargs)


def resnet101(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(Bottleneck, [3, 4, 23, 3], **kwargs)


def resnet152(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(Bottleneck, [3, 8, 36, 3], **kwargs)


def resnext50_32x4d(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(Bottleneck, [3, 4, 6, 3], groups=32, width_per_group=4, **kwargs)


def resnext101_32x8d(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(Bottleneck, [3, 4, 23, 3], groups=32, width_per_group=8, **kwargs)


def wide_resnet50_2(pretrained=False, progress=True, *, weights=None, **kwargs):
    return ResNet(Bottleneck, [3, 4, 6, 3], width_per_group=128, **kwargs)


class VGG(nn.Module):
    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(dropout),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def make_layers(cfg, batch_norm=False):
    layers, channels = [], 3
    for v in cfg:
        if v == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2d(channels, v, kernel_size=3, padding=1))
        layers += [nn.BatchNorm2d(v)] * batch_norm + [nn.ReLU(inplace=True)]
        channels = v
    return nn.Sequential(*layers)


def vgg_layers(repeats):
    widths = (64, 128, 256, 512, 512)
    return [v for width, n in zip(widths, repeats) for v in [width] * n + ["M"]]


def vgg11(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VGG(make_layers(vgg_layers((1, 1, 2, 2, 2))), **kwargs)


def vgg13(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VGG(make_layers(vgg_layers((2, 2, 2, 2, 2))), **kwargs)


def vgg16(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VGG(make_layers(vgg_layers((2, 2, 3, 3, 3))), **kwargs)


def vgg16_bn(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VGG(make_layers(vgg_layers((2, 2, 3, 3, 3)), batch_norm=True), **kwargs)


def vgg19(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VGG(make_layers(vgg_layers((2, 2, 4, 4, 4))), **kwargs)


def vgg19_bn(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VGG(make_layers(vgg_layers((2, 2, 4, 4, 4)), batch_norm=True), **kwargs)


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        hidden = round(inp * expand_ratio)
        norm_layer = norm_layer or nn.BatchNorm2d
        self.use_res_connect = stride == 1 and inp == oup
        layers = []
        if expand_ratio != 1:
            layers += [nn.Conv2d(inp, hidden, 1, bias=False), norm_layer(hidden), nn.ReLU6(inplace=True)]
        layers += [
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            norm_layer(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, oup, 1, bias=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, num_classes=1000, width_mult=1.0, dropout=0.2):
        super().__init__()
        settings = [
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ]
        channels = int(32 * width_mult)
        features = [
            nn.Sequential(nn.Conv2d(3, channels, 3, 2, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU6(inplace=True))
        ]
        for t, c, n, s in settings:
            for i in range(n):
                features.append(InvertedResidual(channels, int(c * width_mult), s if i == 0 else 1, t))
                channels = int(c * width_mult)
        features.append(
            nn.Sequential(nn.Conv2d(channels, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(inplace=True))
        )
        self.last_channel = 1280
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, num_classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def mobilenet_v2(pretrained=False, progress=True, *, weights=None, **kwargs):
    return MobileNetV2(**kwargs)


class IntermediateLayerGetter(nn.ModuleDict):
    def __init__(self, model, return_layers):
        wanted, layers = {str(k): str(v) for k, v in return_layers.items()}, OrderedDict()
        for name, module in model.named_children():
            layers[name] = module
            wanted.pop(name, None)
            if not wanted:
                break
        super().__init__(layers)
        self.return_layers = {str(k): str(v) for k, v in return_layers.items()}

    def forward(self, x):
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out
