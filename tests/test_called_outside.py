"""What scripts do with a module before they call it, said within its class."""

from __future__ import annotations

from sources.text.bindings import parse

BUILT = """class Net(Base):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def build_model(self):
        self.line = nn.Linear(self.width, self.width)

    def forward(self, x):
        return self.line(x)
"""
NAMED = """class Net(nn.Module):
    def forward(self, x, **kwargs):
        y = kwargs['labels'].float()
        return x + y * kwargs['labels']
"""


def _text(text: str) -> str:
    return parse("a.py", text, lambda _: False).text


def test_what_makes_the_parts_is_called_where_the_module_is_made() -> None:
    assert "        self.width = width\n        self.build_model()\n" in _text(BUILT)


def test_what_is_called_already_or_takes_or_makes_nothing_is_left() -> None:
    for other in (
        BUILT.replace("self.width = width", "self.build_model()"),
        BUILT.replace("build_model(self)", "build_model(self, width)"),
        BUILT.replace("self.line = nn.Linear(self.width, self.width)", "raise NotImplementedError"),
    ):
        assert _text(other) == other


def test_inputs_that_come_by_name_only_are_parameters() -> None:
    text = _text(NAMED)
    assert "def forward(self, x, labels, **kwargs):" in text
    assert "return x + y * labels" in text
    handed_on = NAMED.replace("kwargs['labels']\n", "self.line(x, **kwargs)\n")
    assert _text(handed_on) == handed_on
