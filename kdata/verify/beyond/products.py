"""Whether kernels say how precise their products of float32 are to be.

``tl.dot`` that says nothing takes Triton's default, which is TF32 on GPUs that have it.  Candidates are judged with
IEEE's as the default, so that such a kernel is as exact as one that asks for it, while its users get another one.  What
it computes is right where it was run: a receipt tells of it and nobody is rejected for it.
"""

from __future__ import annotations

from kdata.verify.evidence.findings import Findings
from kdata.verify.options import Options

CHECK = "says how precise its products are"
LEFT = "it leaves that to Triton, which takes TF32 on GPUs that have it; it was judged in IEEE's precision"


def tell(found: Findings, options: Options) -> None:
    """Note it, where a call met such a product; not in TF32's own track, in which the default is what is judged."""
    if found.products is not None and not options.tf32:
        found.check(CHECK, not found.products, LEFT if found.products else "")
