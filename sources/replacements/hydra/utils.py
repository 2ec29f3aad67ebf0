"""Hydra's way to make what a configuration describes, where the configuration holds it, or its class, already."""


def instantiate(config, *args, **kwargs):
    if isinstance(config, dict) and callable(config.get("_target_")):
        return config["_target_"](*args, **{k: v for k, v in config.items() if k[:1] != "_"} | kwargs)
    return config(*args, **kwargs) if isinstance(config, type) else config


call = instantiate


def get_object(path):
    """What a configuration holds itself: nothing is looked up by a word."""
    if callable(path):
        return path
    raise LookupError(f"{path} is not here")


get_class = get_method = get_object
