"""libdevice under the interpreter: what kernels get of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import math
import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as nvidia
from kdata.verify.interpreter import interpreter
from kdata.verify.candidate.launches import Ledger
interpreter.mend()
Ledger().install()


@triton.jit
def kernel(x_ptr, y_ptr, i_ptr, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k)
    tl.store(y_ptr + k, libdevice.erf(x) + nvidia.pow(x, 2.0) + libdevice.fma_rn(x, 2.0, 1.0))
    tl.store(y_ptr + BLOCK + k, tl.where(nvidia.isnan(libdevice.sqrt(x)), libdevice.atan2(x, 2.0), libdevice.lgamma(x)))
    tl.store(i_ptr + k, libdevice.float2int_rd(x) + libdevice.popc(k) + libdevice.llrint(x).to(tl.int32))
    tl.store(i_ptr + BLOCK + k, libdevice.float_as_int(x))


def run(x):
    y, i = torch.empty(2, x.numel()), torch.empty(2, x.numel(), dtype=torch.int32)
    kernel[(1,)](x, y, i, BLOCK=x.numel())
    return y, i


x = torch.tensor([-2.5, -0.3, 0.0, 0.7, 1.5, 2.0, 3.25, 9.0])
y, i = run(x)
torch.testing.assert_close(y[0], torch.erf(x) + x**2 + 2 * x + 1)
torch.testing.assert_close(y[1], torch.where(x < 0, torch.atan2(x, torch.tensor(2.0)), torch.lgamma(x)))
bits = torch.tensor([bin(n).count("1") for n in range(8)])
assert i[0].tolist() == (torch.floor(x) + bits + torch.round(x)).int().tolist()
assert i[1].tolist() == x.view(torch.int32).tolist()
assert libdevice.add_ru(1.0, 2.0**-40).handle.data[0] == np.nextafter(np.float32(1), np.float32(2))
assert libdevice.add_rd(1.0, 2.0**-40).handle.data[0] == 1.0
assert libdevice.float2ull_rn(1e30).handle.data[0] == 2**64 - 1
assert libdevice.clz(1).handle.data[0] == 31 and libdevice.ffs(8).handle.data[0] == 4
try:
    libdevice.tanh(tl.core.tensor(interpreter.interpreter.TensorHandle(np.zeros(1, np.float16), tl.float16), tl.float16))
except ValueError as error:
    print(error)
"""


def test_kernels_get_the_values_of_libdevice(tmp_path: Path) -> None:
    """Of every kind of function; and none of a dtype that it does not know."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "libdevice has no tanh of fp16\n"), done.stderr[-2000:]
