"""What PyTorch-Encoding compiles into its own package, in later versions than those that load it as ``enclib_cpu``."""

from enclib_cpu import aggregate_forward, scaled_l2_forward

__all__ = ["aggregate_forward", "scaled_l2_forward"]
