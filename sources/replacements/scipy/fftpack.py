"""Lengths for which Fourier transforms are quick, as scipy.fftpack tells them."""


def next_fast_len(target):
    """The least number from ``target`` on whose factors are 2, 3 and 5."""
    best = 1 << max(0, target - 1).bit_length()
    fives = 1
    while fives < best:
        number = fives
        while number < best:
            twos = number << max(0, -(-target // number) - 1).bit_length()
            best = min(best, twos)
            number *= 3
        fives *= 5
    return best
