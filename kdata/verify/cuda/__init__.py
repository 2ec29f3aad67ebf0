"""Candidates in CUDA C++: compiled ahead, their launches seen and held back."""
