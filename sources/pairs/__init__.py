"""Pairs of operator libraries: hand-written kernels beside what they ought to compute, each in a text of its own."""
