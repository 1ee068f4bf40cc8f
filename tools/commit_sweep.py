# SPDX-License-Identifier: Apache-2.0
"""A few small cases of each family that a sweep wrote become bundled programs.

python tools/commit_sweep.py FOLDER tests/conformance/cortex_m
python tools/commit_sweep.py FOLDER tests/conformance/cadence --unlike 3
python tools/commit_sweep.py FOLDER tests/conformance/cadence --add matmuls_..._471
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
from pathlib import Path

from conformance import committed

from ember import cases

EACH = 8  # cases of a family
LARGEST = 2500  # bytes of a case


def size_of(found: cases.Found) -> int:
    return sum(file.stat().st_size for file in found.path.iterdir())


def family_of(found: cases.Found) -> str:
    return found.name.partition("_")[0]


def call_of(found: cases.Found) -> str:
    """The family, the operator and the dtypes of its tensors."""
    return found.name.rpartition("_")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what a sweep wrote")
    parser.add_argument("into", type=Path, help="replaced by the programs")
    parser.add_argument(
        "--unlike",
        type=int,
        metavar="N",
        help="so many of each operator and its dtypes, not of each family",
    )
    parser.add_argument(
        "--add", nargs="+", metavar="CASE", help="only these, beside what is there"
    )
    options = parser.parse_args()
    if options.add:
        for one in cases.find([options.folder]):
            if one.path.name in options.add:
                committed.compact(one.name, one.path, options.into)
        return 0
    shutil.rmtree(options.into, ignore_errors=True)
    small = [one for one in cases.find([options.folder]) if size_of(one) <= LARGEST]
    key = call_of if options.unlike else family_of
    for _, family in itertools.groupby(sorted(small, key=key), key):
        for one in itertools.islice(family, options.unlike or EACH):
            committed.compact(one.name, one.path, options.into)
    print(f"{len(cases.find([options.into]))} cases in {options.into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
