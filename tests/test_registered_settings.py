"""Models of diffusers' kind keep what they were constructed with as settings, as their own base does."""

from __future__ import annotations

from typing import Any

import torch

from tests.cuts import HEAD, cut

NET = HEAD + (
    "from diffusers.configuration_utils import ConfigMixin, register_to_config\n"
    "from diffusers.models.modeling_utils import ModelMixin\n\n\nclass Net(ModelMixin, ConfigMixin):\n"
    "    @register_to_config\n    def __init__(self, width, centred=True, **more):\n        super().__init__()\n"
    "        self.line = nn.Linear(width, self.config.width)\n\n    def forward(self, x):\n"
    "        x = x.to(self.device, self.dtype)\n"
    "        return self.line(2 * x - 1.0 if self.config.centred and self.config['centred'] else x)\n"
)


def test_settings_are_what_the_constructor_was_given_and_its_defaults() -> None:
    namespace: dict[str, Any] = {}
    exec(compile(cut({"net.py": NET}, "net.py", "Net"), "cut", "exec"), namespace)
    x = torch.rand(2, 3, dtype=torch.float64)
    net = namespace["Net"](3)
    assert torch.equal(net(x), net.line(2 * x.float() - 1.0))
    plain = namespace["Net"](width=3, centred=False)
    assert torch.equal(plain(x), plain.line(x.float()))
    assert dict(plain.config)["centred"] is False
