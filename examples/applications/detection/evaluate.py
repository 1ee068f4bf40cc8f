#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded frames, row by row at the camera's rate, into a board -> its boxes.

    evaluate.py [--board NAME]

Prints a line of JSON. `accuracy` is F1 of the boxes, at an overlap of 0.5 with objects
of their class; `float_accuracy`, that of PyTorch's model in floating point. Also
`average_precision` of both, `lost` frames, and milliseconds of a frame by its cycles.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import boxes
import numpy as np
import scenes
from boxes import Found
from scenes import CLASSES, ROWS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import on_board  # noqa: E402

BOARDS = ("mps2-an386", "mps3-an547", "mps2-an500")
CORES = {"mps3-an547": "m55"}  # m4 for others
HANDLERS = {"SysTick_Handler": 0}
SHIFT = 5  # an instruction takes 32 ns: two cycles at 62.5 MHz
COUNTED = 4  # frames of which instructions and cycles are counted
CLOCKS = (64, 100, 160)  # MHz
EXECUTE, ROW = 1, 3  # EMBER_MARK_EXECUTE, EMBER_MARK_CASE

MOST_RAM = 24 * 1024
MOST_LOST_ACCURACY = 0.005
_FRAME = re.compile(r"\d+")
_BOX = re.compile(rf"({'|'.join(CLASSES)}) (\d+) (\d+) (\d+) (\d+) (\d+)")
_END = re.compile(r"(\d+) frames lost")

Frames = list[list[Found]]


def built_for(board: str, folder: Path) -> on_board.Built:
    core = CORES.get(board, "m4")
    programs = [HERE / "front.pte", HERE / core / "network.pte"]
    main = HERE / "firmware" / "main.c"
    return on_board.build_for(board, main, programs, folder, HANDLERS, rows="smallest")


def frames(recording: Sequence[scenes.Scene]) -> dict[str, bytes]:
    """The file of the recorded camera."""
    rows = (scene.frame.astype("<i2").tobytes() for scene in recording)
    return {"frames.raw": b"".join(rows)}


def parse(lines: Sequence[str]) -> tuple[Frames, int]:
    """Boxes of each frame of the firmware's log, and the frames that were lost."""
    per_frame: Frames = []
    for line in lines[:-1]:
        if _FRAME.fullmatch(line):
            per_frame.append([])
        elif box := _BOX.fullmatch(line):
            edges = [int(edge) for edge in box.groups()[1:5]]
            per_frame[-1].append(Found(CLASSES.index(box[1]), *edges, float(box[6])))
        else:
            raise on_board.SdkError(f"the firmware's line {line!r} is not a box")
    end = _END.fullmatch(lines[-1])
    if end is None:
        raise on_board.SdkError(f"the firmware's last line is {lines[-1]!r}")
    return per_frame, int(end[1])


def references(recording: Sequence[scenes.Scene]) -> Frames:
    """What PyTorch's model in floating point finds in the recording."""
    with np.load(HERE / "references.npz") as file:
        if int(file["checksum"]) != scenes.checksum(recording):
            raise on_board.SdkError(
                "the recording is not the one of references.npz: train.py --record"
            )
        per_frame: Frames = [[] for _ in recording]
        rows = zip(file["boxes"].tolist(), file["scores"].tolist(), strict=True)
        for (number, *box), score in rows:
            per_frame[number].append(Found(*box, score))
    return per_frame


def evaluate(board: str, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """The line of JSON, and what is not as it should be."""
    built, recording = built_for(board, folder), scenes.recording()
    ran = on_board.run(built, frames(recording), count=False, shift=SHIFT)
    reported, lost = parse(ran.lines)
    if len(reported) + lost != len(recording):
        raise on_board.SdkError(f"{len(reported)} of {len(recording)} frames came")
    counted = on_board.run(built, frames(recording[:COUNTED]), cycles=True, shift=SHIFT)
    facts = {
        "application": HERE.name,
        "board": board,
        **on_board.sizes(built),
        **_costs(counted),
        "lost": lost,
    }
    if not lost:
        facts |= _measures(reported, references(recording), recording)
    return facts, wrong(facts)


def _measures(
    reported: Frames, floats: Frames, recording: Sequence[scenes.Scene]
) -> dict[str, Any]:
    there = [boxes.of_scene(scene) for scene in recording]
    ours, theirs = boxes.score(reported, there), boxes.score(floats, there)
    precisions = [boxes.average_precision(x, there) for x in (reported, floats)]
    return {
        "accuracy": round(ours.f1, 5),
        "float_accuracy": round(theirs.f1, 5),
        "average_precision": round(precisions[0], 5),
        "float_average_precision": round(precisions[1], 5),
        "right": ours.right,
        "objects": ours.objects,
        "wrong_boxes": ours.reported - ours.right,
    }


def _costs(ran: on_board.Ran) -> dict[str, Any]:
    """Of a frame: its rows, and the network with what follows."""
    rows = on_board.counted(ran.regions(ROW), ROWS)
    network = on_board.counted(ran.regions(EXECUTE))
    parts = list(zip(rows.values(), network.values(), strict=True))
    sums = [None if None in pair else sum(pair) for pair in parts]
    costs = dict(zip(rows, sums, strict=True))
    cycles = costs["cycles"]
    ms = None if cycles is None else [round(cycles / (mhz * 1e3), 1) for mhz in CLOCKS]
    return {**costs, "rows_cycles": rows["cycles"], "ms_at_64_100_160_mhz": ms}


def wrong(facts: dict[str, Any]) -> list[str]:
    """Promises that it breaks, a sentence each."""
    said = []
    if facts["lost"]:
        said.append(f"{facts['lost']} frames were lost: it is slower than the camera")
    elif facts["accuracy"] < facts["float_accuracy"] - MOST_LOST_ACCURACY:
        said.append("boxes are more than 0.5 % less accurate than in float")
    if facts["ram"] > MOST_RAM:
        said.append(f"it takes {facts['ram']:,} bytes of RAM, more than {MOST_RAM:,}")
    return said


if __name__ == "__main__":
    sys.exit(on_board.main(evaluate, BOARDS, __doc__))
