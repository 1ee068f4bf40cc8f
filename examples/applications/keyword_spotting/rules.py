# SPDX-License-Identifier: Apache-2.0
"""Scores of a network on streams -> the rule that decides best there.

The streams are for development: words and talk by voices that training has heard, in
other utterances. What is chosen goes into recording.py and firmware/spotting.h by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import recording
from numpy.typing import NDArray
from recording import Rule, Score, Word

ROWS = (2, 3, 4, 5, 6)
LEVELS = np.arange(0.5, 0.9, 0.025)  # mean scores that are enough
HOLD = 0.9  # seconds, at least
ALARM = 2  # words that a false alarm outweighs


@dataclass(frozen=True)
class Heard:
    """A stream as a network hears it: scores of 0 to 255 every `step` samples."""

    results: NDArray[np.float64]
    step: int
    words: Sequence[Word]

    def score(self, rule: Rule) -> Score:
        told = list(recording.decide(self.results.tolist(), self.step, rule))
        return recording.score(told, self.words, len(self.results) * self.step)


def candidates(step: int) -> Iterator[Rule]:
    hold = int(np.ceil(HOLD * recording.RATE / step))
    for row in ROWS:
        for level in LEVELS:
            yield Rule(row, int(np.ceil(255 * row * level)), hold)


def best(streams: Sequence[Heard]) -> tuple[Rule, list[Score]]:
    """The most words right less ALARM for each false one, and its scores."""
    rules = list(candidates(streams[0].step))
    scores = [[stream.score(rule) for stream in streams] for rule in rules]
    gains = [sum(x.right - ALARM * x.false_alarms for x in row) for row in scores]
    chosen = int(np.argmax(gains))
    return rules[chosen], scores[chosen]
