"""What a line does to frames becomes the size that frames should have."""

from __future__ import annotations

import math

from ember.hil import frames

_KEPT = 0.97  # of what was seen, with each frame
_FEW = 64  # bytes; errors are hardly ever so frequent that less pays
_QUIET = 1e-6  # errors a byte, of a line without any


class Loss:
    """Of one direction: errors a byte, from frames that came whole and damaged ones."""

    def __init__(self, payload: int) -> None:
        self.most = payload
        self._frames = 4.0  # as if so many had come whole
        self._damaged = 0.0
        self._bytes = self._frames * payload / 4

    def saw(self, good: int, damaged: int, length: int) -> None:
        """Of `length` bytes on the line so many frames came whole, so many did not."""
        kept = _KEPT ** (good + damaged)
        self._frames = self._frames * kept + good + damaged
        self._damaged = self._damaged * kept + damaged
        self._bytes = self._bytes * kept + length

    @property
    def errors(self) -> float:
        """A byte."""
        lost = min(self._damaged / self._frames, 0.95)
        length = max(self._bytes, 1.0)  # damage can be told of what was forgotten
        return max(-math.log(1 - lost) * self._frames / length, _QUIET)

    @property
    def payload(self) -> int:
        """Bytes a frame that carry most over the line: with n bytes beside h of frame
        exp(-errors (n + h)) n / (n + h) is largest near sqrt(h / errors)."""
        best = int(math.sqrt(frames.OVERHEAD / self.errors))
        return min(max(best, _FEW // 2), self.most)
