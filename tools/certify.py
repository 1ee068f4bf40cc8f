#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Case folders x boards -> is the stack of each firmware within its bound, how near?

    tools/certify.py tests/cases --board mps2-an386 --board mps3-an547
    tools/certify.py tests/cases/model_* --json certify.json

Every firmware is built, which compares it with its certificate byte for byte, and
run once. Without --board: one board of each Cortex-M core. Exit status 1 when a build
fails, or a run uses more than the bound.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "sdk"))

from ember import build, cases, inputs, run
from ember.errors import SdkError

BOARDS = (
    "mps2-an385-v6m",
    "mps2-an385",
    "mps2-an386",
    "mps2-an500",
    "mps2-an505",
    "mps3-an547",
)


def certify(path: Path, board: str) -> dict[str, Any]:
    """Bytes of the stack of one firmware: bound, and used by one run."""
    case = inputs.of_case(path)
    options = build.Options(methods=(case.method,) if case and case.method else ())
    with tempfile.TemporaryDirectory() as folder:
        built = build.build(path, board, out=Path(folder), options=options)
        method = built.methods[0]
        given = inputs.lay_out(method, case.given) if case else inputs.zeros(method)
        log = run.run(built, given, trace=False)
    stack = built.certificate["stack"]
    return {
        "case": path.name,
        "board": board,
        "calls": stack["calls"],
        "bound": stack["bound"],
        "used": log.stack_used,
        "deepest": stack["path"][-1]["function"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--board", action="append", metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    rows, failed = [], 0
    for board in args.board or BOARDS:
        for found in cases.find(args.paths):
            try:
                row = certify(found.path, board)
            except SdkError as error:
                failed += 1
                print(f"{board} {found.name}: {error}", flush=True)
                continue
            rows.append(row)
            ratio = row["calls"] / row["used"]
            print(
                f"{board} {found.name}: bound {row['bound']:,}, calls"
                f" {row['calls']:,} = {ratio:.3f} x {row['used']:,} used",
                flush=True,
            )
    ratios = sorted(row["calls"] / row["used"] for row in rows)
    if ratios:
        print(
            f"{len(rows)} firmwares, {failed} failed; calls / used: median"
            f" {median(ratios):.3f}, largest {ratios[-1]:.3f}"
        )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
