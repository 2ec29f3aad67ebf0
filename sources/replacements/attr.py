"""Classes of declared attributes, as much of attrs as modules use: ``attr.s``, ``attr.ib`` and their newer names."""

import inspect

NOTHING = object()


class Factory:
    def __init__(self, factory, takes_self=False):
        self.factory, self.takes_self = factory, takes_self


class Attribute:
    def __init__(self, default=NOTHING, init=True, factory=None, converter=None, **_):
        self.default = default if factory is None else Factory(factory)
        self.init, self.converter = init, converter

    def start(self, instance):
        made = self.default
        if isinstance(made, Factory):
            return made.factory(instance) if made.takes_self else made.factory()
        return made


def ib(default=NOTHING, **options):
    return Attribute(default, **options)


def declared(cls, annotated):
    found = {}
    for kind in reversed(cls.__mro__):
        found.update(vars(kind).get("_declared", {}))
    marked = {n: a for n, a in vars(cls).items() if isinstance(a, Attribute)}
    values = {n: vars(cls).get(n, NOTHING) for n in vars(cls).get("__annotations__", {}) if annotated or not marked}
    own = {n: v if isinstance(v, Attribute) else Attribute(v) for n, v in {**values, **marked}.items()}
    cls._declared = own
    return {**found, **own}


def s(maybe_cls=None, **options):
    def wrap(cls):
        attributes = declared(cls, options.get("auto_attribs"))
        for name in cls._declared:
            if name in vars(cls):
                delattr(cls, name)
        parameters = [
            inspect.Parameter(n.lstrip("_"), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=inspect.Parameter.empty
                              if a.default is NOTHING else None if isinstance(a.default, Factory) else a.default)
            for n, a in attributes.items() if a.init
        ]  # fmt: skip
        signature = inspect.Signature(sorted(parameters, key=lambda p: p.default is not p.empty))

        def __init__(self, *args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            if hasattr(self, "__attrs_pre_init__"):
                self.__attrs_pre_init__()
            for name, attribute in attributes.items():
                public = name.lstrip("_")
                value = given[public] if public in given else attribute.start(self)
                if value is not NOTHING:
                    object.__setattr__(self, name, attribute.converter(value) if attribute.converter else value)
            if hasattr(self, "__attrs_post_init__"):
                self.__attrs_post_init__()

        __init__.__signature__ = inspect.Signature(
            [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *signature.parameters.values()]
        )
        cls.__init__ = __init__
        return cls

    return wrap if maybe_cls is None else wrap(maybe_cls)


attrs = attributes = define = frozen = mutable = dataclass = s
attrib = attr = field = ib
