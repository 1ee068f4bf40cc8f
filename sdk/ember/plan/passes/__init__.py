"""Passes: a program becomes another that computes the same in less memory or time."""

from __future__ import annotations

from collections.abc import Sequence

from ember.errors import UsageError

# In the order in which they run.
NAMES = ("fold", "fold_inexact", "view", "concat", "order", "in_place")
# fold_inexact may give other last bits than ExecuTorch's kernels.
DEFAULT = tuple(name for name in NAMES if name != "fold_inexact")


def wanted(names: Sequence[str], but: Sequence[str] = ()) -> tuple[str, ...]:
    """The passes of these names without some, in the order in which they run."""
    for name in (*names, *but):
        if name not in NAMES:
            known = ", ".join(NAMES)
            raise UsageError(
                f"there is no pass {name!r}", hint=f"the passes are {known}"
            )
    return tuple(name for name in NAMES if name in names and name not in but)
