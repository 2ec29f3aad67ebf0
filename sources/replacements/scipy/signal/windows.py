"""Windows by the name of their own module."""

from scipy.signal import blackman, get_window, hamming, hann, kaiser  # noqa: F401
