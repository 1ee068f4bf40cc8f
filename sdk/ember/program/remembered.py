"""A frozen record and a question become the answer, computed once and kept with it.

The answer goes when the record goes; a copy by replace() starts without answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")
_PLACE = "_remembered"  # no field: neither compared nor copied


def remembered(
    record: Any, question: Hashable, answer: Callable[[], _Answer]
) -> _Answer:
    """What `answer` says, which is called once for each `question` about a record."""
    known: dict[Hashable, _Answer] = record.__dict__.setdefault(_PLACE, {})
    if question not in known:
        known[question] = answer()
    return known[question]


def forget(record: Any) -> None:
    """Frees the memory of answers that are not expected to be asked for again."""
    record.__dict__.pop(_PLACE, None)
