"""A command's activity becomes a line on a terminal, or one every ten seconds in a
pipe.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

_PIPE_S, _TERMINAL_S = 10.0, 0.25  # between two lines
_COLUMNS = 60
_CLEAR = "\r\x1b[K"


@dataclass(eq=False)
class Activity:
    """A piece of work; if there are several, the one that began last is shown."""

    what: str
    count: str = ""

    def of(self, done: int, total: int) -> None:
        """Sets how far it is."""
        self.count = f" {done} of {total}"


def _errors() -> tuple[TextIO, bool]:
    """The present standard error, whatever it becomes later: PyTorch's exporter is
    silenced, but progress is shown meanwhile. And whether it must be closed."""
    try:
        number = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):  # it is not a file
        return sys.stderr, False
    return open(number, "w", encoding="utf-8", errors="replace"), True  # noqa: PTH123


class _Ticker(threading.Thread):
    """Writes the last of `steps` to standard error until there are none."""

    def __init__(self, steps: list[Activity]) -> None:
        super().__init__(name="progress", daemon=True)
        self.steps = steps
        self.stream, self.owned = _errors()
        self.terminal = self.stream.isatty()
        self.began = time.monotonic()
        self.ended = threading.Event()
        self.shown = False

    def run(self) -> None:
        while not self.ended.wait(_TERMINAL_S if self.terminal else _PIPE_S):
            with _lock:
                if self.steps and not self.ended.is_set():
                    self._write(self._line())
                    self.shown = self.terminal
        if self.owned:
            self.stream.close()

    def clear(self) -> None:
        """Removes the line from the terminal; the lock must be held."""
        if self.shown:
            self._write(_CLEAR)
            self.shown = False

    def _line(self) -> str:
        step = self.steps[-1]
        seconds = f"({time.monotonic() - self.began:.0f} s)"
        text = f"{step.what[:_COLUMNS]}{step.count} .. {seconds}"
        return f"{_CLEAR}{text}" if self.terminal else f"{text}\n"

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # its reader has closed it
            self.stream.write(text)
            self.stream.flush()


_lock = threading.RLock()
_steps: list[Activity] = []
_tickers: list[_Ticker] = []  # one, while there are steps


@contextlib.contextmanager
def doing(what: str) -> Iterator[Activity]:
    """Shows `what` while the block runs."""
    step = Activity(what)
    with _lock:
        _steps.append(step)
        if not _tickers:
            _tickers.append(_Ticker(_steps))
            _tickers[0].start()
    try:
        yield step
    finally:
        _end(step)


def _end(step: Activity) -> None:
    with _lock:
        _steps.remove(step)
        ticker = None if _steps else _tickers.pop()
        if ticker is not None:
            ticker.ended.set()
            ticker.clear()


def say(text: str) -> None:
    """Prints a separate line to standard error."""
    with hidden(), contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Keeps the terminal free of the line while the block writes there."""
    with _lock:
        for ticker in _tickers:
            ticker.clear()
        yield
