"""Small versions of a framework's models: the sizes that its configurations and constructors are given, and inputs.

The method: a model of a few narrow layers holds the same classes as a large one, and runs in milliseconds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

HIDDEN, HEADS, LAYERS, VOCABULARY, SIDE, PATCH, LENGTH, BATCH = 64, 4, 2, 256, 64, 8, 16, 2
MAX_NESTED = 3  # configurations inside of configurations
# By the whole name, first match first: what an integer that is larger becomes.
_SIZES: tuple[tuple[str, int], ...] = (
    (r".*(kernel|conv_size|factor|ratio|dilation).*|.*(token_id|token_index|_id|_idx|seed|version|stride|num_labels"
     r"|sampling_rate)", 1 << 62),
    (r".*vocab.*size|.*vocab(ulary)?|n_words|num_embeddings|codebook_size|n_e|num_classes", VOCABULARY),
    (r"(max|n)_(position|source_position|target_position)(s|_embeddings)|max_.*(len|length|positions)|n_ctx", 128),
    (r".*(num_key_value|kv)_heads|num_kv_heads", 2),
    (r".*(n|num)_?(attention_|self_attention_|cross_attention_|linear_.*|index_)?heads?|.*_attention_heads|n_heads?"
     r"|num_attn_heads|heads|attention_heads", HEADS),
    (r".*(qk_nope|qk_rope|v|index)_head_dim", 16),
    (r".*(head_dim|d_kv|head_size|dim_head|attention_head_dim|key_value_proj_dim|q_lora_rank|kv_lora_rank)",
     HIDDEN // HEADS),
    (r".*(num|n)_?(hidden_|encoder_|decoder_)?(layers?|blocks?|stages)|.*_layers|depth|num_refiner_layers", LAYERS),
    (r".*(image|img|sample|input|crop)_(size|height|width|resolution)|.*_resolution", SIDE),
    (r".*patch_size", PATCH),
    (r".*(intermediate|ffn|ff|feed_forward|feedforward|mlp|inner|expert)_?(size|dim|hidden.*)|d_ff|.*ffn_dim"
     r"|ffn_hidden_size|n_inner", 2 * HIDDEN),
    (r"(num|n)_(local_|routed_)?experts", 4),
    (r".*(experts_per_tok|top_?k|experts_per_token)", 2),
    (r"num_(mel_bins|frames)|max_source_positions|feature_size", 16),
    (r".*(num_.*queries|num_query_tokens|num_latents|num_buckets)", 16),
    (r".*(size|dim|dims|width|channels|d_model|hidden|embd|features|planes|rank|filters|d_inner|d_state)", HIDDEN),
)  # fmt: skip
# The same for what a configuration leaves open and its model needs.
_OPEN = {"n_routed_experts": 4, "num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "n_group": 1,
         "topk_group": 1, "n_shared_experts": 1}  # fmt: skip
_WIDE = 64  # numbers in lists are widths when they are at least so large
_DEPTHS = re.compile(r"depths?|.*layers.*|.*blocks.*|num_stages")


def sized(name: str, value: Any) -> Any:
    """A small value in place of one that a parameter of this name has, of the same kind."""
    if type(value) is int:
        limit = next((size for pattern, size in _SIZES if re.fullmatch(pattern, name)), 1 << 62)
        return min(value, limit)
    if isinstance(value, list | tuple) and value and all(type(v) is int for v in value):
        if _DEPTHS.fullmatch(name):
            return type(value)(min(v, 1) for v in value)
        if any(v >= _WIDE for v in value):
            return type(value)(min(v, HIDDEN // 2) for v in value)
    return value


def by_halves(name: str, value: Any) -> Any:
    """The same, by halves where that does: sizes that divide each other, 224 and windows of 7, still do."""
    small = sized(name, value)
    while type(value) is int and value > small and value % 2 == 0:
        value //= 2
    return value if type(value) is int and value <= small else small


def arguments(kind: type[nn.Module]) -> dict[str, Any]:
    """The defaults of a constructor that are worth making smaller.

    Raises:
        TypeError: it has parameters without default.
    """
    found = {}
    for p in inspect.signature(kind).parameters.values():
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            continue
        if p.default is p.empty:
            raise TypeError(f"{p.name} has no default")
        if (small := by_halves(p.name, p.default)) != p.default:
            found[p.name] = small
    return found


def configurations(kind: Any, depth: int = 0) -> Iterator[Any]:
    """Small configurations of a class of them, the smallest first, then ones with fewer changes.

    ``depth`` says how many configurations these are inside of; none are made below ``MAX_NESTED``.
    """
    whole = kind()
    inner = {n: c for n, c in (getattr(kind, "sub_configs", None) or {}).items() if isinstance(c, type)}
    known = {n: v for n, v in vars(whole).items() if n not in inner and not n.startswith("_")}
    small = {n: s for n, v in known.items() if (s := sized(n, v)) != v} | _related(known)
    layers = {n: v for n, v in small.items() if "layer" in n or "depth" in n}
    few = {n: v for n, v in small.items() if type(v) is int} | layers
    for changes in (small, few, {n: v for n, v in few.items() if "head" not in n}, layers, {}):
        for nested in (True, False) if inner else (False,):
            try:
                made = kind(**changes, **({n: _small(c, depth + 1) for n, c in inner.items()} if nested else {}))
            except Exception:  # noqa: BLE001, S112 - a configuration says that its sizes do not fit
                continue
            yield _plain(made)


def _related(known: Mapping[str, Any]) -> dict[str, Any]:
    """Changes that others ask for: as many heads for keys, a layer of each kind, parts of the dimensions of a head."""
    found: dict[str, Any] = {n: _OPEN[n] for n, v in known.items() if v is None and n in _OPEN}
    heads, keys = known.get("num_attention_heads"), known.get("num_key_value_heads")
    if type(heads) is int and heads == keys:
        found["num_key_value_heads"] = min(heads, HEADS)
    count = known.get("num_hidden_layers")
    for name, value in known.items():
        if isinstance(value, list) and len(value) == count and all(isinstance(v, str) for v in value):
            kinds = list(dict.fromkeys(value))
            found[name] = [kinds[i % len(kinds)] for i in range(max(LAYERS, len(kinds)))]
            found["num_hidden_layers"] = len(found[name])
        if isinstance(value, dict) and isinstance(parts := value.get("mrope_section"), list) and sum(parts):
            scaled = [p * HIDDEN // HEADS // 2 // sum(parts) for p in parts]
            found[name] = value | {"mrope_section": scaled}
    return found


def _small(kind: Any, depth: int) -> Any:
    return next(configurations(kind, depth), None) if depth <= MAX_NESTED else None


def _plain(made: Any) -> Any:
    """The configuration with attention and experts said in plain operators, without caches, with a padding token."""
    for name, value in (("_attn_implementation", "eager"), ("_experts_implementation", "eager"), ("use_cache", False)):
        try:
            setattr(made, name, value)
        except Exception:  # noqa: BLE001, S112 - it has no such choice
            continue
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        token = getattr(made, name, None)
        if type(token) is int and token >= VOCABULARY or token is None and name == "pad_token_id":
            setattr(made, name, 0)
    return made


def inputs(model: nn.Module, config: Any) -> Iterator[dict[str, Any]]:
    """Inputs that a framework's model may take, by name: what its ``main_input_name`` says, then others."""
    known = _made(config)
    taken = [n for n in inspect.signature(model.forward).parameters if n in known]
    main = getattr(model, "main_input_name", "")
    decoder = ["decoder_input_ids"] if "decoder_input_ids" in taken else []
    orders = [[main, *decoder], [main], ["input_ids", *decoder], ["input_ids", "pixel_values"], ["pixel_values"],
              ["inputs_embeds"], ["hidden_states"], ["input_features", *decoder],
              ["input_values", *decoder]]  # fmt: skip
    seen = set[tuple[str, ...]]()
    for order in orders:
        names = tuple(dict.fromkeys(n for n in order if n in taken))
        if names and names not in seen:
            seen.add(names)
            yield {n: known[n]() for n in names}


