"""Tables of a model's layers, of which only the call that is measured is left."""

import torch


def called(model, size, **kwargs):
    sizes = [size] if isinstance(size[0], int) else list(size)
    model(*(torch.rand(*s) for s in sizes))


def summary(model, input_size=None, *args, input_data=None, **kwargs):
    if input_data is not None:
        return model(*input_data) if isinstance(input_data, (list, tuple)) else model(input_data)
    sizes = [input_size] if isinstance(input_size[0], int) else list(input_size)
    return called(model, [(2, *s) if len(s) < 4 else tuple(s) for s in sizes])


def profile(model, inputs=(), *args, **kwargs):
    model(*inputs)
    return 0.0, 0.0


def clever_format(numbers, format=None):
    return [str(n) for n in numbers]


def get_model_complexity_info(model, input_res, *args, **kwargs):
    called(model, (1, *input_res))
    return 0.0, 0.0
