"""scipy's windows by the name of their module, and its beta-binomial counts, without scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sources import mine
from tests.cuts import HEAD, cut


def test_windows_are_found_in_their_own_module() -> None:
    text = (
        HEAD
        + "from scipy.signal import windows\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('window', torch.tensor(windows.hamming(8)))\n"
        "    def forward(self, x):\n        return x * self.window\n"
    )
    source = cut({"a.py": text}, "a.py", "Net")
    assert "def hamming" in source
    assert "scipy" not in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert namespace["Net"]().window.tolist() == pytest.approx(np.hamming(8).tolist())


def test_beta_binomial_counts_are_uniform_where_all_odds_are_alike_and_add_up_to_one() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.stats"], namespace)
    pmf = namespace["betabinom"].pmf
    assert pmf(range(5), 4, 1.0, 1.0) == pytest.approx([0.2] * 5)
    assert pmf(2, 2, 2.0, 3.0) == pytest.approx(0.2)  # of B(4, 3) / B(2, 3): (1 / 60) / (1 / 12)
    assert pmf(range(11), 10, 0.1, 0.9).sum() == pytest.approx(1.0)
    assert pmf([-1, 11], 10, 0.1, 0.9).tolist() == [0.0, 0.0]
    assert namespace["betabinom"](2, 2.0, b=3.0, loc=1).pmf(3) == pytest.approx(0.2)


def test_a_period_of_a_window_lacks_the_last_of_one_point_more() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.signal"], namespace)
    for name in ("hann", "hamming", "blackman"):
        whole, period = (namespace[name](n, sym) for n, sym in ((9, True), (8, False)))
        assert period.tolist() == whole[:-1].tolist() == namespace["get_window"](name, 8).tolist()
        assert namespace[name](1, False) == pytest.approx(1.0)
