#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders of cases x boards -> one table: how many of each row pass on each board.

    tools/verify_boards.py ~/.cache/ember/corpus -k int8_ --json matrix.json
    tools/verify_boards.py SWEEP --board mps2-an386 --board mps3-an547

A row is what a given folder holds: a case, or a folder of cases, such as the
families of tools/sweep calls. Without --board: every core that has kernels of its
own, and the models of the instruction sets. What fails is listed below the table; exit
status 1 when anything does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sdk"))

import certify

from ember import boards, cases
from ember.cases import picked
from ember.run import testing
from ember.run.testing import Outcome

BOARDS = (
    *certify.BOARDS,
    "host",
    "host-dsp",
    "host-hvx",
    "host-mve",
    "host-neon",
    "qemu-a64-sme",
    "hexagon-v68",
)


def row(case: Path, folders: list[Path]) -> str:
    """The name of the entry of a folder that holds the case."""
    above = next(folder for folder in folders if folder in case.parents)
    return case.relative_to(above).parts[0]


def table(outcomes: list[Outcome], folders: list[Path]) -> str:
    """A line of Markdown for each row: passed/all by board."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for outcome in outcomes:
        counts[row(outcome.path, folders)][outcome.board][outcome.status] += 1
    names = list(dict.fromkeys(outcome.board for outcome in outcomes))
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name, by_board in counts.items():
        cells = [
            f"{by_board[outcome]['passed']}/{by_board[outcome].total()}"
            for outcome in names
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--board", action="append", metavar="NAME")
    parser.add_argument("-k", default="", metavar="EXPR", help="as for `ember test`")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    folders = [item.resolve() for item in given.folders]
    wanted = picked.parse_filter(given.k)
    locations = [item for item in cases.find(folders) if wanted(item.name)]

    outcomes: list[Outcome] = []
    for name in given.board or BOARDS:
        outcomes += testing.test(locations, [boards.load(name)], jobs=1)
        print(f"{name}: {len(locations)} cases", file=sys.stderr)
    wrong = [item for item in outcomes if item.status != "passed"]
    print(table(outcomes, folders))
    for item in wrong:
        print(f"{item.status} {item.board} {item.name}: {item.message}\n  {item.again}")
    if given.json:
        kept = ("name", "board", "status", "message", "instructions")
        lines = [{key: getattr(item, key) for key in kept} for item in outcomes]
        given.json.write_text(json.dumps(lines, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
