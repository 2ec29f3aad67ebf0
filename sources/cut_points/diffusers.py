"""Diffusers' core, written by hand: configurations that a constructor fills, outputs, and what adapters may change."""

import functools
import inspect
import logging as standard_logging

import torch.nn.functional as F

MODELS = ()

apply_lora_scale = maybe_allow_in_graph = apply_forward_hook = lru_cache_unless_export = deprecate_kwarg = None


class FrozenDict(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


def register_to_config(init):
    @functools.wraps(init)
    def with_config(self, *args, **kwargs):
        given = inspect.signature(init).bind(self, *args, **kwargs)
        given.apply_defaults()
        self.config = FrozenDict(list(given.arguments.items())[1:])
        init(self, *args, **kwargs)

    return with_config


class ConfigMixin:
    config_name = None


class ModelMixin(nn.Module):
    @property
    def dtype(self):
        return next(self.parameters()).dtype

    @property
    def device(self):
        return next(self.parameters()).device


class PeftAdapterMixin:
    pass


class FromOriginalModelMixin:
    pass


class CacheMixin:
    pass


class AutoencoderMixin:
    use_slicing = use_tiling = False


class UNet2DConditionLoadersMixin:
    pass


class AttentionModuleMixin:
    fused_projections = False

    def set_processor(self, processor):
        self.processor = processor

    def get_processor(self):
        return self.processor


def dispatch_attention_fn(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, **kwargs
):
    query, key, value = (x.transpose(1, 2) for x in (query, key, value))
    out = F.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )
    return out.transpose(1, 2)


def deprecate(*args, **kwargs):
    pass


def is_torch_version(*args):
    return True


def is_torch_available():
    return True


def is_torch_xla_available():
    return False


is_xformers_available = is_torch_npu_available = is_bitsandbytes_available = is_torch_xla_available
is_torch_compiling = is_torch_xla_available
USE_PEFT_BACKEND = False


def maybe_adjust_dtype_for_device(dtype, device):
    return dtype


class logging:
    @staticmethod
    def get_logger(name=None):
        logger = standard_logging.getLogger(name)
        logger.warning_once = lambda *args, **kwargs: None
        return logger
