#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs: eager PyTorch and Ember must agree. `ember sweep` without Dask.

tests/graphs/run.py --count 200 --seed 1 --board host --board mps3-an547
tests/graphs/run.py --family xnnpack --seed 17 --show        its text

A seed always gives the same graph. Exported programs are kept in the cache.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from typing import get_args

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "sdk"))

from ember import boards  # noqa: E402 - the path must be set first
from ember.run import testing  # noqa: E402
from ember.sweep import sources  # noqa: E402
from ember.sweep.settings import Family, Option  # noqa: E402
from ember.sweep.sources import Mismatch, Seed  # noqa: E402


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--family", choices=get_args(Family), default="core")
    add("--seed", type=int, default=1, help="the first one")
    add("--count", type=int, default=1, help="number of graphs")
    add("--board", action="append", default=[], help="host, if not given; repeatable")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="exporting processes")
    add("--shrink", type=Path, metavar="FOLDER", help="where smallest parts go")
    add("--show", action="store_true", help="print graphs, run nothing")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    numbers = range(options.seed, options.seed + options.count)
    if options.show:
        from ember.sweep.graphs import exported

        for number in numbers:
            print(exported.program(options.family, number, 0)[0].source())
        return 0
    seeds = {seed.name: seed for seed in (Seed(options.family, n) for n in numbers)}
    graphs = sources.exported(seeds.values(), options.jobs)
    chosen = [boards.load(name) for name in options.board or ["host"]]
    outcomes = testing.test(graphs.cases, chosen, jobs=options.jobs)
    wrong = [outcome for outcome in outcomes if outcome.status != "passed"]
    for outcome in wrong:
        print(f"{outcome.board} {outcome.name}: {outcome.status}: {outcome.message}")
    if options.shrink:
        tasks = [
            Mismatch(
                *(seeds[outcome.name], boards.load(outcome.board), Option(), None),
                options.shrink / f"{outcome.name}-{outcome.board}",
            )
            for outcome in wrong
        ]
        for mismatch, text in sources.shrunk(tasks, options.jobs):
            print(f"{mismatch.folder}:\n{text}")
    for (board, status), number in sorted(
        Counter((outcome.board, outcome.status) for outcome in outcomes).items()
    ):
        print(f"{board}: {number} {status}")
    print(f"{graphs.refused} seeds refused by the exporter")
    return 1 if wrong or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
