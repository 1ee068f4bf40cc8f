#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Case folders x boards -> is the RAM of each firmware within its bounds, how near?

    tools/certify.py tests/cases --board mps2-an386 --board mps3-an547
    tools/certify.py tests/cases/xnnpack_* --delegates --json certify.json

Every firmware is built, which compares it with its certificate byte for byte, and
run once; then again between guards, with scratch filled (certify_guards.c). Without
--board: one board of each Cortex-M core; with --delegates one of each set of kernels of
nodes. Exit status 1 when a build fails, a run uses more stack than the bound, or other
bytes of arena and scratch than were planned.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from ember import cases
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.run import run
from ember.toolchain import emulator

BOARDS = (
    "mps2-an385-v6m",
    "mps2-an385",
    "mps2-an386",
    "mps2-an500",
    "mps2-an505",
    "mps3-an547",
)
# One of each set of kernels for delegates' nodes, and of vectors.
DELEGATES = (
    "mps2-an386",
    "mps3-an547",
    "qemu-a64",
    "qemu-a64-i8mm",
    "qemu-a64-sme-128",
    "qemu-a64-sme",
)
_GUARDS = Path(__file__).with_name("certify_guards.c")
_SAID = re.compile(r"arena (\d+) scratch (\d+) written (\d+) highest (\d+)")


def certify(path: Path, board: str) -> dict[str, Any]:
    """Bytes of RAM of one firmware: bounds, and used by one run. SdkError when memory
    of the method is not what was planned."""
    case = inputs.of_case(path)
    options = Options(methods=(case.method,) if case and case.method else ())
    with tempfile.TemporaryDirectory() as folder:
        built = build(path, board, out=Path(folder), options=options)
        method = built.methods[0]
        given = inputs.lay_out(method, case.given) if case else inputs.zeros(method)
        log = run.run(built, given, trace=False)
    stack = built.certificate["stack"]
    return {
        "case": path.name,
        "board": board,
        "memory": _memory(path, built, options),
        "calls": stack["calls"],
        "bound": stack["bound"],
        "used": log.stack_used,
        "deepest": stack["path"][-1]["function"],
    }


def _memory(path: Path, built: Built, options: Options) -> dict[str, int]:
    """Bytes of arena and scratch: planned, and what a run between guards took."""
    (arena,) = (r for r in built.plan["regions"] if r["role"] == "method")
    scratch = built.plan["scratch"]
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder) / "app.c"
        app.write_text(
            f"#define CERTIFY_TEMP {scratch}\n#define CERTIFY_ARENA {arena['bytes']}\n"
            f'#include "{_GUARDS}"\n'
        )
        guarded = replace(options, app=app, messages=True)
        firmware = build(path, built.board.name, out=app.parent, options=guarded)
        said = emulator.run(firmware.board, firmware.firmware).check(
            "running between guards"
        )
    match = _SAID.search(said.text)
    if match is None:
        raise SdkError(f"the firmware between guards says {said.text!r}")
    taken, asked, written, highest = map(int, match.groups())
    delegates = built.plan["delegates"]
    planned = max((each["values"] + each["work"] for each in delegates), default=0)
    if (taken, asked) != (arena["bytes"], scratch) or planned > scratch:
        raise SdkError(
            f"arena {taken}, scratch {asked} and delegates {planned} were taken,"
            f" planned were {arena['bytes']} and {scratch}"
        )
    return {
        "arena": taken,
        "scratch": scratch,
        "delegates": planned,
        "packed": built.plan["packed"],
        "written": written,
        "highest": highest,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--board", action="append", metavar="NAME")
    parser.add_argument("--delegates", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    rows, failed = [], 0
    for board in args.board or (DELEGATES if args.delegates else BOARDS):
        for location in cases.find(args.paths):
            try:
                row = certify(location.path, board)
            except SdkError as error:
                failed += 1
                print(f"{board} {location.name}: {error}", flush=True)
                continue
            rows.append(row)
            ratio = row["calls"] / row["used"]
            memory = row["memory"]
            print(
                f"{board} {location.name}: bound {row['bound']:,}, calls"
                f" {row['calls']:,} = {ratio:.3f} x {row['used']:,} used;"
                f" arena {memory['arena']:,}, scratch {memory['scratch']:,} as planned,"
                f" {memory['written']:,} written, packed {memory['packed']:,}",
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
