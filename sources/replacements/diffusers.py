"""The base classes of diffusers' models."""

import functools
import inspect

import torch.nn as nn


class FrozenDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        vars(self).update(self)


class ConfigMixin:
    config_name = None

    def register_to_config(self, **kwargs):
        self.config = FrozenDict({**getattr(self, "config", {}), **kwargs})


def register_to_config(init):
    @functools.wraps(init)
    def inner_init(self, *args, **kwargs):
        given = inspect.signature(init).bind(self, *args, **kwargs)
        given.apply_defaults()
        ConfigMixin.register_to_config(self, **dict([*given.arguments.items()][1:]))
        init(self, *args, **kwargs)

    return inner_init


class ModelMixin(nn.Module):
    @property
    def dtype(self):
        return next(p.dtype for p in self.parameters() if p.is_floating_point())

    @property
    def device(self):
        return next(self.parameters()).device


class AttentionMixin:
    pass


class BaseOutput(dict):
    def __post_init__(self):
        self.update({k: v for k, v in vars(self).items() if v is not None})
