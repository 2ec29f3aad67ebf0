"""The base classes of diffusers' models."""

import torch.nn as nn


class ConfigMixin:
    config_name = None

    def register_to_config(self, **kwargs):
        self.config = kwargs


class ModelMixin(nn.Module):
    pass


class AttentionMixin:
    pass


class BaseOutput(dict):
    def __post_init__(self):
        self.update({k: v for k, v in vars(self).items() if v is not None})
