#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders of cases x boards -> one table: how many of each row pass on each board.

    tools/verify_boards.py ~/.cache/ember/corpus -k int8_ --json matrix.json
    tools/verify_boards.py SWEEP --board mps2-an386 --board mps3-an547

A row is what lies in a folder that is given: a case, or a folder of cases, such as the
families of tools/sweep_cortex_m.py. Without --board: every core that has kernels of its
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
from ember.cases import filters
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
    """The name of what lies in one of the folders and holds the case."""
    above = next(one for one in folders if one in case.parents)
    return case.relative_to(above).parts[0]


def table(outcomes: list[Outcome], folders: list[Path]) -> str:
    """A line of Markdown for each row: passed/all by board."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for one in outcomes:
        counts[row(one.path, folders)][one.board][one.status] += 1
    names = list(dict.fromkeys(one.board for one in outcomes))
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name, by_board in counts.items():
        cells = [f"{by_board[one]['passed']}/{by_board[one].total()}" for one in names]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--board", action="append", metavar="NAME")
    parser.add_argument("-k", default="", metavar="EXPR", help="as for `ember test`")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    folders = [one.resolve() for one in given.folders]
    wanted = filters.parse(given.k)
    found = [one for one in cases.find(folders) if wanted(one.name)]

    outcomes: list[Outcome] = []
    for name in given.board or BOARDS:
        outcomes += testing.test(found, [boards.load(name)], jobs=1)
        print(f"{name}: {len(found)} cases", file=sys.stderr)
    wrong = [one for one in outcomes if one.status != "passed"]
    print(table(outcomes, folders))
    for one in wrong:
        print(f"{one.status} {one.board} {one.name}: {one.message}\n  {one.again}")
    if given.json:
        kept = ("name", "board", "status", "message", "instructions")
        lines = [{key: getattr(one, key) for key in kept} for one in outcomes]
        given.json.write_text(json.dumps(lines, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
