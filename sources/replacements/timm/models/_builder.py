"""How timm builds a network of its class, without trained weights."""

from timm.models._features import FeatureListNet


def build_model_with_cfg(model_cls, variant, pretrained=False, pretrained_cfg=None, pretrained_cfg_overlay=None,
                         model_cfg=None, feature_cfg=None, pretrained_strict=True, pretrained_filter_fn=None,
                         cache_dir=None, kwargs_filter=None, pretrained_custom_load=False, default_cfg=None,
                         **kwargs):  # fmt: skip
    features_only = kwargs.pop("features_only", False)
    taken = {"out_indices": (0, 1, 2, 3, 4), **(feature_cfg or {})}
    for name in ("out_indices", "feature_cls"):
        if features_only and name in kwargs:
            taken[name] = kwargs.pop(name)
    for name in kwargs_filter or ():
        kwargs.pop(name, None)
    model = model_cls(**kwargs) if model_cfg is None else model_cls(cfg=model_cfg, **kwargs)
    if features_only:
        taken.pop("feature_cls", None)
        taken.setdefault("flatten_sequential", False)
        model = FeatureListNet(model, **taken)
    return model


def resolve_pretrained_cfg(variant, pretrained_cfg=None, pretrained_cfg_overlay=None, kwargs=None):
    return None


def load_pretrained(model, *args, **kwargs):
    pass


load_custom_pretrained = set_pretrained_download_progress = load_pretrained
