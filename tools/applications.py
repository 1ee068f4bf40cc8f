#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every folder of examples/applications -> run on its boards, and a table.

    tools/applications.py [NAME...] [--board NAME] [--json FILE]
    tools/applications.py [NAME...] --train      makes data and weights; needs PyTorch

A folder is an application when it has an evaluate.py; examples/applications/README.md
says what else it has. Exit status 1 when one of them fails or breaks a promise.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ember import output
from ember.errors import SdkError

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "applications"
KEYS = {
    **{"application": str, "board": str, "accuracy": float, "float_accuracy": float},
    **{"ram": int, "flash": int},
}
COUNTED = ("instructions", "cycles")  # an int, or null


@dataclass(frozen=True)
class Row:
    """An application on a board: what its evaluate.py said."""

    application: str
    board: str
    facts: dict[str, Any] = field(default_factory=dict)
    failure: str = ""


def names(folder: Path = FOLDER) -> list[str]:
    return sorted(path.parent.name for path in folder.glob("*/evaluate.py"))


def boards_of(name: str, folder: Path = FOLDER) -> tuple[str, ...]:
    """BOARDS of evaluate.py, without running it."""
    file = folder / name / "evaluate.py"
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BOARDS":
            return tuple(ast.literal_eval(node.value))
    raise SdkError(f"{file} has no BOARDS", hint='write BOARDS = ("mps2-an386", ..)')


def evaluate(name: str, board: str, folder: Path = FOLDER) -> Row:
    """Its row; a failure is in it, not raised."""
    words = [sys.executable, str(folder / name / "evaluate.py"), "--board", board]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()
    failure = "; ".join(said[-3:]) or f"status {done.returncode}"
    lines = done.stdout.strip().splitlines()
    try:
        facts = json.loads(lines[-1])
    except (IndexError, ValueError):
        reason = failure if done.returncode else "printed no line of JSON"
        return Row(name, board, failure=reason)
    wrong = missing(facts)
    if done.returncode == 0 and not wrong:
        return Row(name, board, facts)
    return Row(name, board, facts, failure if done.returncode else wrong)


def evaluate_all(asked: Sequence[tuple[str, str]]) -> list[Row]:
    """One on each processor at a time."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda pair: evaluate(*pair), asked))


def missing(facts: Any) -> str:
    """What the line of JSON lacks, in a sentence; empty when nothing."""
    if not isinstance(facts, dict):
        return "printed JSON that is not an object"
    wrong = [key for key, kind in KEYS.items() if not isinstance(facts.get(key), kind)]
    wrong += [key for key in COUNTED if not isinstance(facts.get(key, ""), int | None)]
    return f"printed no valid {', '.join(wrong)}" if wrong else ""


def train(name: str, folder: Path = FOLDER) -> int:
    print(f"{name}: training", flush=True)
    words = [sys.executable, str(folder / name / "train.py")]
    before = processor_s()
    status = subprocess.run(words, check=False).returncode
    print(f"{name}: {processor_s() - before:.0f} s of a processor", flush=True)
    return status


def processor_s() -> float:
    """Of all commands that were run and have ended, with what they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def chosen(wanted: Sequence[str], folder: Path = FOLDER) -> list[str]:
    known = names(folder)
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise SdkError(
            f"no application {', '.join(unknown)}", hint=f"there are {', '.join(known)}"
        )
    return [name for name in known if name in wanted or not wanted]


def show(rows: Sequence[Row], json_to: str | None) -> None:
    columns = (">accuracy", ">float", ">ram", ">flash", ">instructions", ">cycles")
    table = output.table("application", "board", *columns)
    for row in rows:
        numbers = [_share(row.facts.get(key)) for key in ("accuracy", "float_accuracy")]
        counts = ("ram", "flash", *COUNTED)
        numbers += [_count(row.facts.get(key)) for key in counts]
        table.add_row(row.application, row.board, *numbers)
    console = output.console(json_to, columns=120)
    console.print(table)
    for row in filter(lambda row: row.failure, rows):
        console.print(f"{row.application} on {row.board}: {row.failure}", markup=False)


def _share(value: Any) -> str:
    return f"{value:.2%}" if isinstance(value, float) else "-"


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--board", metavar="NAME", help="only this board")
    parser.add_argument("--train", action="store_true", help="data and weights, too")
    parser.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    options = parser.parse_args(arguments)
    try:
        wanted = chosen(options.names)
        if options.train:
            if importlib.util.find_spec("torch") is None:
                raise SdkError(
                    f"{sys.executable} has no PyTorch",
                    hint="make applications-train PYTORCH=PYTHON, docs/export.md",
                )
            return max((train(name) for name in wanted), default=0)
        asked = [
            (name, board)
            for name in wanted
            for board in ([options.board] if options.board else boards_of(name))
        ]
    except SdkError as error:
        hint = f" ({error.hint})" if error.hint else ""
        print(f"applications: {error.what}{hint}", file=sys.stderr)
        return 1
    rows = evaluate_all(asked)
    show(rows, options.json)
    output.write_json([asdict(row) for row in rows], options.json)
    return 1 if any(row.failure for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
