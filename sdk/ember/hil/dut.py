"""A running board becomes a `Dut`: tests expect its output and write to it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from ember.hil.wire import Wire, WireGoneError

Pattern = str | bytes | re.Pattern[bytes]
Exact = str | bytes
_USUAL_S = 30.0
_SHOWN = 20  # lines
_EXIT = re.compile(rb"^EMBER EXIT (-?\d+)\r?$", re.MULTILINE)


class ExpectError(AssertionError):
    """The board did not print what was expected."""


class Dut:
    """A running board. Each search begins behind what was matched last."""

    def __init__(
        self, name: str, wire: Wire, exit_status: Callable[[], int | None]
    ) -> None:
        self.name = name  # of the board
        self.output = b""  # all that the board printed
        self._passed = 0  # bytes of it that were matched
        self._wire = wire
        self._exit_status = exit_status

    def expect(
        self, pattern: Pattern | Sequence[Pattern], timeout: float = _USUAL_S
    ) -> re.Match[bytes]:
        """Wait for a regular expression, or for one of several. `^` and `$` match at
        ends of lines, `.` does not match a newline."""
        is_one = isinstance(pattern, str | bytes | re.Pattern)
        several: Any = [pattern] if is_one else pattern
        compiled = [_compiled(item) for item in several]

        def find() -> re.Match[bytes] | None:
            matches = (regex.search(self.output, self._passed) for regex in compiled)
            return min(
                (match for match in matches if match),
                key=lambda match: match.start(),
                default=None,
            )

        wanted = " or ".join(repr(regex.pattern) for regex in compiled)
        return self._wait(find, wanted, timeout)

    def expect_exact(
        self, text: Exact | Sequence[Exact], timeout: float = _USUAL_S
    ) -> bytes:
        """Wait for a text, or for one of several."""
        several = [text] if isinstance(text, str | bytes) else text
        exact = [re.compile(re.escape(_bytes(expected))) for expected in several]
        return self.expect(exact, timeout)[0]

    def write(self, data: Exact) -> None:
        """Send it; a str as UTF-8, without a newline at its end."""
        self._wire.write(_bytes(data))

    def wait(self, timeout: float = _USUAL_S) -> int:
        """The exit status of the firmware, when it has ended."""
        deadline = time.monotonic() + timeout
        while True:
            said = _EXIT.search(self.output)
            if said is not None:
                return int(said[1])
            if not self._receive(deadline):
                status = self._exit_status()
                if status is not None:
                    return status
                raise ExpectError(f"still running after {timeout:g} s{self._last()}")

    def _wait(
        self, find: Callable[[], re.Match[bytes] | None], wanted: str, timeout: float
    ) -> re.Match[bytes]:
        deadline = time.monotonic() + timeout
        while (match := find()) is None:
            if not self._receive(deadline):
                status = self._exit_status()
                how = f"within {timeout:g} s"
                if status is not None:
                    how = f"before it ended with exit status {status}"
                raise ExpectError(f"no match {how}: {wanted}{self._last()}")
        self._passed = match.end()
        return match

    def _receive(self, deadline: float) -> bool:
        """Whether anything arrived before the board ended and before `deadline`."""
        while True:
            left = deadline - time.monotonic()
            try:
                data = self._wire.read(max(min(left, 1), 0))
            except WireGoneError:
                return False
            self.output += data
            if data or left <= 0:
                return bool(data)

    def _last(self) -> str:
        lines = self.output[self._passed :].decode("utf-8", "replace").splitlines()
        if not lines:
            return "\nno output since the last match"
        return "\noutput:\n  " + "\n  ".join(lines[-_SHOWN:])


def _bytes(text: Exact) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _compiled(pattern: Pattern) -> re.Pattern[bytes]:
    if isinstance(pattern, re.Pattern):
        return pattern
    return re.compile(_bytes(pattern), re.MULTILINE)
