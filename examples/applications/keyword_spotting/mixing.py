# SPDX-License-Identifier: Apache-2.0
"""Spoken words and noise -> what a microphone hears: windows to learn from, streams.

Every window has SPAN samples. Each epoch mixes its own: words at other places, levels,
rates, rooms and noises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import speech
from numpy.typing import NDArray
from recording import CLASSES, RATE, SPAN, Word
from speech import Samples

OTHER, SILENCE = CLASSES.index("(other)"), CLASSES.index("(silence)")
LEVELS_DB = (-20.0, 0.0)  # of a word's peak
SIGNAL_TO_NOISE_DB = (10.0, 35.0)


@dataclass(frozen=True)
class Sounds:
    """Words by their class, sentences, and noise of a few seconds each."""

    keywords: Sequence[tuple[int, Samples]]
    others: Sequence[Samples]
    talk: Sequence[Samples]
    noises: Sequence[Samples]


def sounds(
    keywords: Sequence[tuple[int, Samples]],
    others: Sequence[Samples],
    random: np.random.Generator,
    *,
    talk: Sequence[Samples] = (),
    count: int = 200,
) -> Sounds:
    """With `count` noises; a fifth of them is several people who speak at once."""
    noises = [speech.noise(4 * RATE, random) for _ in range(4 * count // 5)]
    noises += [_babble(others, random) for _ in range(count - len(noises))]
    return Sounds(keywords, others, talk, noises)


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
    """One for each keyword, as many with other words, and a third with only noise."""
    rows: list[tuple[int, Samples]] = []
    for label, word in sounds.keywords:
        rows.append((label, _placed(_varied(word, random), random, sounds.others)))
        kind = random.integers(8)
        if kind < 3:
            rows.append((OTHER, _part(_any(sounds.talk, random), random)))
        elif kind < 4:
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


def _placed(
    word: Samples, random: np.random.Generator, others: Sequence[Samples] = ()
) -> Samples:
    """Anywhere in the window; up to a sixth of it may be before or behind it. Of three,
    one has a part of another word beside it.
    """
    row = np.zeros(SPAN, np.float32)
    beyond = len(word) // 6
    if len(word) - beyond >= SPAN:
        first = (len(word) - SPAN) // 2
        return word[first : first + SPAN].copy()
    at = random.integers(-beyond, SPAN - len(word) + beyond + 1)
    first, last = max(0, -at), min(len(word), SPAN - at)
    row[at + first : at + last] = word[first:last]
    if others and random.integers(3) == 0:
        _put_beside(row, at, at + len(word), _any(others, random), random)
    return row


def _put_beside(
    row: Samples, first: int, last: int, word: Samples, random: np.random.Generator
) -> None:
    """Before samples [first, last) or behind them, with a pause: what has room."""
    pause = random.integers(RATE // 4, RATE)
    before, behind = first - pause, last + pause
    if before > 0 and random.integers(2):
        part = word[-before:]
        row[before - len(part) : before] += part
    elif 0 < behind < SPAN:
        part = word[: SPAN - behind]
        row[behind : behind + len(part)] += part


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
    return _part(whole, random)


def _part(whole: Samples, random: np.random.Generator) -> Samples:
    """A window of a sentence."""
    at = random.integers(max(1, len(whole) - SPAN))
    row = whole[at : at + SPAN]
    return np.pad(row, (0, SPAN - len(row)))


def with_noise(
    row: Samples, noises: Sequence[Samples], random: np.random.Generator
) -> Samples:
    """At a level, with noise of a level: SIGNAL_TO_NOISE_DB below the loud parts."""
    noise = _any(noises, random)
    noise = np.concatenate([noise] * (len(row) // len(noise) + 2))
    at = random.integers(len(noise) - len(row) + 1)
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
    """Words in turn with a second between them, give or take a fifth: an even number of
    samples, and where each word is. Every four words come from another distance, and
    the noise is another one.
    """
    parts, said, at = [], [], 0
    for first in range(0, len(words), 4):
        part, begins = _spaced([x for _, x in words[first : first + 4]], random)
        part = with_noise(part, sounds.noises, random)
        for (word, spoken), begin in zip(words[first : first + 4], begins, strict=True):
            said.append(Word(word, at + begin, at + begin + len(spoken)))
        parts.append(part)
        at += len(part)
    whole = np.concatenate([*parts, np.zeros(RATE + at % 2, np.float32)])
    return np.clip(np.round(32768 * whole), -32768, 32767).astype(np.int16), said


def _spaced(
    words: Sequence[Samples], random: np.random.Generator
) -> tuple[Samples, list[int]]:
    row, begins = [], []
    at = 0
    for word in words:
        pause = int(random.uniform(0.8, 1.2) * RATE)
        begins.append(at + pause)
        row += [np.zeros(pause, np.float32), word]
        at += pause + len(word)
    return np.concatenate(row), begins
