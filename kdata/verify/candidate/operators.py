"""The operators that a wrapper may leave to torch, by their names in ATen: memory, views, copies for layout.

Copies (``clone``, ``contiguous``, ``copy_``, ``to``) are allowed because kernels may want another layout; ``cat``,
``pad``, ``gather`` and the like move data by a rule that is the task's own work, so they are not.
"""

from __future__ import annotations

EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
ALLOCATION = EMPTY | {
    "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "zero_",
    "zero", "fill_", "fill", "scalar_tensor", "lift_fresh", "lift_fresh_copy", "arange", "set_", "resize_",
}  # fmt: skip
VIEWS = frozenset({
    "view", "_unsafe_view", "_reshape_alias", "reshape", "permute", "transpose", "t", "expand", "as_strided",
    "slice", "select", "unsqueeze", "squeeze", "split", "split_with_sizes", "chunk", "unbind", "unfold",
    "alias", "detach", "detach_", "narrow", "diagonal", "movedim", "view_as_real", "view_as_complex",
    "reshape_as", "view_as", "expand_as", "flatten", "unflatten", "ravel", "swapaxes", "swapdims",
    "moveaxis", "mT", "mH", "adjoint", "numpy_T", "tensor_split", "hsplit", "vsplit", "dsplit", "broadcast_to",
    "unsafe_chunk", "unsafe_split", "_conj", "squeeze_", "unsqueeze_", "transpose_", "t_", "as_strided_",
    "is_same_size", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "promote_types",
    "result_type", "can_cast", "data", "requires_grad_", "resolve_conj", "resolve_neg",
    # in inference mode an operator that is made of views is not taken apart before it is seen
    "broadcast_tensors", "meshgrid", "atleast_1d", "atleast_2d", "atleast_3d", "linalg_diagonal", "matrix_H", "conj",
    "real", "imag",
})  # fmt: skip
READS = frozenset({"_local_scalar_dense", "item", "is_nonzero"})
# ``nn.GRU`` and its kin lay their weights side by side whenever they are moved to a GPU.
LAID = frozenset({"_use_cudnn_rnn_flatten_weight", "_cudnn_rnn_flatten_weight"})
COPIES = READS | LAID | {"clone", "contiguous", "copy_", "copy", "_to_copy", "to", "type_as"}
ALLOWED = ALLOCATION | VIEWS | COPIES
# What moves elements by a rule of its own, and computes nothing either.
MOVES = frozenset({
    "cat", "stack", "hstack", "vstack", "repeat", "repeat_interleave", "tile", "roll", "flip", "fliplr", "flipud",
    "rot90", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "unfold_copy", "im2col",
    "gather", "index", "index_select", "take", "take_along_dim", "embedding", "upsample_nearest1d",
    "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "_pad_circular", "block_diag", "diag_embed", "tril", "triu",
    "slice_scatter", "select_scatter", "diagonal_scatter", "permute_copy", "expand_copy", "view_copy", "split_copy",
})  # fmt: skip
