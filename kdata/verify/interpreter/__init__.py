"""Triton's interpreter, mended, hastened and watched, and the GPU that is not there."""
