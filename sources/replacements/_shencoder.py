"""The compiled spherical harmonics of torch-ngp, and of what is built on it: they fill the output they are given.

They are real ones, with the phase of Condon and Shortley, as polynomials of a direction that is not made a unit one.
"""

import math

import torch


def legendre(z, order, degree):
    """Derivatives of that order of the Legendre polynomials from that degree on, up to ``degree``."""
    found = [torch.full_like(z, math.prod(range(1, 2 * order, 2)))]
    before = torch.zeros_like(z)
    for d in range(order + 1, degree):
        following = ((2 * d - 1) * z * found[-1] - (d + order - 1) * before) / (d - order)
        before = found[-1]
        found.append(following)
    return found


def sh_encode_forward(inputs, outputs, B, D, degree, dy_dx=None):
    x, y, z = inputs.unbind(-1)
    harmonics, real, imaginary = {}, torch.ones_like(x), torch.zeros_like(x)
    for order in range(degree):
        for d, polynomial in enumerate(legendre(z, order, degree), order):
            share = math.factorial(d - order) / math.factorial(d + order)
            scale = math.sqrt((2 * d + 1) / (4 * math.pi) * share * (2 if order else 1)) * (-1) ** order
            harmonics[d, order] = scale * polynomial * real
            harmonics[d, -order] = scale * polynomial * (imaginary if order else real)
        real, imaginary = x * real - y * imaginary, x * imaginary + y * real
    outputs.copy_(torch.stack([harmonics[key] for key in sorted(harmonics)], dim=-1))
