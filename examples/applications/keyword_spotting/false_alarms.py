#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speech without a keyword -> streamed into a board: how often does it hear one?

    python false_alarms.py --board mps3-an547 --minutes 60

Sentences of the licence that have no keyword, by the voices that training never heard,
with pauses and noise. Needs the program espeak-ng, not PyTorch. Prints a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path

import evaluate
import mixing
import numpy as np
import recording
import speech
from evaluate import on_board
from numpy.typing import NDArray
from speech import Samples, Utterance

TEXT = Path(__file__).resolve().parents[3] / "LICENSE"
_TIMEOUT_S = 7200.0


def sentences() -> list[str]:
    """Parts of sentences of four to twenty words."""
    text = " ".join(TEXT.read_text(encoding="utf-8").split())
    parts = re.split(r"[.;:,()]\s*", re.sub(r'["“”/]', " ", text))
    keyword = re.compile(rf"\b({'|'.join(recording.KEYWORDS)})\b", re.IGNORECASE)
    return [x for x in parts if 4 <= len(x.split()) <= 20 and not keyword.search(x)]


def spoken(minutes: float, random: np.random.Generator) -> list[Samples]:
    """As much as there is to say in that time, or somewhat more."""
    _, voices = speech.split(speech.voices())
    texts = sentences()
    said: list[Samples] = []
    while sum(len(x) + recording.RATE for x in said) < minutes * 60 * recording.RATE:
        texts_now = tuple(texts[i] for i in random.permutation(len(texts))[:60])
        asked: list[Utterance] = speech.draw(texts_now, 1, voices, random)
        said += speech.speak(asked)
    return said


def sound(minutes: float, random: np.random.Generator) -> NDArray[np.int16]:
    said = spoken(minutes, random)
    sounds = mixing.sounds([], said, random, 60)
    samples, _ = mixing.stream([("", x) for x in said], sounds, random)
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default="mps3-an547")
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    samples = sound(options.minutes, np.random.default_rng(3))
    with tempfile.TemporaryDirectory() as folder:
        firmware = evaluate.built(options.board, Path(folder))
        ran = on_board.run(
            firmware, evaluate.sound(samples), count=False, timeout_s=_TIMEOUT_S
        )
    decisions, lost = evaluate.heard(ran.lines)
    hours = len(samples) / recording.RATE / 3600
    facts = {
        "board": options.board,
        "hours": round(hours, 3),
        "false_alarms": len(decisions),
        "per_hour": round(len(decisions) / hours, 1),
        "words": sorted(x.word for x in decisions),
        "lost": lost,
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
