"""Classes of OpenMMLab's kind: registries, builders, and what of their package is taken from ours."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from kdata.task import execute
from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.forward.failure import Failure
from sources.infer.forward.input_guesses import LEVELS
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Tensor
from sources.mine import replacements
from sources.text.roots import Roots
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.attempts import attempted, cut_and_attempted
from tests.cuts import HEAD, cut

LAYERS = """
from mmcv.cnn import CONV_LAYERS, UPSAMPLE_LAYERS, ConvModule, build_upsample_layer


@UPSAMPLE_LAYERS.register_module()
class Interp(nn.Module):
    def __init__(self, channels, factor=2):
        super().__init__()
        self.conv, self.factor = ConvModule(channels, 8, 1, norm_cfg=dict(type='BN')), factor

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=self.factor))


@CONV_LAYERS.register_module(name='Odd')
class OddConv(nn.Conv2d):
    pass


class Net(nn.Module):
    def __init__(self, up=dict(type='Interp'), conv=dict(type='Odd')):
        super().__init__()
        self.up = build_upsample_layer(cfg=up, channels=4)
        self.conv = ConvModule(8, 8, 3, conv_cfg=conv, act_cfg=dict(type='HSigmoid', bias=1.0, divisor=2.0))
        self.same = ConvModule(8, 8, 3, stride=2, conv_cfg=dict(type='Conv2dAdaptivePadding'))
        assert self.conv.norm_cfg is None

    def forward(self, x):
        return self.same(self.conv(self.up(x)))
"""
SCOPED = """
import inspect


class Registry:
    def __init__(self):
        self.scope, self.known = self.infer_scope(), {}

    @staticmethod
    def infer_scope():
        return inspect.getmodule(inspect.currentframe().f_back.f_back).__name__.split('.')[0]


NETS = Registry()
Script = torch.jit.ScriptModule
method = torch.jit.script_method


