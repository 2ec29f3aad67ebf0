"""What a parameter is given at first, by its name alone."""

from __future__ import annotations

import pytest

from sources.hints.guesses import values
from sources.hints.uses import Uses


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("model", "nn.Identity()"), ("teacher_model", "nn.Identity()"), ("d_model", "64"), ("dim_model", "64"),
        ("model_dim", "64"), ("style_dim", "64"), ("mode", "'default'"), ("padding_mode", "'zeros'"), ("block_type", "'default'"),
        ("interpolation_mode", "'default'"), ("inter_channels", "64"), ("norm_type", "'batch'"), ("norm_layer", "nn.LayerNorm"),
        ("act_type", "'relu'"), ("growth_rate", "16"), ("dropout_rate", "0.0"), ("bn_size", "64"), ("bn", "False"),
        ("residual", "False"), ("residual_channels", "64"), ("use_residual", "False"), ("pool_size", "2"), ("pool", "'avg'"),
        ("num_patches", "64"), ("patch_size", "4"), ("attention_layer", "nn.Identity()"),
        ("classifier", "nn.Identity()"), ("num_classes", "16"), ("n_min", "16"), ("dec_max_len", "64"),
        ("upsample_rate", "4"), ("norm_eps", "1e-5"), ("num_steps", "2"), ("conv_groups", "4"),
        ("dtype", "torch.float32"), ("beam_search", "64"), ("num_prototypes", "64"), ("extractor_type", "'default'"),
    ],
)  # fmt: skip
def test_no_part_of_a_word_is_taken_for_it(name: str, first: str) -> None:
    assert values(name, "", Uses())[0] == first
