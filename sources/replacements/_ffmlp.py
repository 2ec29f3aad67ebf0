"""The compiled perceptrons of torch-ngp, and of what is built on it: they fill the output they are given.

The weights of all layers follow each other in one vector, none has a bias.
"""

import torch

SHARPNESS = 10  # of the last two that are not linear


def squareplus(x):
    return (x + (x * x + 4 / SHARPNESS**2).sqrt()) / 2


def softplus(x):
    return torch.nn.functional.softplus(x, beta=SHARPNESS)


ACTIVATIONS = (torch.relu, torch.exp, torch.sin, torch.sigmoid, squareplus, softplus, torch.clone)


def ffmlp_inference(
    inputs, weights, B, input_dim, output_dim, hidden_dim, num_layers, activation, output_activation, buffer, outputs
):
    first, last = hidden_dim * input_dim, hidden_dim * output_dim
    x = ACTIVATIONS[activation](inputs @ weights[:first].view(hidden_dim, input_dim).t())
    for layer in weights[first : len(weights) - last].view(-1, hidden_dim, hidden_dim):
        x = ACTIVATIONS[activation](x @ layer.t())
    x = x @ weights[len(weights) - last :].view(output_dim, hidden_dim).t()
    outputs.copy_(ACTIVATIONS[output_activation](x))


ffmlp_forward = ffmlp_inference


def allocate_splitk(size):
    pass


def free_splitk():
    pass