class Inner(Script):
    __constants__ = ['wide']

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    @method
    def forward(self, x):
        return self.line(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.nets = Inner(), NETS

    def forward(self, x):
        return self.inner(x)
"""


def test_layers_that_a_package_adds_to_the_registries_are_found_by_the_builders() -> None:
    text = cut({"net.py": HEAD + LAYERS}, "net.py", "Net")
    space: dict[str, Any] = {}
    exec(text, space)
    net = space["Net"]()
    assert type(net.conv.conv).__name__ == "OddConv" and type(net.up).__name__ == "Interp"
    assert net(torch.ones(2, 4, 5, 5)).shape == (2, 8, 4, 4)


def archived(files: dict[str, str]) -> Roots:
    """The files as those of a version of mmcv's package."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return Roots([("mmcv-1.0-py3-none-any.whl", out.getvalue(), "mmcv")])


def test_what_is_ours_is_taken_by_the_packages_own_files_too() -> None:
    files = {
        "mmcv/__init__.py": "", "mmcv/cnn/__init__.py": "from .block import Block\n",
        "mmcv/cnn/conv.py": "from torch import nn\n\n\nclass ConvModule(nn.Module):\n    pass\n",
        "mmcv/cnn/block.py": "from .conv import ConvModule\nfrom .other import other\n\n\nclass Block(ConvModule):\n    pass\n",
        "mmcv/cnn/other.py": "def other():\n    pass\n",
    }  # fmt: skip
    roots = archived(files)
    package = Package({"net.py": "from mmcv.cnn import Block\n"}, replacements(), roots=roots)
    block = package.lookup("net.py", "Block")
    assert block == Here("_roots/mmcv==1.0/mmcv/cnn/block.py", "Block")
    assert package.lookup(block.file, "ConvModule") == Here("mmcv.py", "ConvModule")
    assert package.lookup(block.file, "other") == Here("_roots/mmcv==1.0/mmcv/cnn/other.py", "other")


EXTENDED = """from ..utils import ext_loader
import torch
import torch.nn.functional as F

ext_module = ext_loader.load_ext('_ext', ['deform_conv_forward', 'sigmoid_focal_loss_forward', 'nms'])


def moved(x, weight, offset):
    out = x.new_empty(x.shape[0], weight.shape[0], x.shape[2] - 2, x.shape[3] - 2)
    ext_module.deform_conv_forward(x, weight, offset, out, None, None, kW=3, kH=3, dW=1, dH=1, padW=0, padH=0,
                                   dilationW=1, dilationH=1, group=1, deformable_group=1, im2col_step=1)
    return out


def focal(x, target):
    out = torch.empty_like(x)
    ext_module.sigmoid_focal_loss_forward(x, target, x.new_empty(0), out, gamma=2.0, alpha=0.25)
    return out


def kept(boxes, scores):
    return ext_module.nms(boxes, scores)
"""


def test_compiled_operators_of_mmcv_that_torch_has_are_these_and_others_raise_when_they_are_called() -> None:
    files = {"mmcv/__init__.py": "", "mmcv/utils/__init__.py": "", "mmcv/utils/ext_loader.py": "import compiled\n",
             "mmcv/ops/__init__.py": "from .op import focal, kept, moved\n", "mmcv/ops/op.py": EXTENDED}  # fmt: skip
    text = HEAD + "from mmcv.ops import focal, kept, moved\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    text += "        return moved, focal, kept\n"
    package = Package({"net.py": text}, replacements(), roots=archived(files))
    namespace: dict[str, Any] = {}
    exec(write_cut(Slicer(package), "net.py", "Net").source, namespace)
    moved, focal, kept = namespace["Net"]()(None)
    x, weight = torch.randn(2, 4, 6, 6), torch.randn(5, 4, 3, 3)
    torch.testing.assert_close(moved(x, weight, torch.zeros(2, 18, 4, 4)), torch.nn.functional.conv2d(x, weight))
    rows, classes = torch.randn(3, 2), torch.tensor([0, 2, 1])  # of two: the second row is of none
    share = torch.sigmoid(rows)
    wrong = -0.75 * share**2 * torch.log1p(-share)
    right = -0.25 * (1 - share) ** 2 * torch.log(share)
    true = torch.tensor([[True, False], [False, False], [False, True]])
    torch.testing.assert_close(focal(rows, classes), torch.where(true, right, wrong))
    with pytest.raises(NotImplementedError):
        kept(None, None)


def test_a_text_that_is_only_executed_needs_no_module_and_no_file_of_its_own(tmp_path: Path) -> None:
    text = cut({"net.py": HEAD + SCOPED}, "net.py", "Net")
    execute(f"{text}\n\ndef get_inputs():\n    return [torch.ones(2, 4)]\n", "Net").build()


def test_a_list_and_a_mapping_are_two_arguments(tmp_path: Path) -> None:
    outcome = attempted("""
class Net(nn.Module):
    def __init__(self, nets, options):
        super().__init__()
        self.nets, self.options = nn.ModuleList(nets), options

    def forward(self, x):
        return torch.cat([net(x) * 2 for net in self.nets], dim=1, **self.options)
""", tmp_path)  # fmt: skip
    assert not outcome["reason"], outcome["detail"]


def test_layers_are_told_in_openmmlabs_way() -> None:
    told = [values(f"{name}_cfg", "", Uses())[0] for name in ("norm", "dw_act", "conv")]
    assert told == ["{'type': 'BN'}", "{'type': 'ReLU'}", "None"]


def test_where_a_part_of_an_image_is_to_be_an_image_there_are_several() -> None:
    image = Tensor((4, 8, 16, 16))
    message = "NotImplementedError: Got 3D input, but bilinear mode needs 4D input"
    found = [specs for _, specs in repairs(Failure((image,), message, torch.nn.Identity(), "interpolate", (), []))]
    assert (Many((image,) * LEVELS),) in found


RECOGNIZER = """
import torch.nn as nn
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmengine.registry import MODELS


@MODELS.register_module()
class Recognizer(BaseModel):
    def __init__(self, width, data_preprocessor=None):
        if data_preprocessor is None:
            data_preprocessor = dict(type="ActionDataPreprocessor")
        super().__init__(data_preprocessor=data_preprocessor)
        self.head = nn.Linear(width, 8)
        logger = MMLogger.get_current_instance()
        logger.info(f"{width} channels")

    def forward(self, inputs, data_samples=None, mode="tensor"):
        return self.head(inputs)
"""


def test_models_of_openmmlab_need_no_preprocessor_and_log_with_pythons_own_logger(tmp_path: Path) -> None:
    outcome = cut_and_attempted(RECOGNIZER, "Recognizer", tmp_path)
    assert outcome["reason"] == "" and "class BaseDataPreprocessor" not in outcome["source"]


OPERATORS = """from mmcv.utils.ext_loader import load_ext

ext = load_ext('_ext', ['carafe_forward', 'furthest_point_sampling_forward', 'softmax_focal_loss_forward',
                        'furthest_point_sampling_with_dist_forward'])


class Net(nn.Module):
    def forward(self, x, masks, points, likely, target):
        wide, loss = x.new_empty(1, 4, 6, 6), likely.new_empty(len(target))
        ext.carafe_forward(x, masks, None, None, None, wide, kernel_size=3, group_size=2, scale_factor=2)
        one, other = points.new_empty(1, 4, dtype=torch.int), points.new_empty(1, 4, dtype=torch.int)
        ext.furthest_point_sampling_forward(points, None, one, b=1, n=9, m=4)
        away = torch.cdist(points, points) ** 2
        ext.furthest_point_sampling_with_dist_forward(away, points.new_full((1, 9), 1e10), other, b=1, n=9, m=4)
        ext.softmax_focal_loss_forward(likely, target, likely.new_empty(0), loss, gamma=2.0, alpha=0.25)
        return wide, one, other, loss
"""


def test_more_compiled_operators_of_mmcv_compute_what_these_do() -> None:
    exec(cut({"net.py": HEAD + OPERATORS}, "net.py", "Net"), space := dict[str, Any]())
    x, masks, likely, target = (
        torch.randn(1, 4, 3, 3),
        torch.rand(1, 18, 6, 6),
        torch.rand(3, 2),
        torch.tensor([0, 1, 1]),
    )
    wide, one, other, loss = space["Net"]()(x, masks, torch.randn(1, 9, 3), likely, target)
    near = torch.nn.functional.pad(x, (1, 1, 1, 1))[0, 3, 1:4, 1:4]  # of the last channel, around one place
    torch.testing.assert_close(wide[0, 3, 3, 2], (near.flatten() * masks[0, 9:, 3, 2]).sum())
    assert one.tolist() == other.tolist()
    torch.testing.assert_close(loss, -0.25 * (1 - likely[range(3), target]) ** 2 * likely[range(3), target].log())
