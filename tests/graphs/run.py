#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs: eager PyTorch and Ember must agree.

tests/graphs/run.py --count 200 --seed 1 --board host --board mps3-an547
tests/graphs/run.py --seed 17 --shrink      the smallest part of graph 17 that differs
tests/graphs/run.py --seed 17 --show        its text

A seed always gives the same graph. Exported programs are kept in the cache.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "sdk")]

from ember import boards, cases  # noqa: E402
from ember.run import testing  # noqa: E402 - the path must be set first
from ember.run.testing import Outcome  # noqa: E402


def default_cache() -> Path:
    cache = os.environ.get("EMBER_CACHE") or Path.home() / ".cache" / "ember"
    return Path(cache) / "graphs"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seed", type=int, default=1, help="the first one")
    add("--count", type=int, default=1, help="number of graphs")
    add("--board", action="append", default=[], help="host, if not given; repeatable")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="exporting processes")
    add("--cache", type=Path, default=default_cache(), help="default: %(default)s")
    add("--shrink", action="store_true", help="minimise the graph of --seed")
    add("--show", action="store_true", help="print graphs, run nothing")
    add("--refused", action="store_true", help="print what the exporter refused")
    return parser.parse_args()


def run_cases(folders: list[Path], board_names: list[str]) -> list[Outcome]:
    """Run the cases that stand in these folders."""
    found = cases.find([one for one in folders if one.is_dir()])
    return testing.test(found, [boards.load(one) for one in board_names], jobs=2)


def main() -> int:
    options = parsed()
    import exported
    import shrink

    board_names = options.board or ["host"]
    seeds = range(options.seed, options.seed + options.count)
    if options.show:
        for seed in seeds:
            print(exported.program(seed, 0)[0].source())
        return 0
    if options.shrink:
        exported.start()
        print("\n".join(shrink.smallest(options.seed, board_names, run_cases)))
        return 0
    refused = exported.export_all(options.cache, seeds, options.jobs)
    folders = [exported.folder(options.cache, seed) for seed in seeds]
    outcomes = run_cases(folders, board_names)
    return report(outcomes, refused, options)


def report(
    outcomes: list[Outcome], refused: list[str], options: argparse.Namespace
) -> int:
    for one in refused if options.refused else []:
        print("refused by the exporter:", one[:200])
    wrong = [one for one in outcomes if one.status != "passed"]
    for one in wrong:
        seed = int(one.name.rsplit("_", 1)[1])
        print(f"{one.board} seed {seed}: {one.status}: {one.message}")
    if wrong:
        print("one again: tests/graphs/run.py --shrink --board BOARD --seed SEED")
    by_board = Counter((one.board, one.status) for one in outcomes)
    for (board, status), number in sorted(by_board.items()):
        print(f"{board}: {number} {status}")
    print(f"{len(refused)} graphs refused by the exporter")
    return 1 if wrong or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
