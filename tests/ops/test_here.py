"""The committed one-operator programs on the host; tests/qemu has the boards."""

from __future__ import annotations

import committed_cases
from committed import check, run


def test_every_operator() -> None:
    """Those of the tables, and NumPy's."""
    check(run(committed_cases.operators(), "host"))
