# SPDX-License-Identifier: Apache-2.0
"""Spoken words and noise -> what a microphone hears: windows to learn from, streams.

Every window is SPAN samples, made anew in each epoch: words at other places, levels,
rates, rooms and noises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import speech
from model import CLASSES, SPAN
from numpy.typing import NDArray
from recording import RATE, Word
from speech import Samples

OTHER, SILENCE = CLASSES.index("(other)"), CLASSES.index("(silence)")
LEVELS_DB = (-20.0, 0.0)  # of a word's peak
SIGNAL_TO_NOISE_DB = (10.0, 35.0)


@dataclass(frozen=True)
class Sounds:
    """Words by their class, and noise of a few seconds each."""

    keywords: Sequence[tuple[int, Samples]]
    others: Sequence[Samples]
    noises: Sequence[Samples]


def sounds(
    keywords: Sequence[tuple[int, Samples]],
    others: Sequence[Samples],
    random: np.random.Generator,
    count: int = 200,
) -> Sounds:
    """With `count` noises; a fifth of them is several people who speak at once."""
    noises = [speech.noise(4 * RATE, random) for _ in range(4 * count // 5)]
    noises += [_babble(others, random) for _ in range(count - len(noises))]
    return Sounds(keywords, others, noises)


def _babble(others: Sequence[Samples], random: np.random.Generator) -> Samples:
    whole = np.zeros(4 * RATE, np.float32)
    for _ in range(40):
        word = others[random.integers(len(others))][: 2 * RATE]
        at = random.integers(len(whole) - len(word))
        whole[at : at + len(word)] += word * random.uniform(0.3, 1)
    return whole / np.sqrt(np.mean(whole**2))


# ---- windows -------------------------------------------------------------------------


def windows(
    sounds: Sounds, random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """One for each keyword, as many with other words, a third with noise alone."""
    rows: list[tuple[int, Samples]] = []
    for label, word in sounds.keywords:
        rows.append((label, _placed(_varied(word, random), random)))
        kind = random.integers(8)
        if kind < 4:
            rows.append((OTHER, _chain(sounds.others, random)))
        elif kind < 6:
            rows.append(
                (OTHER, _placed(_varied(_any(sounds.others, random), random), random))
            )
        else:
            rows.append((OTHER, _cut(_varied(word, random), random)))
        if random.integers(3) == 0:
            rows.append((SILENCE, np.zeros(SPAN, np.float32)))
    heard = np.stack([with_noise(row, sounds.noises, random) for _, row in rows])
    return heard, np.array([label for label, _ in rows])


def _any(row: Sequence[Samples], random: np.random.Generator) -> Samples:
    return row[random.integers(len(row))]


def _varied(word: Samples, random: np.random.Generator) -> Samples:
    """At another rate, which moves all formants, and perhaps in a room."""
    count = int(len(word) * random.uniform(0.88, 1.12))
    at = np.linspace(0, len(word) - 1, count)
    word = np.interp(at, np.arange(len(word)), word).astype(np.float32)
    return speech.room(word, random) if random.integers(3) == 0 else word


def _placed(word: Samples, random: np.random.Generator) -> Samples:
    """Anywhere in the window; up to a sixth of it may be before or behind it."""
    row = np.zeros(SPAN, np.float32)
    beyond = len(word) // 6
    if len(word) - beyond >= SPAN:
        first = (len(word) - SPAN) // 2
        return word[first : first + SPAN].copy()
    at = random.integers(-beyond, SPAN - len(word) + beyond + 1)
    first, last = max(0, -at), min(len(word), SPAN - at)
    row[at + first : at + last] = word[first:last]
    return row


def _cut(word: Samples, random: np.random.Generator) -> Samples:
    """A keyword of which less than half is in the window is none."""
    row = np.zeros(SPAN, np.float32)
    part = int(len(word) * random.uniform(0.1, 0.45))
    if random.integers(2):
        row[SPAN - part :] = word[:part]
    else:
        row[:part] = word[len(word) - part :]
    return row


def _chain(others: Sequence[Samples], random: np.random.Generator) -> Samples:
    """Words in a row, as in a sentence."""
    words = [_any(others, random) for _ in range(5)]
    whole = np.concatenate(
        [np.concatenate([x, np.zeros(random.integers(800), np.float32)]) for x in words]
    )
    at = random.integers(max(1, len(whole) - SPAN))
    row = whole[at : at + SPAN]
    return np.pad(row, (0, SPAN - len(row)))


def with_noise(
    row: Samples, noises: Sequence[Samples], random: np.random.Generator
) -> Samples:
    """At a level, with noise of a level: SIGNAL_TO_NOISE_DB below the loud parts."""
    noise = _any(noises, random)
    at = random.integers(len(noise) - len(row) + 1) if len(noise) > len(row) else 0
    below = _gain(random.uniform(*SIGNAL_TO_NOISE_DB))
    level = _gain(random.uniform(*LEVELS_DB))
    heard = row + 0.2 / below * noise[at : at + len(row)]
    return np.clip(level * heard, -1, 1).astype(np.float32)


def _gain(decibels: float) -> float:
    return float(10 ** (decibels / 20))


# ---- streams -------------------------------------------------------------------------


def stream(
    words: Sequence[tuple[str, Samples]],
    sounds: Sounds,
    random: np.random.Generator,
) -> tuple[NDArray[np.int16], list[Word]]:
    """Words in turn with half a second to a second between them, in noise that changes
    every four seconds: samples of an even number, and where each word is.
    """
    parts, said, at = [], [], 0
    for word, spoken in words:
        gap = random.integers(RATE // 2, RATE)
        level = _gain(random.uniform(*LEVELS_DB))
        said.append(Word(word, int(at + gap), int(at + gap + len(spoken))))
        parts += [np.zeros(gap, np.float32), level * spoken]
        at += gap + len(spoken)
    whole = np.concatenate([*parts, np.zeros(RATE + at % 2, np.float32)])
    for first in range(0, len(whole), 4 * RATE):
        part = whole[first : first + 4 * RATE]
        loud = max(0.05, float(np.abs(part).max()))
        below = _gain(random.uniform(*SIGNAL_TO_NOISE_DB))
        part += 0.2 * loud / below * _any(sounds.noises, random)[: len(part)]
    return np.clip(np.round(32768 * whole), -32768, 32767).astype(np.int16), said
