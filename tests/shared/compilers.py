"""Which compiler bounds of code are for: others make a little more or less of it."""

from __future__ import annotations

import baseline_compiler

_OTHERS = 1.03


def slack() -> float:
    """What a bound of the baseline's bytes is multiplied by."""
    return 1.0 if baseline_compiler.is_installed() else _OTHERS
