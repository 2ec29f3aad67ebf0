"""kdata: supervised fine-tuning data for models that write GPU kernels, where every row carries its receipt."""
