# SPDX-License-Identifier: Apache-2.0
"""What still moves data in models after all passes: bytes by operator, and why.

    tools/moved.py tests/cases/model_* [--calls]

Only calls that move bytes as they are count: copies, slices, permutes, concatenations.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ember import boards, kernels
from ember import model as models
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware import runner
from ember.firmware.repack import repack
from ember.plan import effects, passes
from ember.plan.passes import moves
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import Joining, is_straight
from ember.program import Method, Program, types
from ember.select.rules import Rules

_STRIDES = "its elements do not lie behind each other in the other side"
_MOVING = moves.TAKING | moves.JOINING
Row = tuple[str, int, str]  # operator, bytes that a run moves, why


def _general(board: Board, rules: Rules) -> Path:
    return runner.general(board, rules=rules)


def remaining(program: Program, method: Method, here: Computer) -> Iterator[Row]:
    """The calls of a method that move bytes."""
    straight = is_straight(method, here)
    variable = effects.variable(method)
    plain = {
        move.index: move for move in moves.of(method, program, here, _MOVING, variable)
    }
    joining = Joining(method, here, frozenset()) if straight else None
    for index, name, _ in method.kernel_calls():
        if name.rpartition(".")[0] not in _MOVING:
            continue
        reason: str | None = _STRIDES
        if joining is None:
            reason = "the method has conditions, loops or views of dynamic shape"
        elif index in plain:
            reason = joining.refusal(plain[index]) or "the peak would rise"
        yield name, _bytes(method, here, index), str(reason)


def _bytes(method: Method, here: Computer, index: int) -> int:
    return sum(
        tensor.nbytes
        for value in effects.of(method, here.known)[index].writes
        if isinstance(tensor := method.values[value], types.Tensor)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--calls", action="store_true", help="each call by itself")
    args = parser.parse_args()
    known = kernels.load()
    here = Computer(boards.load("host"), known, _general)
    for path in args.models:
        try:
            packed = repack(models.read(path), known, passes.DEFAULT)
        except SdkError as error:
            print(f"{path.name}: {error}")
            continue
        rows = [
            row
            for method in packed.program.methods
            for row in remaining(packed.program, method, here)
        ]
        _print(path.name, rows, calls=args.calls)
    return 0


def _print(name: str, rows: list[Row], *, calls: bool) -> None:
    total = sum(bytes_ for _, bytes_, _ in rows)
    print(f"{name}: {len(rows)} calls move {total:,} bytes")
    if calls:
        for operator, bytes_, reason in rows:
            print(f"  {operator:<40} {bytes_:>10,}  {reason}")
        return
    together: Counter[tuple[str, str]] = Counter()
    for operator, bytes_, reason in rows:
        together[operator, reason] += bytes_
    for (operator, reason), bytes_ in together.most_common():
        print(f"  {operator:<40} {bytes_:>10,}  {reason}")


if __name__ == "__main__":
    sys.exit(main())
