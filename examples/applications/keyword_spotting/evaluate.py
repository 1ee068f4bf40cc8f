#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recording -> streamed into a board at its real rate, decisions, and their score.

One line of JSON (examples/applications/README.md). `accuracy` counts words that are
classified correctly: a keyword if only that is reported, another word if nothing is.
Also `false_alarms` and `false_alarms_per_hour` without a keyword, `lost` samples, and
`load`, the share of a core of `megahertz` that listening takes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import recording
from numpy.typing import NDArray
from recording import Decision

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import on_board
from on_board import Built

BOARDS = ("mps2-an386", "mps3-an547", "mps2-an385-v6m")
FOLDER = Path(__file__).parent
CORES = {"mps3-an547": "m55", "mps2-an385-v6m": "m0"}  # m4 for others
# What runs on a core: the network, and hops from one result to the next (main.c).
NETWORKS = {"m0": ("small", 12), "m4": ("network", 6), "m55": ("network", 6)}
# Of a board: its clock, and the shift at which an instruction takes two cycles of it.
CLOCKS = {"mps2-an385-v6m": (125_000_000, 4)}  # as an RP2040
CLOCK = (64_000_000, 5)  # of others
COUNTED_S = 8  # seconds of the recording of which instructions and cycles are counted
MARK = 3  # EMBER_MARK_CASE

MOST_RAM = 32_000
MOST_LOST_ACCURACY = 0.005
_HEARD = re.compile(r"(\d+) (\w+)")


def core_of(board: str) -> str:
    return CORES.get(board, "m4")


def built(board: str, folder: Path) -> Built:
    programs = [FOLDER / core_of(board) / name for name in ("front.pte", "network.pte")]
    main = FOLDER / "firmware" / "main.c"
    return on_board.build_for(board, main, programs, folder, {"SysTick_Handler": 0})


def heard(lines: tuple[str, ...]) -> tuple[list[Decision], int]:
    """Decisions, and the samples that were lost."""
    *told, last = lines
    matches = [_HEARD.fullmatch(line) for line in told]
    decisions = [Decision(match[2], int(match[1])) for match in matches if match]
    return decisions, int(last.split()[0])


def sound(samples: NDArray[np.int16]) -> dict[str, bytes]:
    return {"sound.raw": samples.astype("<i2").tobytes()}


def evaluate(board: str, folder: Path) -> tuple[dict, list[str]]:
    firmware = built(board, folder)
    samples, words = recording.read()
    hertz, shift = CLOCKS.get(board, CLOCK)
    decisions, lost = heard(
        on_board.run(firmware, sound(samples), count=False, shift=shift).lines
    )
    score = recording.score(decisions, words, len(samples))
    network, step = NETWORKS[core_of(board)]
    float_score = recording.score(recording.reference(network), words, len(samples))
    counted = on_board.run(
        firmware, sound(samples[: COUNTED_S * recording.RATE]), cycles=True
    )
    facts = {
        "application": FOLDER.name,
        "board": board,
        "accuracy": score.accuracy,
        "float_accuracy": float_score.accuracy,
        **on_board.sizes(firmware),
        **on_board.counted(counted.regions(MARK), step),
        "words": score.words,
        "false_alarms": score.false_alarms,
        "false_alarms_per_hour": round(score.false_alarms_per_hour, 1),
        "lost": lost,
    }
    facts["megahertz"] = hertz // 1_000_000
    facts["load"] = _load(facts["cycles"], step, hertz)
    return facts, list(_broken(facts))


def _load(cycles: int | None, step: int, hertz: int) -> float | None:
    if cycles is None:
        return None
    return round(cycles * recording.RATE / (step * recording.HOP) / hertz, 4)


def _broken(facts: dict) -> list[str]:
    wrong = []
    if facts["accuracy"] < facts["float_accuracy"] - MOST_LOST_ACCURACY:
        wrong.append("decisions are more than 0.5 % less accurate than in float")
    if facts["ram"] >= MOST_RAM:
        wrong.append(f"it takes {facts['ram']:,} bytes of RAM, {MOST_RAM:,} or more")
    if facts["lost"]:
        wrong.append(f"{facts['lost']:,} samples were lost")
    if facts["load"] is None or facts["load"] >= 1:
        wrong.append(f"no figure shows that it keeps up at {facts['megahertz']} MHz")
    return wrong


if __name__ == "__main__":
    sys.exit(on_board.main(evaluate, BOARDS, __doc__))
