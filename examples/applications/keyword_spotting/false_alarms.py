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
import tempfile
from collections.abc import Sequence
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


def spoken(
    texts: Sequence[str],
    voices: list[str],
    minutes: float,
    random: np.random.Generator,
) -> list[Samples]:
    """As much as there is to say in that time, or somewhat more."""
    said: list[Samples] = []
    while sum(len(x) + recording.RATE for x in said) < minutes * 60 * recording.RATE:
        texts_now = [texts[i] for i in random.permutation(len(texts))[:60]]
        asked: list[Utterance] = speech.draw(texts_now, 1, voices, random)
        said += speech.speak(asked)
    return said


def sound(
    texts: Sequence[str],
    voices: list[str],
    minutes: float,
    random: np.random.Generator,
) -> NDArray[np.int16]:
    said = spoken(texts, voices, minutes, random)
    sounds = mixing.sounds([], said, random, count=60)
    samples, _ = mixing.stream([("", x) for x in said], sounds, random)
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default="mps3-an547")
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    texts = speech.sentences(TEXT.read_text(encoding="utf-8"))
    _, voices = speech.split(speech.voices())
    samples = sound(texts, voices, options.minutes, np.random.default_rng(3))
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
