#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded vibration, in real order, into an emulated board -> what it decided.

    evaluate.py [--board NAME]

Prints a line of JSON. Decisions are compared with the parts that were simulated, and
with those that the same rules make of the scores of PyTorch's float32 model.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machines
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import on_board  # noqa: E402

BOARDS = ("mps2-an386", "mps3-an547")
PROGRAMS = [HERE / "front.pte", HERE / "network.pte"]
HANDLERS = {"SysTick_Handler": 3}
EXECUTE = 1  # EMBER_MARK_EXECUTE
HOP = 256


def _of_detector(name: str) -> float:
    """A number of firmware/detector.h."""
    text = (HERE / "firmware" / "detector.h").read_text(encoding="utf-8")
    match = re.search(rf"DETECTOR_{name}\b =? ?([0-9.]+)", text)
    if match is None:
        raise on_board.SdkError(f"firmware/detector.h has no DETECTOR_{name}")
    return float(match[1])


FIRST, USUAL, SCORES, RECENT, HIGH = (
    int(_of_detector(name)) for name in ("FIRST", "USUAL", "SCORES", "RECENT", "HIGH")
)
DEVIATIONS = _of_detector("DEVIATIONS")
LEARNED = FIRST + USUAL + SCORES
SETTLED = RECENT  # frames after a change in which both answers are right
_FRAME = re.compile(r"([0-9a-f]{8}) (over|-) (alarm|-)")
_END = re.compile(r"threshold ([0-9a-f]{8}) (nothing|samples) lost")

Bits = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Decided:
    """Of a recording, frame by frame."""

    scores: Floats
    alarms: Bits
    threshold: float


@dataclass(frozen=True)
class Recording:
    samples: machines.Samples
    faulty: Bits  # (frames,)
    parts: NDArray[np.int64]  # (frames,): the number of the part that is heard
    settled: Bits  # (frames,): long enough in its part
    scores: Floats  # PyTorch's


def recordings() -> list[Recording]:
    with np.load(HERE / "recorded.npz") as file:
        count = sum(name.startswith("samples") for name in file.files)
        return [_recording(file, number) for number in range(count)]


def _recording(file: Any, number: int) -> Recording:
    samples, names = file[f"samples{number}"], file[f"parts{number}"]
    starts = np.cumsum([0, *file[f"seconds{number}"][:-1]]) * machines.RATE
    ends = np.arange(1, samples.size // HOP + 1) * HOP  # of frames
    parts = np.searchsorted(starts, ends, side="right") - 1
    since = (ends - starts[parts]) / HOP
    watched = np.arange(len(ends)) >= LEARNED
    return Recording(
        samples=samples,
        faulty=names[parts] != "sound",
        parts=parts,
        settled=watched & (since > SETTLED),
        scores=file[f"scores{number}"],
    )


def decide(scores: Floats) -> Decided:
    """What firmware/detector.h does, on scores."""
    logs = np.log(scores[FIRST + USUAL : LEARNED])
    threshold = float(np.exp(logs.mean() + DEVIATIONS * logs.std(ddof=1)))
    over = (scores > threshold) & (np.arange(len(scores)) >= LEARNED)
    recent = np.convolve(over, np.ones(RECENT, np.int64))[: len(scores)]
    return Decided(scores, recent >= HIGH, threshold)


def parse(lines: Sequence[str]) -> tuple[Decided, bool]:
    """Of the firmware's log; whether it lost nothing."""
    frames = [frame for line in lines if (frame := _FRAME.fullmatch(line))]
    end = _END.fullmatch(lines[-1])
    if end is None:
        raise on_board.SdkError(f"the firmware's last line is {lines[-1]!r}")
    scores = np.array([_float(frame[1]) for frame in frames], np.float32)
    alarms = np.array([frame[3] == "alarm" for frame in frames])
    return Decided(scores, alarms, _float(end[1])), end[2] == "nothing"


def _float(bits: str) -> float:
    (value,) = struct.unpack(">f", bytes.fromhex(bits))
    return float(value)


def area(scores: Floats, faulty: Bits) -> float:
    """The share of pairs of a faulty and a sound frame that scores order rightly."""
    high, low = scores[faulty][:, None], scores[~faulty][None]
    return float(((high > low) + 0.5 * (high == low)).mean())


def measures(kept: Sequence[Recording], said: Sequence[Decided]) -> dict[str, float]:
    """Accuracy of alarms, AUC of scores over thresholds, detected, false alarms."""
    pairs = list(zip(kept, said, strict=True))
    right = [(decided.alarms == kept.faulty)[kept.settled] for kept, decided in pairs]
    share = np.concatenate([(x.scores / x.threshold)[k.settled] for k, x in pairs])
    faulty = np.concatenate([k.faulty[k.settled] for k in kept])
    detected = [_by_part(k, x, True) for k, x in pairs]
    false = [_by_part(k, x, False) for k, x in pairs]
    return {
        "accuracy": float(np.concatenate(right).mean()),
        "auc": area(share, faulty),
        "detected": float(np.concatenate(detected).mean()),
        "false_alarms": float(np.concatenate(false).mean()),
    }


def _by_part(kept: Recording, said: Decided, faulty: bool) -> NDArray[np.float64]:
    """For each part that is faulty, or sound: whether there was an alarm in it."""
    chosen = kept.settled & (kept.faulty == faulty)
    numbers = np.unique(kept.parts[chosen])
    alarms = [said.alarms[chosen & (kept.parts == number)].any() for number in numbers]
    return np.array(alarms, np.float64)


def built_for(board: str, folder: Path) -> on_board.Built:
    app = HERE / "firmware" / "main.c"
    return on_board.build_for(board, app, PROGRAMS, folder, HANDLERS)


def evaluate(board: str, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """The line of JSON, and what is not as it should be."""
    built = built_for(board, folder)
    kept, said, whole = recordings(), [], True
    runs = [
        on_board.run(
            built, {"samples.bin": recording.samples.tobytes()}, cycles=not number
        )
        for number, recording in enumerate(kept)
    ]
    for run in runs:
        decided, complete = parse(run.lines)
        said.append(decided)
        whole = whole and complete
    got = measures(kept, said)
    floats = measures(kept, [decide(recording.scores) for recording in kept])
    facts = {
        "application": "vibration",
        "board": board,
        **{key: round(value, 5) for key, value in got.items()},
        **{f"float_{key}": round(value, 5) for key, value in floats.items()},
        **on_board.sizes(built),
        **on_board.counted(runs[0].regions(EXECUTE)),
    }
    return facts, wrong(facts, whole)


def wrong(facts: dict[str, Any], whole: bool) -> list[str]:
    """Promises that it breaks, a sentence each."""
    said = []
    if not whole:
        said.append("samples were lost: the firmware is slower than the sensor")
    if facts["auc"] < facts["float_auc"] - 0.005:
        said.append("scores tell faults less well than in floating point")
    if facts["accuracy"] < facts["float_accuracy"] - 0.01:
        said.append("fewer decisions are right than in floating point")
    if facts["ram"] > 16 * 1024:
        said.append(f"it takes {facts['ram']:,} bytes of RAM, more than 16 kB")
    return said


if __name__ == "__main__":
    sys.exit(on_board.main(evaluate, BOARDS, __doc__))
