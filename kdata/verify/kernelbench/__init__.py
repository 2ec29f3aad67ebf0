"""KernelBench's own rule, so that our numbers can be set beside those of others."""
