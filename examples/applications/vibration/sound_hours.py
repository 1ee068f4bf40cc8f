#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hours of sound machines into an emulated board -> its false alarms.

    sound_hours.py [--board NAME] [--hours N]

Machines that no other data has, a quarter of an hour each. Prints a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import evaluate
import machines
import numpy as np
from evaluate import on_board

EACH_S = 900
TIMEOUT_S = 1200.0


def alarms(decided: evaluate.Decided) -> int:
    """Times that an alarm began."""
    return int((np.diff(decided.alarms.astype(np.int64), prepend=0) == 1).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default=evaluate.BOARDS[0], metavar="NAME")
    parser.add_argument("--hours", type=float, default=1.0)
    options = parser.parse_args()
    random, false_alarms, over = np.random.default_rng(3), 0, []
    count = max(1, round(options.hours * 3600 / EACH_S))
    with tempfile.TemporaryDirectory(prefix="ember-application-") as folder:
        built = evaluate.built_for(options.board, Path(folder))
        for _ in range(count):
            parts = [machines.Part("sound", EACH_S)]
            samples = machines.record(machines.machine(random), parts, random)
            files = {"samples.bin": samples.tobytes()}
            ran = on_board.run(built, files, count=False, timeout_s=TIMEOUT_S)
            decided, _ = evaluate.parse(ran.lines)
            false_alarms += alarms(decided)
            high = decided.scores > decided.threshold
            over.append(float(high[evaluate.LEARNED :].mean()))
    hours = count * EACH_S / 3600
    facts = {"board": options.board, "hours": hours, "false_alarms": false_alarms}
    print(json.dumps({**facts, "over_threshold": round(float(np.mean(over)), 4)}))


if __name__ == "__main__":
    main()
