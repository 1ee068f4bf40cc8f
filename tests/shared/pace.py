# SPDX-License-Identifier: Apache-2.0
"""Limits of time that hold on slow and busy computers too.

A limit is in seconds of processors, of this process and the commands that it waited
for, on a computer where the work of `_work` takes `_USUAL` seconds. Where that takes
longer, a limit grows with it.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

_USUAL = 0.03


@contextmanager
def within(limit: float) -> Iterator[None]:
    """Fails the test when what stands inside takes longer."""
    started = used()
    yield
    seconds = used() - started
    allowed = limit * slowness()
    assert seconds < allowed, f"{seconds:.2f} s, {allowed:.2f} s are allowed"


def used() -> float:
    """Seconds of processors that this process and its children took so far."""
    everybody = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(who) for who in everybody]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def slowness() -> float:
    """How many times slower the host is at this moment; at least 1."""
    started = time.process_time()
    _work()
    return max(1.0, (time.process_time() - started) / _USUAL)


def _work() -> None:
    """Small objects, text and tables: what Ember does most of the time."""
    words: dict[str, list[int]] = {}
    for number in range(100_000):
        words.setdefault(f"word {number % 997}", []).append(number)
    assert sorted(words)[0] == "word 0"
