"""What kernels are called, by the names that Inductor gives them."""

from __future__ import annotations

import pytest

from kdata.align.naming import label


@pytest.mark.parametrize(
    ("inductor", "name"),
    [
        ("triton_red_fused_native_layer_norm_relu_0", "layer_norm_relu"),
        ("triton_red_fused_mul__unsafe_view__softmax_add_0", "mul_softmax_add"),
        ("triton_per_fused__unsafe_view_add__safe_softmax_12", "add_softmax"),
        ("triton_poi_fused__to_copy__native_batch_norm_legit_functional_1", "cast_batch_norm"),
        ("triton_poi_fused__some_new_one__unsafe_index_1", "some_new_one_index"),
        ("triton_poi_fused_view_2", "fused"),
    ],
)
def test_a_kernel_is_called_by_what_it_computes(inductor: str, name: str) -> None:
    assert label(inductor) == name
