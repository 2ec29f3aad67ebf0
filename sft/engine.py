"""The two engines, unsloth and TRL: what they load, and the settings of the trainer that both share.

unsloth patches the others when it is imported, so it comes first, and it wants a CUDA device; several GPUs are TRL's.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from sft.base import Base
from sft.options import SftOptions

Engine = Literal["trl", "unsloth"]
EVAL_BATCH = 4  # held-out examples at once, however training rows are made, so that their losses compare
NEEDED = ("trl", "peft", "accelerate", "transformers")
TENSORBOARDS = ("tensorboard", "tensorboardX")


def choose(options: SftOptions) -> Engine:
    """The engine of a run, imported where it must come first.

    Raises:
        ImportError: a library is missing; the message says how to install it.
        ValueError: what is asked for needs a GPU.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ImportError(f"fine-tuning needs {', '.join(missing)}: pip install 'kdata[sft]'")
    if options.report_to == "tensorboard" and not any(map(find_spec, TENSORBOARDS)):
        raise ImportError("--report-to tensorboard needs it: pip install tensorboard")
    import torch

    if options.method == "qlora" and (find_spec("bitsandbytes") is None or not torch.cuda.is_available()):
        raise ValueError("--method qlora needs a CUDA device and bitsandbytes; --method lora does without")
    if options.engine == "trl":
        return "trl"
    single = torch.cuda.device_count() == 1 and processes() == 1
    if find_spec("unsloth") is None or not single:
        if options.engine == "unsloth":
            raise ValueError("--engine unsloth needs unsloth installed, exactly one CUDA device and one process")
        return "trl"
    import unsloth  # noqa: F401 - before trl, transformers and peft

    return "unsloth"


def processes() -> int:
    """How many processes torchrun or accelerate started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def precision(options: SftOptions) -> Literal["mixed", "bf16", "float32"]:
    """Weights and arithmetic: bf16 only where the device has it."""
    import torch

    if options.precision != "auto":
        return options.precision
    if not (torch.cuda.is_available() and torch.cuda.is_bf16_supported()):
        return "float32"
    return "mixed" if options.method == "full" else "bf16"


def load_model(options: SftOptions, base: Base, engine: Engine) -> tuple[Any, Any]:
    """The model, and the adapter that TRL shall put on it (None: none, or it is on already)."""
    import torch

    dtype = torch.bfloat16 if precision(options) == "bf16" else torch.float32
    if engine == "unsloth":
        return _load_unsloth(options, base, dtype), None
    from transformers import AutoModelForCausalLM

    from sft import documents

    documents.register()
    more: dict[str, Any] = {}
    if options.method == "qlora":
        from transformers import BitsAndBytesConfig

        more["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
        )
    model = AutoModelForCausalLM.from_pretrained(
        base.path, revision=base.revision, dtype=dtype, attn_implementation=attention(options), **more
    )
    return model, None if options.method == "full" else _adapter(options)


def attention(options: SftOptions) -> str:
    """The attention kernel: FlashAttention where it is installed and the numbers are bf16, else PyTorch's own.

    Of packed rows each document is attended to by itself, see ``sft.documents``; other kernels get a mask for that,
    which transformers makes of their positions.
    """
    if options.attention != "auto":
        return options.attention
    if find_spec("flash_attn") is not None and precision(options) != "float32":
        return "flash_attention_2"
    return "documents" if options.batching == "packed" else "sdpa"


def _adapter(options: SftOptions) -> Any:
    from peft import LoraConfig

    return LoraConfig(
        r=options.rank,
        lora_alpha=2 * options.rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _load_unsloth(options: SftOptions, base: Base, dtype: Any) -> Any:
    from unsloth import FastLanguageModel

    full = options.method == "full"
    model, _ = FastLanguageModel.from_pretrained(
        base.path, revision=base.revision, max_seq_length=options.max_length, dtype=dtype,
        load_in_4bit=options.method == "qlora", full_finetuning=full,
    )  # fmt: skip
    if full:
        return model
    return FastLanguageModel.get_peft_model(
        model, r=options.rank, lora_alpha=2 * options.rank, lora_dropout=0.0, random_state=options.seed,
        use_gradient_checkpointing="unsloth" if options.gradient_checkpointing else False,
    )  # fmt: skip


def settings(options: SftOptions, checkpoints: Path, steps: int, evaluated: bool, resumed: bool) -> Any:
    """The trainer's settings, for a data set that is tokenised, packed and in order already.

    Args:
        options: of the run.
        checkpoints: their folder.
        steps: optimizer steps of the whole run.
        evaluated: whether there is anything held out.
        resumed: whether training goes on from a checkpoint.
    """
    import torch
    from trl.trainer.sft_config import SFTConfig

    every = evaluate_every(options, steps)
    chosen = precision(options)
    packed = options.batching == "packed"
    return SFTConfig(
        output_dir=str(checkpoints), seed=options.seed, data_seed=options.seed, report_to=options.report_to,
        num_train_epochs=1, max_steps=steps, per_device_train_batch_size=options.rows_at_once,
        per_device_eval_batch_size=EVAL_BATCH, gradient_accumulation_steps=options.accumulation(processes()),
        learning_rate=options.peak_learning_rate, lr_scheduler_type="cosine",
        warmup_steps=round(options.warmup * steps), weight_decay=0.0, max_grad_norm=1.0,
        packing=packed, eval_packing=False, max_length=options.max_length,
        dataset_kwargs={"skip_prepare_dataset": True}, train_sampling_strategy="sequential",
        bf16=chosen != "float32", use_cpu=not torch.cuda.is_available(),
        gradient_checkpointing=options.gradient_checkpointing and not options.fsdp,
        eval_strategy="steps" if evaluated else "no", eval_steps=every, eval_on_start=evaluated and not resumed,
        save_strategy="steps", save_steps=every, save_total_limit=2, load_best_model_at_end=evaluated,
        metric_for_best_model="eval_loss" if evaluated else None, restore_callback_states_from_checkpoint=True,
        logging_steps=1, disable_tqdm=True,
        ddp_find_unused_parameters=False, dataloader_pin_memory=torch.cuda.is_available(),
        include_num_input_tokens_seen="all" if packed else "non_padding",
        **_sharding(options),
    )  # fmt: skip


def evaluate_every(options: SftOptions, steps: int) -> int:
    """Steps between evaluations and checkpoints."""
    return options.evaluate_every or -(-steps // 10)


def _sharding(options: SftOptions) -> dict[str, Any]:
    """Settings of fully sharded data parallelism, by the model's own layers."""
    if not options.fsdp:
        return {}
    more = {"version": 2, "auto_wrap_policy": "TRANSFORMER_BASED_WRAP", "state_dict_type": "FULL_STATE_DICT"}
    return {"fsdp": True, "fsdp_config": more | {"activation_checkpointing": options.gradient_checkpointing}}
