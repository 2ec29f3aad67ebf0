"""Judging on a GPU: what the device adds to a verdict, on both sides."""
