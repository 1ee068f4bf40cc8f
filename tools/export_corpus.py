#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export real programs with ExecuTorch, with PyTorch's outputs, as case folders."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from pathlib import Path

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

import round_trip  # noqa: E402
import torch  # noqa: E402 - the log level must be set first
from corpus.case import Case, write_case  # noqa: E402
from corpus.families import all_cases  # noqa: E402

from ember import paths  # noqa: E402


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    folder = paths.cache() / "corpus"  # that tests look into
    add("--out", type=Path, default=folder, help="default: %(default)s")
    add(
        "-k",
        dest="patterns",
        action="append",
        metavar="REGEX",
        help="only names in which this is found; may be repeated",
    )
    add("--list", action="store_true", help="print the names and stop")
    add("--small", action="store_true", help="only the cases of tests/cases")
    add("--verify", action="store_true", help="also run each in ExecuTorch's runtime")
    return parser.parse_args(arguments)


def chosen_cases(patterns: list[str], small: bool) -> list[Case]:
    """Return the cases whose name one of the patterns finds."""
    wanted = re.compile("|".join(patterns))
    return [
        case
        for case in all_cases()
        if wanted.search(case.name) and (case.committed or not small)
    ]


def export_one(case: Case, out: Path, check: bool) -> str:
    """Export one case; return what to print after its name."""
    exported = case.exported()
    folder = out / case.name
    write_case(exported, folder)
    size = sum(map(len, exported.files.values()))
    return f"{size} bytes" + (f", {round_trip.as_pytorch(folder)}" if check else "")


def export_all(cases: list[Case], out: Path, check: bool) -> int:
    """Export every case; return how many failed."""
    failed = 0
    for case in cases:
        try:
            print(f"{case.name}: {export_one(case, out, check)}", flush=True)
        except Exception as error:  # the exporter raises whatever it likes
            failed += 1
            message = (str(error).splitlines() or [""])[0]
            print(f"{case.name}: FAILED: {type(error).__name__}: {message}", flush=True)
    return failed


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    torch.set_num_threads(1)
    chosen = chosen_cases(options.patterns or [""], options.small)
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    failed = export_all(chosen, options.out, options.verify)
    print(f"{len(chosen) - failed} of {len(chosen)} cases in {options.out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
