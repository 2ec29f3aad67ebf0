"""hydra, of which modules want what it makes of configurations; a script's function is called without it."""


def main(*_, **__):
    return lambda function: function
