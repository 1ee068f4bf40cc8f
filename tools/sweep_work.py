#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Committed programs of one call, with random other shapes, against the bounds of work.

A kernel's factor (tools/bench work) comes from committed programs and their extremes.
This draws other shapes and numbers, empty ones too, runs those that a board takes, and
names each that took more instructions than its factor allows.

    python tools/sweep_work.py FOLDER [--board NAME ..] [--each N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "sdk"), str(ROOT / "tools")]

from benchmarks import calls, work  # noqa: E402

from ember.run.testing import Outcome  # noqa: E402


def drawn(folder: Path, each: int, seed: int, text: str) -> None:
    """Writes the cases below `folder`, unless it has some."""
    committed = calls.committed([ROOT / "tests" / one for one in work.FOLDERS])
    named = (call for call in committed if text in call.name)
    work.write_drawn(folder, named, each, seed)


def tightness(ran: list[Outcome], factors: work.Factors) -> str:
    """How much of what their factors allow the programs took."""
    shares = [work.share(one, factors) for one in ran]
    cuts = statistics.quantiles(shares, n=20)
    each = ", ".join(f"{cuts[n]:.2f}" for n in (0, 4, 9, 14, 18))
    return f"share of what is allowed, at 5, 25, 50, 75 and 95 %: {each}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--board", choices=work.BOARDS, nargs="*")
    parser.add_argument("--each", type=int, default=2, help="draws of each program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-k", dest="text", default="", help="only names with this")
    options = parser.parse_args()
    if not options.folder.is_dir():
        drawn(options.folder, options.each, options.seed, options.text)
    found = 0
    for board in options.board or ["mps2-an386"]:
        ran = work.ran(options.folder, board)
        factors = work.factors()[board]
        over = work.over(ran, factors)
        found += len(over)
        print(*over, f"{len(over)} of {len(ran)} are above their bounds", sep="\n")
        print(tightness(ran, factors))
        rows = [(one.name, one.instructions, one.work) for one in ran]
        path = options.folder.with_name(f"{options.folder.name}-{board}.json")
        path.write_text(json.dumps(rows), encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
