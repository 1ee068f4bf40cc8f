"""Runs of the C tests -> branches and conditions of runtime_c/src that they decide.

    tools/mcdc                  gaps by file and line, then both shares
    tools/mcdc --least 91 77    exit status 1 if fewer percent are decided
    tools/mcdc --json FILE      {"branches": 99.1, "mcdc": 98.2, "gaps": [...]}

A branch is decided when its condition was true once and false once; a condition has
MC/DC when a change of only this condition changed the outcome of its decision. Before a
statement of which no test can reach all a comment says why, `// unreached: REASON`; it
counts as decided.
Clang 19 measures; C tests and crafted files run on the host.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from c_programs import CORE, COVERAGE, ROOT

from ember import output
from evidence.core_tests import CoreTests

REASON = "// unreached: "
_ENDS = (";", "{", "}", ":", "")  # of the line before a statement


@dataclass(frozen=True)
class Gap:
    file: str
    line: int
    kind: str  # branch or mcdc
    what: str


@dataclass(frozen=True)
class Measured:
    """Of all branches, or of all conditions."""

    count: int
    gaps: tuple[Gap, ...]

    @property
    def percent(self) -> float:
        return 100 * (self.count - len(self.gaps)) / self.count


def measure() -> tuple[Measured, Measured]:
    """Branches and MC/DC. Tests that fail end it."""
    with tempfile.TemporaryDirectory(prefix="ember-mcdc-") as temporary:
        folder = Path(temporary)
        tests = CoreTests(folder, COVERAGE)
        for name in tests.programs:
            done = tests.run(name, LLVM_PROFILE_FILE=str(folder / f"{name}.profraw"))
            if done.returncode != 0 and name != "crafted":
                sys.exit(f"mcdc: {name} fails: run the tests first")
        files = _exported(folder, tests.programs.values())
    return _measured(files, "branch", _branches), _measured(files, "mcdc", _conditions)


def _exported(folder: Path, programs: Iterable[Path]) -> list[dict[str, Any]]:
    merged = folder / "all.profdata"
    raw = sorted(map(str, folder.glob("*.profraw")))
    words = ["llvm-profdata-19", "merge", "-sparse", *raw, "-o", str(merged)]
    subprocess.run(words, check=True)
    first, *others = map(str, programs)
    words = ["llvm-cov-19", "export", "-format=text", f"-instr-profile={merged}", first]
    words += [word for program in others for word in ("-object", program)]
    words += map(str, CORE)
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    files: list[dict[str, Any]] = json.loads(text)["data"][0]["files"]
    return files


Place = tuple[int, int, int, int]  # line and column, of both ends


def _branches(file: dict[str, Any]) -> Iterator[tuple[Place, str, bool]]:
    known: set[Place] = set()
    for line, column, last, end, true, false, *_ in file["branches"]:
        place = line, column, last, end
        if place not in known:  # what macros expand to is listed at their uses as well
            yield place, "never true", true > 0
            yield place, "never false", false > 0
        known.add(place)


def _conditions(file: dict[str, Any]) -> Iterator[tuple[Place, str, bool]]:
    for line, column, last, end, *_, decided in file["mcdc_records"]:
        for number, decides in enumerate(decided, start=1):
            what = f"condition {number} never decides by itself"
            yield (line, column, last, end), what, bool(decides)


def _measured(
    files: Sequence[dict[str, Any]],
    kind: str,
    outcomes: Callable[[dict[str, Any]], Iterable[tuple[Place, str, bool]]],
) -> Measured:
    count, gaps = 0, []
    for file in files:
        path = Path(file["filename"])
        for place, what, decides in outcomes(file):
            count += 1
            if not decides and not _is_justified(path, place[0]):
                sentence = f"{what}: {_text(path, *place)}"
                name = str(path.relative_to(ROOT))
                gaps.append(Gap(name, place[0], kind, sentence))
    return Measured(count, tuple(gaps))


@functools.cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _is_justified(path: Path, line: int) -> bool:
    """Whether a reason stands before the statement that a line belongs to."""
    before = reversed(_lines(path)[: line - 1])
    statement = itertools.takewhile(lambda text: text[-1:] not in _ENDS, before)
    return any(REASON in text for text in statement)


def _reasons() -> int:
    return sum(REASON in line for path in CORE for line in _lines(path))


def _text(path: Path, line: int, column: int, last: int, end: int) -> str:
    lines = _lines(path)[line - 1 : last]
    lines[-1] = lines[-1][: end - 1]
    lines[0] = lines[0][column - 1 :]
    return " ".join(" ".join(lines).split())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    least: dict[str, Any] = {"nargs": 2, "type": float, "metavar": ("BRANCHES", "MCDC")}
    parser.add_argument("--least", default=(0, 0), help="percent", **least)
    parser.add_argument("--json", metavar="FILE", help="- for standard output")
    asked = parser.parse_args()
    branches, conditions = measure()
    gaps = [*branches.gaps, *conditions.gaps]
    if asked.json != "-":
        for gap in sorted(gaps, key=lambda gap: (gap.file, gap.line)):
            print(f"{gap.file}:{gap.line}: {gap.what}")
        print(f"branches: {branches.percent:.1f} % of {branches.count}")
        print(f"MC/DC:    {conditions.percent:.1f} % of {conditions.count}")
        print(f"of statements with a reason for what is unreached: {_reasons()}")
    facts = {
        "branches": round(branches.percent, 2),
        "mcdc": round(conditions.percent, 2),
        "gaps": [asdict(gap) for gap in gaps],
    }
    output.write_json(facts, asked.json)
    percents = (branches.percent, conditions.percent)
    return int(
        any(has < least for has, least in zip(percents, asked.least, strict=True))
    )
