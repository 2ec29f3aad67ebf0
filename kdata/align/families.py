"""Operator families: one word for what a task mostly computes, from its ATen operators."""

from __future__ import annotations

from collections.abc import Sequence

# The first family whose words a task's operators contain names it: heavier operators come first.
FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("attention", ("attention", "bmm+_softmax", "matmul+_softmax")),
    ("recurrent", ("lstm", "gru", "rnn", "mm+sigmoid+tanh")),
    ("transposed convolution", ("transposed_convolution",)),
    ("convolution", ("convolution",)),
    ("matmul and softmax", ("mm+_softmax", "mm+_log_softmax", "mm+logsumexp")),
    ("linear and norm", ("mm+layer_norm", "mm+group_norm", "mm+batch_norm", "mm+rsqrt")),
    (
        "linear and activation",
        (
            "mm+relu",
            "mm+gelu",
            "mm+silu",
            "mm+sigmoid",
            "mm+tanh",
            "mm+elu",
            "mm+hardtanh",
            "mm+clamp",
            "mm+exp",
            "mm+erf",
            "mm+where",
        ),
    ),
    ("linear", ("addmm", "mm", "bmm", "baddbmm", "linear")),
    (
        "loss",
        (
            "nll_loss",
            "mse_loss",
            "l1_loss",
            "smooth_l1_loss",
            "huber_loss",
            "binary_cross_entropy",
            "kl_div",
            "soft_margin_loss",
            "margin_ranking_loss",
            "cross_entropy",
        ),
    ),
    ("softmax", ("_softmax", "_log_softmax", "logsumexp")),
    (
        "normalisation",
        (
            "native_layer_norm",
            "native_group_norm",
            "native_batch_norm",
            "_native_batch_norm_legit",
            "batch_norm",
            "var_mean",
            "_fused_rms_norm",
            "rms_norm",
            "linalg_vector_norm",
            "var",
        ),
    ),
    ("pooling", ("max_pool", "avg_pool", "adaptive_max_pool", "_adaptive_avg_pool", "unfold")),
    ("embedding", ("embedding",)),
    ("interpolation", ("upsample", "interpolate", "grid_sampler", "_upsample")),
    ("scan", ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")),
    ("gather and scatter", ("gather", "scatter", "index_add", "index_put", "index_select", "index")),
    ("sorting and selection", ("topk", "sort", "argmax", "argmin", "max.dim", "min.dim", "argsort")),
    ("reduction", ("mean", "sum", "amax", "amin", "prod", "max", "min", "any", "all", "norm")),
    (
        "padding and layout",
        (
            "constant_pad_nd",
            "reflection_pad",
            "replication_pad",
            "roll",
            "flip",
            "cat",
            "stack",
            "repeat",
            "pixel_shuffle",
        ),
    ),
    ("gating", ("sigmoid+mul", "tanh+mul", "_softmax+mul")),
    (
        "activation",
        (
            "relu",
            "gelu",
            "silu",
            "sigmoid",
            "tanh",
            "elu",
            "leaky_relu",
            "hardtanh",
            "hardswish",
            "softplus",
            "hardsigmoid",
            "mish",
            "erf",
            "log_sigmoid",
            "clamp",
            "exp",
            "log1p",
            "clamp_min",
            "clamp_max",
            "_prelu_kernel",
            "celu",
            "selu",
            "softshrink",
            "hardshrink",
            "rrelu_with_noise",
            "where",
        ),
    ),
    ("trigonometry", ("sin", "cos", "tan", "atan", "atan2", "asin", "acos", "polar")),
)


def family(operators: Sequence[str]) -> str:
    """The family of a task with these operators (``aten`` names without overload), "elementwise" if none is special."""
    present = set(operators)
    for name, words in FAMILIES:
        if any(all(_has(part, present) for part in word.split("+")) for word in words):
            return name
    return "elementwise"


def _has(word: str, operators: set[str]) -> bool:
    if word == "mm":
        return bool(operators & {"mm", "addmm", "bmm", "baddbmm", "linear", "mv", "addmv", "dot"})
    return any(o == word or (len(word) > 4 and o.startswith(word)) for o in operators)
