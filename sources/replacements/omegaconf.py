"""omegaconf's containers, as Python's own."""

from contextlib import contextmanager
from dataclasses import MISSING as UNSET
from dataclasses import fields, is_dataclass

MISSING = None
ListConfig = list


class DictConfig(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value


def _plain(field):
    return field.default_factory() if field.default_factory is not UNSET else getattr(field, "default", None)


def _contained(value):
    """A value in which mappings, and records of a dataclass or its class, are containers, at any depth."""
    kind = None
    if is_dataclass(value) and isinstance(value, type):
        kind, value = value, {f.name: None if _plain(f) is UNSET else _plain(f) for f in fields(value)}
    elif is_dataclass(value):
        kind, value = type(value), {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, dict):
        made = DictConfig({k: _contained(v) for k, v in value.items()})
        object.__setattr__(made, "_kind", kind)
        return made
    return [_contained(v) for v in value] if isinstance(value, list | tuple) else value


@contextmanager
def open_dict(config):
    """Ours are open at any time."""
    yield config


read_write = open_dict


class OmegaConf:
    @staticmethod
    def create(value=None):
        return _contained({} if value is None else value)

    @staticmethod
    def structured(value):
        return _contained(value)

    @staticmethod
    def select(value, key, default=None):
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return default if value is None else value

    @staticmethod
    def resolve(value):
        pass

    @staticmethod
    def get_type(value, key=None):
        """The class of the record that a container was made of, or of what is none."""
        value = value if key is None else value.get(key)
        plain = dict if isinstance(value, dict) else list if isinstance(value, list) else type(value)
        return value.__dict__.get("_kind") or plain if isinstance(value, DictConfig) else plain

    @staticmethod
    def is_missing(value, key):
        return value.get(key) is None

    @staticmethod
    def register_new_resolver(name, resolver, **kwargs):
        pass

    @staticmethod
    def to_container(value, **kwargs):
        return value

    @staticmethod
    def is_list(value):
        return isinstance(value, list)

    @staticmethod
    def is_dict(value):
        return isinstance(value, dict)

    @staticmethod
    def is_config(value):
        return isinstance(value, dict | list)

    @staticmethod
    def merge(*values):
        merged = DictConfig()
        for value in values:
            merged.update(_contained(value or {}))
        return merged

    @staticmethod
    def to_yaml(value, **kwargs):
        return str(value)

    @staticmethod
    def set_struct(value, flag):
        pass

    @staticmethod
    def set_readonly(value, flag):
        pass


def II(interpolation):
    return None
