"""Transformers' core, written by hand: models that load no weights, empty caches, plain attention and its masks."""

import contextlib

MODELS = ("/models/", "/modeling_outputs.py")  # what a task takes over as it is

auto_docstring = can_return_tuple = capture_outputs = merge_with_config_defaults = check_model_inputs = None
use_kernel_forward_from_hub = use_kernelized_func = use_experts_implementation = dynamic_rope_update = None
use_kernel_func_from_hub_with_fallback = use_kernel_func_from_hub = force_accelerate_hooks = None
accepts_precomputed_kwargs = filter_output_hidden_states = compile_compatible_method_lru_cache = None
deprecate_kwarg = None


class Cache:
    pass


class DynamicCache(Cache):
    pass


class EncoderDecoderCache(Cache):
    pass


class StaticCache(Cache):
    pass


class AttentionInterface(dict):
    def get_interface(self, name, default):
        return default


ALL_ATTENTION_FUNCTIONS = AttentionInterface()


class BackboneMixin:
    pass


class PreTrainedAudioTokenizerBase(PreTrainedModel):
    pass


class ReLUSquaredActivation(nn.Module):
    def forward(self, x):
        return torch.square(F.relu(x))


ACT2FN = {
    "gelu": nn.GELU(),
    "gelu_10": nn.Sequential(nn.GELU(), nn.Hardtanh(-10.0, 10.0)),
    "gelu_new": NewGELUActivation(),
    "gelu_fast": NewGELUActivation(),
    "gelu_accurate": NewGELUActivation(),
    "gelu_python": nn.GELU(),
    "gelu_pytorch_tanh": nn.GELU(approximate="tanh"),
    "gelu_python_tanh": nn.GELU(approximate="tanh"),
    "quick_gelu": QuickGELUActivation(),
    "relu": nn.ReLU(),
    "relu2": ReLUSquaredActivation(),
    "relu6": nn.ReLU6(),
    "silu": nn.SiLU(),
    "swish": nn.SiLU(),
    "tanh": nn.Tanh(),
    "sigmoid": nn.Sigmoid(),
    "mish": nn.Mish(),
    "leaky_relu": nn.LeakyReLU(),
    "linear": nn.Identity(),
    "prelu": nn.PReLU(),
}
ACT2CLS = {
    "gelu": nn.GELU,
    "gelu_new": NewGELUActivation,
    "gelu_fast": NewGELUActivation,
    "gelu_pytorch_tanh": (nn.GELU, {"approximate": "tanh"}),
    "quick_gelu": QuickGELUActivation,
    "relu": nn.ReLU,
    "silu": nn.SiLU,
    "swish": nn.SiLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
}


def _additive(allowed, like):
    batch, length = like.shape[:2]
    mask = torch.zeros(allowed.shape, dtype=like.dtype, device=like.device)
    return mask.masked_fill(~allowed, torch.finfo(like.dtype).min).expand(batch, 1, length, allowed.shape[-1])


def _padding(allowed, attention_mask):
    if attention_mask is None:
        return allowed[None, None]
    if attention_mask.dim() == 4:
        return attention_mask.bool()
    return allowed[None, None] & attention_mask[:, None, None, -allowed.shape[-1] :].bool()


def create_causal_mask(config=None, inputs_embeds=None, attention_mask=None, *args, **kwargs):
    steps = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device)
    return _additive(_padding(steps[:, None] >= steps[None, :], attention_mask), inputs_embeds)


def create_sliding_window_causal_mask(config=None, inputs_embeds=None, attention_mask=None, *args, **kwargs):
    steps = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device)
    distance = steps[:, None] - steps[None, :]
    window = getattr(config, "sliding_window", None) or inputs_embeds.shape[1]
    return _additive(_padding((distance >= 0) & (distance < window), attention_mask), inputs_embeds)


create_chunked_causal_mask = create_sliding_window_causal_mask


def create_bidirectional_mask(
    config=None, inputs_embeds=None, attention_mask=None, encoder_hidden_states=None, *args, **kwargs
):
    if attention_mask is None:
        return None
    source = inputs_embeds if encoder_hidden_states is None else encoder_hidden_states
    everything = torch.ones(inputs_embeds.shape[1], source.shape[1], dtype=torch.bool, device=source.device)
    return _additive(_padding(everything, attention_mask), inputs_embeds)


create_bidirectional_sliding_window_mask = create_bidirectional_mask


def create_recurrent_attention_mask(config=None, inputs_embeds=None, attention_mask=None, *args, **kwargs):
    return attention_mask


def is_flash_attention_requested(*args, **kwargs):
    return False


def get_max_seqlen(*args, **kwargs):
    return None


def is_torchdynamo_compiling(*args, **kwargs):
    return False


is_torchdynamo_exporting = is_deepspeed_zero3_enabled = is_fsdp_managed_module = is_torchdynamo_compiling
is_tracing = is_mambapy_available = is_flash_attention_requested


def _flash_attention_forward(*args, **kwargs):
    raise NotImplementedError


is_flash_attn_available = flash_attn_supports_top_left_mask = is_flash_attn_greater_or_equal = is_torchdynamo_compiling
is_flash_attn_greater_or_equal_2_10 = is_flash_attn_2_available = is_torchdynamo_compiling


def interval(*args, **kwargs):
    return lambda default=None, **settings: default


def probability(default=None, **settings):
    return default


positive_int_field = activation_fn_key = label_to_id_validation = probability


def is_torch_greater_or_equal(*args, **kwargs):
    return True


def torch_compilable_check(condition, message, *args):
    pass


def maybe_autocast(*args, **kwargs):
    return contextlib.nullcontext()


def torch_int(x):
    return int(x)


def torch_float(x):
    return float(x)


def slice_logits_to_keep(hidden_states, logits_to_keep):
    return hidden_states[:, slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep]


def requires_backends(*args):
    pass
