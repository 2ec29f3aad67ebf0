"""PyTorch module in, Triton program out: the compiler makes the pair, on a machine without a GPU."""
