"""huggingface_hub's fields that check what they are given: here they are what they are by default."""


def validated_field(validator, default=None, default_factory=None, **kwargs):
    return default if default_factory is None else default_factory()


def as_validated_field(validator):
    def field(**kwargs):
        return validated_field(validator, **kwargs)

    return field
