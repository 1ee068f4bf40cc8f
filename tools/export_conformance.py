#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export thousands of one-operator programs with PyTorch's outputs, as case folders."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "sdk"))
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

from conformance import committed, making, units  # noqa: E402 - after the log level


def default_folder() -> Path:
    """Return the cache folder that tests look into."""
    cache = os.environ.get("EMBER_CACHE") or Path.home() / ".cache" / "ember"
    return Path(cache) / "conformance"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, default=default_folder(), help="default: %(default)s")
    add("-k", dest="pattern", default="", metavar="REGEX", help="only these units")
    add("--jobs", type=int, default=2, help="processes; default: %(default)s")
    add("--again", action="store_true", help="also what is there already")
    add("--list", action="store_true", help="print the names of the units and stop")
    add("--stats", action="store_true", help="only print what was exported before")
    add(
        "--commit",
        type=Path,
        metavar="DIR",
        help="replace DIR by a compact subset of --out, exporting nothing",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    names = [name for name in units.names() if re.search(options.pattern, name)]
    if options.list:
        print("\n".join(names))
        return 0
    if options.commit:
        taken = committed.write(options.out, options.commit)
        print(f"{len(taken)} cases in {options.commit}")
        return 0
    if not options.stats:
        export(names, options)
    print(making.report(options.out), end="")
    return 0


def export(names: list[str], options: argparse.Namespace) -> None:
    """Export the units that are not there yet, with a line for each."""
    done = options.out.glob(f"*/{making.INDEX}")
    there = set() if options.again else {path.parent.name for path in done}
    wanted = [name for name in names if name not in there]
    started = time.monotonic()
    made = making.make_all(wanted, units.make, options.out, options.jobs)
    for number, (name, index) in enumerate(made, 1):
        good = sum(outcome == making.DONE for outcome in index.values())
        seconds = time.monotonic() - started
        print(
            f"[{number}/{len(wanted)} {seconds:.0f} s] {name}: {good} of {len(index)}",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
