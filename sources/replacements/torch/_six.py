"""What torch._six was while there was Python 2."""

import collections.abc as container_abcs  # noqa: F401 - it is what others import
import math

inf, nan = math.inf, math.nan
string_classes, int_classes, PY3, PY37 = (str, bytes), int, True, True
