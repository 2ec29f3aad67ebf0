"""Time on a GPU: samples, statistics, and what may be claimed of them."""
