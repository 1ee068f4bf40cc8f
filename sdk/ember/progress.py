"""What a command is doing becomes a line on a terminal, or one every ten seconds in a
pipe: nobody waits in silence.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

_PIPE_S, _TERMINAL_S = 10.0, 0.25  # between two lines
_COLUMNS = 60
_CLEAR = "\r\x1b[K"


@dataclass(eq=False)
class Activity:
    """A piece of work; of several, the one that began last is shown."""

    what: str
    count: str = ""

    def of(self, done: int, total: int) -> None:
        """How far it is."""
        self.count = f" {done} of {total}"


class _Ticker(threading.Thread):
    """Writes the last of `steps` to stderr until there are none."""

    def __init__(self, steps: list[Activity]) -> None:
        super().__init__(name="progress", daemon=True)
        self.steps = steps
        self.stream = sys.stderr
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

    def clear(self) -> None:
        """Take the line off the terminal, with the lock held."""
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
    """Say `what` is done while the body runs."""
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


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """No line on the terminal while the body writes there."""
    with _lock:
        for ticker in _tickers:
            ticker.clear()
        yield
