"""The passes of a build, by name, and what each did to a program.

A pass turns a program into another that computes the same in less memory or time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ember.errors import UsageError

# In the order in which they run.
NAMES = (
    "batch_norm",
    "fold",
    "fold_inexact",
    "scratch",
    "unread",
    "update",
    "channels",
    "view",
    "layout",
    "concat",
    "order",
    "weights",
    "in_place",
)
_AFTER_ROWS = ("concat", "weights", "in_place")
ROUNDED = "batch_norm"  # gives other last bits than the program before
# fold_inexact may give other last bits than ExecuTorch's kernels.
DEFAULT = tuple(name for name in NAMES if name not in (ROUNDED, "fold_inexact"))

# Whether layers run row by row: never, only where a model does not fit otherwise, or
# wherever that takes less memory, also with a row of the input at a time.
Rows = Literal["off", "fit", "smallest", "fed"]
FED = "rows_fed"


def with_rows(names: Sequence[str], rows: Rows = "smallest") -> tuple[str, ...]:
    """These passes, and the one that makes regions of rows in its place."""
    late = tuple(name for name in names if name in _AFTER_ROWS)
    by_rows = FED if rows == "fed" else "rows"
    return (*(name for name in names if name not in late), by_rows, *late)


def default(optimize: str) -> tuple[str, ...]:
    """The passes of a build with this `optimize`; those of a balanced build change no
    bit."""
    return DEFAULT if optimize == "balanced" else wanted((*DEFAULT, ROUNDED))


def wanted(names: Sequence[str], but: Sequence[str] = ()) -> tuple[str, ...]:
    """The passes of these names without some, in the order in which they run."""
    for name in (*names, *but):
        if name not in NAMES:
            known = ", ".join(NAMES)
            raise UsageError(
                f"there is no pass {name!r}", hint=f"the passes are {known}"
            )
    return tuple(name for name in NAMES if name in names and name not in but)


Status = Literal["used", "idle", "dropped"]


@dataclass(frozen=True)
class PassOutcome:
    """The outcome of one pass; bytes and instructions are those it saved."""

    name: str
    status: Status  # idle: it found nothing that pays
    planned: int = 0
    constants: int = 0
    instructions: int = 0
    reason: str = ""  # why it was dropped
