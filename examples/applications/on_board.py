# SPDX-License-Identifier: Apache-2.0
"""An application's main(), its programs and its recorded data -> what a board says.

QEMU's clock follows the instructions: each takes 2 ** `shift` nanoseconds (4: 62.5
million a second). Timers and their interrupts go by the same clock, and time in which
the core sleeps passes at once. So a run is the same every time, and firmware that is
too slow for its sensor loses samples here as well.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdk"))

from ember import boards
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.firmware.stack.ports import Interrupts
from ember.plan.passes import Rows
from ember.run.costs import Cost, Costs
from ember.toolchain import emulator

FASTEST = 4  # the shift of 62.5 million instructions a second
TIMEOUT_S = 3000.0  # of a busy computer; runs take less than a minute of it


@dataclass(frozen=True)
class Ran:
    """What firmware said, and what the regions that it marks took."""

    lines: tuple[str, ...]
    costs: Costs

    def regions(self, word: int) -> list[Cost]:
        """Of EMBER_MARK_*; `word` as port.h numbers them."""
        return self.costs.regions(word)


def build_for(
    board: str,
    app: Path,
    programs: Sequence[Path],
    folder: Path,
    handlers: Mapping[str, int],
    rows: Rows = "fit",
) -> Built:
    """Prepared firmware of `app`, a C file with main(), and all methods of programs.

    `handlers` are the functions that interrupts call, with their priorities; `rows` is
    that of `ember build`.
    """
    interrupts = Interrupts(handlers=handlers, is_declared=True)
    options = Options(app=app, prepared=True, interrupts=interrupts, rows=rows)
    return build(list(programs), board, out=folder / board, options=options)


def run(
    built: Built,
    files: Mapping[str, bytes],
    *,
    count: bool = True,
    cycles: bool = False,
    shift: int = FASTEST,
    timeout_s: float = TIMEOUT_S,
) -> Ran:
    """Run it beside `files`, which its driver reads; an SdkError when it fails.

    With `count` regions have instructions, with `cycles` also estimates of cycles; each
    takes time.
    """
    runner = built.board.runner
    if runner.kind == "qemu-system":
        clock = ("-icount", f"shift={shift},sleep=off")
        runner = runner.model_copy(update={"args": (*runner.args, *clock)})
    board = built.board.model_copy(update={"runner": runner})
    with tempfile.TemporaryDirectory(prefix="ember-application-") as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        result = emulator.run(
            board,
            built.firmware,
            cwd=Path(folder),
            timeout_s=timeout_s,
            count=count or cycles,
            blocks=cycles,
            ranges=[range(x.base, x.end) for x in board.memories] if cycles else (),
        )
    result.check(f"{built.name} on {board.name}")
    costs = Costs.of(board, built.firmware, result)
    return Ran(tuple(result.text.splitlines()), costs)


def sizes(built: Built) -> dict[str, int]:
    """Bytes of `ram` and `flash`, with the stack and the programs."""
    size = built.sizes["size"]
    ram = sum(size[name] for name in ("data", "bss", "arena", "stack"))
    flash = sum(size[name] for name in ("code", "rodata", "data", "model"))
    return {"ram": ram, "flash": flash}


def counted(costs: Sequence[Cost], parts: int = 1) -> dict[str, int | None]:
    """`instructions` and `cycles` of a decision, which `parts` regions make.

    Means over `costs`. Cycles are those of the core, in memories without wait states.
    None when nothing counted.
    """
    whole = costs[: len(costs) // parts * parts]
    figures = {
        "instructions": _mean([cost.instructions for cost in whole]),
        "cycles": _mean([cost.cycles.core for cost in whole]),
    }
    return {
        name: None if mean is None else round(mean * parts)
        for name, mean in figures.items()
    }


def _mean(figures: Sequence[int | None]) -> float | None:
    """None without figures, or if a figure is unknown."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known and len(known) == len(figures) else None


def main(evaluate: Any, boards_of: Sequence[str], description: str | None) -> int:
    """The command line of evaluate.py: `--board NAME`, one line of JSON, a status.

    `evaluate(board, folder)` returns what the line has, and sentences about what is
    not as it should be, which go to standard error and make the status 1.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--board", default=boards_of[0], metavar="NAME")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep builds here")
    options = parser.parse_args()
    try:
        boards.load(options.board)
        with tempfile.TemporaryDirectory(prefix="ember-application-") as folder:
            facts, wrong = evaluate(options.board, options.out or Path(folder))
    except SdkError as error:
        print(f"{parser.prog}: {error.what}", file=sys.stderr)
        return 1
    print(json.dumps(facts))
    for sentence in wrong:
        print(f"{parser.prog}: {sentence}", file=sys.stderr)
    return 1 if wrong else 0
