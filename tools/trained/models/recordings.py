# SPDX-License-Identifier: Apache-2.0
"""People who read letters and syllables, in a package of Debian's -> samples."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

# One person reads for each language.
LANGUAGES = (
    *("ar", "cs", "da", "de", "en", "en_GB", "es", "fr", "he", "hu", "it", "lt", "ml"),
    *("nb", "nds", "nl", "pt_BR", "ru", "tn", "uk"),
)
_QUIET = 0.1  # of the loudest part: what is cut off before and behind


@cache
def person(language: str, rate: int) -> np.ndarray:
    """All that this person reads, without the pauses between."""
    folder = Path(os.environ["TRAINED_FILES"]) / "usr/share/klettres" / language
    files = sorted(folder.glob("syllab/*.ogg")) or sorted(folder.glob("alpha/*.ogg"))
    return np.concatenate([_trimmed(_read(file, rate), rate // 100) for file in files])


def _read(file: Path, rate: int) -> np.ndarray:
    import miniaudio

    kind = miniaudio.SampleFormat.FLOAT32
    sound = miniaudio.decode_file(
        str(file), nchannels=1, sample_rate=rate, output_format=kind
    )
    return np.array(sound.samples, dtype=np.float32)


def _trimmed(sound: np.ndarray, size: int) -> np.ndarray:
    parts = sound[: len(sound) // size * size].reshape(-1, size)
    levels = np.sqrt((parts**2).mean(axis=1))
    loud = np.flatnonzero(levels > _QUIET * levels.max(initial=0))
    return parts[loud[0] : loud[-1] + 1].reshape(-1) if len(loud) else sound[:0]
