# SPDX-License-Identifier: Apache-2.0
"""Recorded sound and what is said in it, decisions, and how right they are.

recording.adpcm   samples in 4 bits each (IMA ADPCM without headers), RATE a second
recording.json    words with first and last sample, and what PyTorch's model decides
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent
RATE = 8000
WINDOW, HOP = 256, 200  # samples of the front end: 32 ms every 25 ms
FRAMES, FEATURES = 40, 12  # what the network sees: a second
SPAN = WINDOW + (FRAMES - 1) * HOP  # samples of that
KEYWORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
CLASSES = (*KEYWORDS, "(other)", "(silence)")
LATE = int(0.7 * RATE)  # samples after its end at which a word still counts as heard


@dataclass(frozen=True)
class Rule:
    """Of firmware/spotting.h: a keyword is heard when the sum of its scores in the last
    `row` results, 0 to 255 each, is at least `threshold`; then nothing for `hold`.
    """

    row: int
    threshold: int
    hold: int


RULES = {"network": Rule(4, 561, 6), "small": Rule(2, 294, 3)}


@dataclass(frozen=True)
class Word:
    """Of a recording: samples [first, last) say it."""

    word: str
    first: int
    last: int

    @property
    def is_keyword(self) -> bool:
        return self.word in KEYWORDS


@dataclass(frozen=True)
class Decision:
    """A keyword that was heard, after so many samples."""

    word: str
    at: int


@dataclass(frozen=True)
class Score:
    """Words that were decided rightly, and keywords heard where none was said."""

    right: int
    words: int
    false_alarms: int
    quiet_s: float  # without a keyword

    @property
    def accuracy(self) -> float:
        return self.right / self.words

    @property
    def false_alarms_per_hour(self) -> float:
        return 3600 * self.false_alarms / self.quiet_s


def decide(
    scores: Iterable[Sequence[float]], step: int, rule: Rule = RULES["network"]
) -> Iterator[Decision]:
    """What is heard in results of the network, one every `step` samples."""
    row: list[Sequence[float]] = []
    held = 0
    for index, result in enumerate(scores):
        row = [*row, result][-rule.row :]
        held = max(0, held - 1)
        sums = [sum(x[k] for x in row) for k in range(len(KEYWORDS))]
        best = int(np.argmax(sums))
        if held == 0 and sums[best] >= rule.threshold:
            held = rule.hold
            yield Decision(KEYWORDS[best], (index + 1) * step)


def score(decisions: Sequence[Decision], words: Sequence[Word], samples: int) -> Score:
    """A keyword is right if only it is reported, until LATE; another word if nothing
    is."""
    right = 0
    heard_at: set[int] = set()
    for word in words:
        near = [x for x in decisions if word.first < x.at <= word.last + LATE]
        if word.is_keyword:
            heard_at.update(x.at for x in near)
            right += [x.word for x in near] == [word.word]
        else:
            right += not near
    spoken = sum(x.last + LATE - x.first for x in words if x.is_keyword)
    alarms = sum(x.at not in heard_at for x in decisions)
    return Score(right, len(words), alarms, (samples - spoken) / RATE)


# ---- files ---------------------------------------------------------------------------


def write(samples: NDArray[np.int16], words: Sequence[Word]) -> None:
    """Without decisions; write_reference() adds these."""
    (FOLDER / "recording.adpcm").write_bytes(encode(samples))
    _write_facts({"words": [asdict(word) for word in words]})


def write_reference(decisions: dict[str, Sequence[Decision]]) -> None:
    """Of PyTorch's model in floating point, by network."""
    told = {name: [asdict(x) for x in row] for name, row in decisions.items()}
    _write_facts(_facts() | {"pytorch": told})


@cache
def read() -> tuple[NDArray[np.int16], list[Word]]:
    samples = decode((FOLDER / "recording.adpcm").read_bytes())
    return samples, [Word(**word) for word in _facts()["words"]]


def reference(network: str) -> list[Decision]:
    return [Decision(**x) for x in _facts()["pytorch"][network]]


def _facts() -> dict:
    return json.loads((FOLDER / "recording.json").read_text(encoding="utf-8"))


def _write_facts(facts: dict) -> None:
    lines = json.dumps(facts).replace("}, ", "},\n")
    (FOLDER / "recording.json").write_text(lines + "\n", encoding="utf-8")


# ---- IMA ADPCM -----------------------------------------------------------------------

# The standard's table: each step is a tenth larger than the one before.
_STEPS = (
    *(7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50),
    *(55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253),
    *(279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166),
    *(1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026),
    *(4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899),
    *(15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767),
)
_NEXT = (-1, -1, -1, -1, 2, 4, 6, 8)


def _change(step: int, code: int) -> int:
    change = (step >> 3) + sum(step >> k for k in range(3) if code & (4 >> k))
    return -change if code & 8 else change


# By step and code: what a code adds to the sample, and the next step.
_CHANGES = [[_change(step, code) for code in range(16)] for step in _STEPS]
_AFTER = [
    [min(88, max(0, index + _NEXT[code & 7])) for code in range(16)]
    for index in range(len(_STEPS))
]


def encode(samples: NDArray[np.int16]) -> bytes:
    """An even number of samples, two to a byte, the first in its low half."""
    value = index = 0
    codes = []
    for sample in samples.tolist():
        away = sample - value
        code = _nearest(abs(away), _STEPS[index]) | (8 if away < 0 else 0)
        codes.append(code)
        value = min(32767, max(-32768, value + _CHANGES[index][code]))
        index = _AFTER[index][code]
    return bytes(a | b << 4 for a, b in zip(codes[::2], codes[1::2], strict=True))


def _nearest(away: int, step: int) -> int:
    """The code, 0 to 7, that moves most of `away`, bit by bit."""
    code = 0
    for bit in (4, 2, 1):
        if away >= step:
            code |= bit
            away -= step
        step >>= 1
    return code


def decode(content: bytes) -> NDArray[np.int16]:
    value = index = 0
    samples = []
    for byte in content:
        for code in (byte & 15, byte >> 4):
            value += _CHANGES[index][code]
            value = -32768 if value < -32768 else 32767 if value > 32767 else value
            index = _AFTER[index][code]
            samples.append(value)
    return np.array(samples, np.int16)