def _made(config: Any) -> Mapping[str, Any]:
    def size(default: int, *names: str) -> int:
        inner = [config, *(v for v in vars(config).values() if hasattr(v, "hidden_size"))]
        values = (getattr(c, n, None) for c in inner for n in names)
        return next((v for v in values if type(v) is int and v > 0), default)

    def side() -> tuple[int, int]:
        vision = getattr(config, "vision_config", None)
        own = getattr(config, "image_size", None) or getattr(vision, "image_size", SIDE)
        return (own, own) if type(own) is int else tuple(own)[-2:] if isinstance(own, list | tuple) else (SIDE, SIDE)

    def ids() -> torch.Tensor:
        return torch.randint(3, max(4, size(VOCABULARY, "vocab_size")), (BATCH, LENGTH))

    hidden = size(HIDDEN, "hidden_size", "d_model", "n_embd")
    mel = size(16, "num_mel_bins", "feature_size", "input_dim")
    return {
        "input_ids": ids, "decoder_input_ids": ids,
        "pixel_values": lambda: torch.randn(BATCH, size(3, "num_channels", "in_channels"), *side()),
        "inputs_embeds": lambda: torch.randn(BATCH, LENGTH, hidden),
        "hidden_states": lambda: torch.randn(BATCH, LENGTH, hidden),
        "input_features": lambda: torch.randn(BATCH, mel, 2 * size(LENGTH, "max_source_positions")),
        "input_values": lambda: torch.randn(BATCH, 4000),
    }  # fmt: skip
