"""DeepSpeed's checkpoints of activations, by the short name."""

from deepspeed.runtime.activation_checkpointing.checkpointing import (  # noqa: F401
    _CUDA_RNG_STATE_TRACKER,
    _MODEL_PARALLEL_RNG_TRACKER_NAME,
    checkpoint,
    configure,
    get_cuda_rng_tracker,
    is_configured,
    reset,
)
