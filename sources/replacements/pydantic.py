"""pydantic's models as plain records: fields with defaults, models within models. Nothing is validated."""

import copy
import inspect

_MISSING = object()


class FieldInfo:
    def __init__(self, default=_MISSING, default_factory=None):
        self.default, self.default_factory = default, default_factory


def Field(default=_MISSING, default_factory=None, **_):
    return FieldInfo(_MISSING if default is ... else default, default_factory)


def ConfigDict(**settings):
    return settings


def validator(*_, **__):
    return lambda function: function


def field_validator(*_, **__):
    return lambda function: function


def root_validator(*_, **__):
    return lambda function: function


def model_validator(*_, **__):
    return lambda function: function


def _fields(cls):
    found = {}
    for kind in reversed(cls.__mro__):
        for name, hint in vars(kind).get("__annotations__", {}).items():
            if not name.startswith("_") and "ClassVar" not in str(hint) and name != "model_config":
                value = vars(kind).get(name, _MISSING)
                found[name] = (hint, value if isinstance(value, FieldInfo) else FieldInfo(value))
    return found


class BaseModel:
    def __init_subclass__(cls, **_):
        fields = _fields(cls)
        required = [n for n, (_, field) in fields.items() if field.default is _MISSING and not field.default_factory]
        kind = inspect.Parameter.KEYWORD_ONLY
        cls.__signature__ = inspect.Signature(
            [inspect.Parameter(n, kind) for n in required]
            + [inspect.Parameter(n, kind, default=fields[n][1].default) for n in fields if n not in required]
        )
        cls.model_fields = {n: field for n, (_, field) in fields.items()}

    def __init__(self, **given):
        for name, (hint, field) in _fields(type(self)).items():
            if name in given:
                value = _made(hint, given[name])
            elif field.default_factory:
                value = field.default_factory()
            elif field.default is not _MISSING:
                value = copy.deepcopy(field.default)
            else:
                raise TypeError(f"missing 1 required keyword-only argument: '{name}'")
            object.__setattr__(self, name, value)
        if hasattr(self, "model_post_init"):
            self.model_post_init(None)

    @classmethod
    def model_validate(cls, value):
        return value if isinstance(value, cls) else cls(**value)

    @classmethod
    def parse_obj(cls, value):
        return value if isinstance(value, cls) else cls(**value)

    def model_dump(self, **_):
        return {n: v.model_dump() if isinstance(v, BaseModel) else v for n, v in vars(self).items()}

    def dict(self, **_):
        return self.model_dump()

    def model_copy(self, update=None, **_):
        made = copy.copy(self)
        made.__dict__.update(update or {})
        return made


def _made(hint, value):
    """A field's value: a mapping where the field is a model becomes one."""
    if not hasattr(value, "keys") or isinstance(value, BaseModel):
        return value
    if isinstance(hint, str):  # annotations are strings
        hint = next((kind for kind in BaseModel.__subclasses__() if kind.__name__ == hint), hint)
    return hint(**value) if isinstance(hint, type) and issubclass(hint, BaseModel) else value
