# SPDX-License-Identifier: Apache-2.0
"""Words, voices, speeds and pitches of espeak-ng -> samples, with noise around them.

Samples are float32 from -1 to 1, RATE of them a second. Needs the program espeak-ng.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import wave
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pydoc_data.topics import topics

import numpy as np
from numpy.typing import NDArray
from recording import KEYWORDS, RATE

Samples = NDArray[np.float32]

# Other words; some begin or end as a keyword does.
OTHERS = (
    *("water", "house", "table", "seven", "happy", "bird", "tree", "music", "people"),
    *("morning", "paper", "yellow", "garden", "summer", "window", "mother", "better"),
    *("number", "follow", "picture", "visual", "marvin", "sheila", "eight", "three"),
    *("zero", "wow", "forward", "machine", "because", "kitchen", "button", "letter"),
    *("money", "simple", "country", "finger", "sugar", "thirty", "reason", "always"),
    *("bed", "cat", "dog", "learn", "backward", "four", "nine", "two", "five", "six"),
    *("left-hander", "yesterday", "uphill", "notice", "lift", "light", "ride", "gold"),
    *("stock", "step", "own", "an", "of", "town", "dawn", "guess", "yet", "know-how"),
)
ACCENTS = (
    *("en-gb", "en-us", "en-gb-scotland", "en-gb-x-gbclan", "en-gb-x-rp"),
    *("en-gb-x-gbcwmd", "en-029", "en-us-nyc"),
)
_KEYWORD = re.compile(rf"\b({'|'.join(KEYWORDS)})\b", re.IGNORECASE)
# Not a voice that a person could have: effects, whispers, and a test of the program.
_EFFECTS = re.compile(
    r"robo|robot|whisper|demonic|croak|half-life|fast_test|storm", re.I
)


@dataclass(frozen=True)
class Utterance:
    """How a word is spoken."""

    word: str
    accent: str
    voice: str
    speed: int  # words a minute
    pitch: int  # 0 to 99
    ending: str  # of the sentence: ".", "?", "!"


def voices() -> list[str]:
    """Names of espeak-ng's variants of a voice, sorted. Ends the program without it."""
    if shutil.which("espeak-ng") is None:
        sys.exit("espeak-ng is not installed: apt-get install espeak-ng")
    words = ["espeak-ng", "--voices=variant"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    names = sorted(set(re.findall(r"!v/(\S+)", said)))
    return [name for name in names if not _EFFECTS.search(name)]


def split(names: list[str]) -> tuple[list[str], list[str]]:
    """Voices to learn from, and every fifth, which is kept for tests."""
    kept = names[2::5]
    return [name for name in names if name not in kept], kept


def sentences(text: str) -> list[str]:
    """Parts of sentences of four to twenty words, in which there is no keyword."""
    text = re.sub(r'["“”/]', " ", " ".join(text.split()))
    parts = [part.strip(" -") for part in re.split(r"[.;:,()]", text)]
    return [x for x in parts if 4 <= len(x.split()) <= 20 and not _KEYWORD.search(x)]


def language_reference() -> list[str]:
    """Those of the texts of Python's help(), which every Python has, without code."""
    parts = sentences(" , ".join(topics[name] for name in sorted(topics)))
    return [part for part in parts if re.fullmatch(r"[A-Za-z' -]+", part)]


def draw(
    words: Sequence[str], each: int, speakers: list[str], random: np.random.Generator
) -> list[Utterance]:
    """`each` utterances of every word."""
    return [
        Utterance(
            word,
            ACCENTS[random.integers(len(ACCENTS))],
            speakers[random.integers(len(speakers))],
            int(random.integers(110, 210)),
            int(random.integers(15, 85)),
            (".", "?", "!")[random.integers(3)],
        )
        for word in words
        for _ in range(each)
    ]


def speak(utterances: list[Utterance]) -> list[Samples]:
    """Each without the silence around it, its peak at 0.9."""
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(_spoken, utterances))


def _spoken(utterance: Utterance) -> Samples:
    voice = f"{utterance.accent}+{utterance.voice}"
    words = ["espeak-ng", "-v", voice, "-s", str(utterance.speed)]
    words += ["-p", str(utterance.pitch), "--stdout", utterance.word + utterance.ending]
    said = subprocess.run(words, capture_output=True, check=True).stdout
    return _trimmed(_samples(said))


def _samples(file: bytes) -> Samples:
    """Of a WAV file of 22,050 Hz; a pipe's header does not know its length."""
    with wave.open(io.BytesIO(file)) as sound:
        assert sound.getframerate() == 22050
    content = np.frombuffer(file[44:], "<i2").astype(np.float32) / 32768
    blocks = len(content) // 441 + 1  # each becomes 160 samples
    spectrum = np.fft.rfft(content, 441 * blocks)[: 80 * blocks + 1]
    slower = np.fft.irfft(spectrum, 160 * blocks) * (160 / 441)
    return slower.astype(np.float32)


def _trimmed(samples: Samples) -> Samples:
    loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
    word = samples[loud[0] : loud[-1] + 1]
    return word * (0.9 / np.abs(word).max())


# ---- noise ---------------------------------------------------------------------------


def noise(n: int, random: np.random.Generator) -> Samples:
    """`n` samples of one kind of noise, with a root mean square of 1."""
    kind = random.integers(5)
    if kind == 4:
        sound = _hum(n, random)
    else:
        spectrum = np.fft.rfft(random.standard_normal(n))
        hertz = np.maximum(np.fft.rfftfreq(n, 1 / RATE), 20)
        slope = (0.0, 0.5, 1.0, random.uniform(0, 1))[kind]  # white, pink, brown
        if kind == 3:  # a band, as of a fan or a street
            centre = random.uniform(100, 3000)
            spectrum *= np.exp(
                -0.5 * (np.log2(hertz / centre) / random.uniform(0.5, 2)) ** 2
            )
        sound = np.fft.irfft(spectrum / hertz**slope, n)
    return (sound / np.sqrt(np.mean(sound**2))).astype(np.float32)


def _hum(n: int, random: np.random.Generator) -> NDArray[np.float64]:
    """A machine: harmonics of a frequency that drifts a little, and some hiss."""
    base = random.uniform(45, 400)
    drift = 1 + 0.02 * np.cumsum(random.standard_normal(n)) / np.sqrt(n)
    phase = 2 * np.pi * np.cumsum(base * drift) / RATE
    count = min(12, int(0.45 * RATE / base))
    levels = random.uniform(0, 1, count) / np.arange(1, count + 1)
    hum = sum(x * np.sin((k + 1) * phase) for k, x in enumerate(levels))
    return np.asarray(hum + 0.05 * random.standard_normal(n))


def room(word: Samples, random: np.random.Generator) -> Samples:
    """The word with the echo of a room: noise that decays in 50 to 300 ms."""
    decay = random.uniform(0.05, 0.3) * RATE
    tail = random.standard_normal(int(decay)) * np.exp(
        -6.9 * np.arange(int(decay)) / decay
    )
    tail *= random.uniform(0.1, 0.5) / np.sqrt(np.sum(tail**2))
    tail[0] = 1
    size = len(word) + len(tail)
    echoed = np.fft.irfft(np.fft.rfft(word, size) * np.fft.rfft(tail, size), size)
    return echoed.astype(np.float32)
