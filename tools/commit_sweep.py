# SPDX-License-Identifier: Apache-2.0
"""A few small cases of each family that a sweep wrote become bundled programs.

python tools/commit_sweep.py FOLDER tests/conformance/cortex_m
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what a sweep wrote")
    parser.add_argument("into", type=Path, help="replaced by the programs")
    options = parser.parse_args()
    shutil.rmtree(options.into, ignore_errors=True)
    small = [one for one in cases.find([options.folder]) if size_of(one) <= LARGEST]
    families = itertools.groupby(small, lambda one: one.name.partition("_")[0])
    for _, family in families:
        for one in itertools.islice(family, EACH):
            committed.compact(one.name, one.path, options.into)
    print(f"{len(cases.find([options.into]))} cases in {options.into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
