"""``python -m kdata`` is ``kdata``."""

from kdata.cli import main

main()
