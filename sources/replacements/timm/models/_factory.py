"""How timm makes a network of its name, without trained weights."""

from timm.models._registry import model_entrypoint


def create_model(model_name, pretrained=False, pretrained_cfg=None, pretrained_cfg_overlay=None, checkpoint_path=None,
                 cache_dir=None, scriptable=None, exportable=None, no_jit=None, **kwargs):  # fmt: skip
    given = {k: v for k, v in kwargs.items() if v is not None}
    return model_entrypoint(model_name.split("/")[-1].split(".")[0])(**given)
