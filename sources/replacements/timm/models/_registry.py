"""The networks of timm by name."""

_model_entrypoints = {}


def register_model(function):
    _model_entrypoints[function.__name__] = function
    return function


def model_entrypoint(name, module_filter=None):
    return _model_entrypoints[name]


def is_model(name):
    return name in _model_entrypoints


def generate_default_cfgs(configurations):
    return {}


def get_pretrained_cfg(name, allow_unregistered=True):
    return None


def register_model_deprecations(module, deprecations):
    pass
