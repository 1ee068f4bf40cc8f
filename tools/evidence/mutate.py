"""Mutants of runtime_c/src -> how many of them the C tests and crafted files kill.

    tools/mutate                    all mutants: half an hour of a processor
    tools/mutate flow.c node.c      those of these files
    tools/mutate --sample 60        so many, chosen by --seed
    tools/mutate --json -           {"killed": .., "mutants": .., "score": ..}

A mutant is killed when a test fails or does not end; one that does not compile, or to
the same instructions as before, is none.
Those that compute the same are listed with the reason in tools/evidence/equivalent.yaml
and are not counted. Exit status 1 below --least percent.
"""

from __future__ import annotations

import argparse
import functools
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from c_programs import APART, CORE, includes

from ember import output
from evidence import mutants
from evidence.core_tests import CoreTests
from evidence.mutants import Mutant

_EQUIVALENT = Path(__file__).with_name("equivalent.yaml")


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    key: str
    killer: str | None  # the test that failed; None: it lives


def verdicts(chosen: Sequence[tuple[str, Mutant]]) -> Iterator[Verdict]:
    """What becomes of each, named by its key; those that do not compile are left
    out."""
    with tempfile.TemporaryDirectory(prefix="ember-mutate-") as temporary:
        folder = Path(temporary)
        tests = CoreTests(folder, APART, apart=True)
        first = tests.failing()
        if first is not None:
            sys.exit(f"mutate: {first} fails without a mutant: mend it first")
        for key, mutant in chosen:
            changed = _compiled(mutant, folder)
            if changed is not None:
                yield Verdict(mutant, key, tests.killer(mutant.path.stem, changed))


def _compiled(mutant: Mutant, folder: Path) -> Path | None:
    """Its object; None when it does not compile, or is what it was: in a line that this
    build leaves out, or of the same instructions when they are optimised."""
    plain = ("gcc", "-std=c11", "-O2", "-g0")
    after = _object(plain, mutant.path, mutant.text, folder)
    if after is None or after.read_bytes() == _unchanged(plain, mutant.path, folder):
        return None
    return _object(APART.command, mutant.path, mutant.text, folder)


@functools.cache
def _unchanged(command: Sequence[str], path: Path, folder: Path) -> bytes | None:
    compiled = _object(
        command, path, path.read_text(encoding="utf-8"), folder, "same.o"
    )
    return compiled.read_bytes() if compiled else None


def _object(
    command: Sequence[str],
    path: Path,
    text: str,
    folder: Path,
    name: str = "mutant.o",
) -> Path | None:
    source, target = folder / path.name, folder / name
    source.write_text(text, encoding="utf-8")
    near = f"-I{path.parent}"
    # What is unused now, or compared in vain, is the mutant's.
    words = [*command, "-w", near, *includes(), "-c", str(source)]
    done = subprocess.run([*words, "-o", str(target)], capture_output=True, check=False)
    return target if done.returncode == 0 else None


def keyed(path: Path) -> Iterator[tuple[str, Mutant]]:
    """The mutants of a file by file, line's text and change; where this is not the
    first of several that are alike, also by its number."""
    lines = path.read_text(encoding="utf-8").splitlines()
    alike: Counter[str] = Counter()
    for mutant in mutants.of(path):
        change = " ".join(mutant.name.partition(": ")[2].split())
        key = f"{path.name}: {' '.join(lines[mutant.line - 1].split())}: {change}"
        alike[key] += 1
        yield key if alike[key] == 1 else f"{key} [{alike[key]}]", mutant


def _sample(
    paths: Sequence[Path], count: int | None, seed: int
) -> list[tuple[str, Mutant]]:
    known = yaml.safe_load(_EQUIVALENT.read_text(encoding="utf-8")) or {}
    every = [
        (key, mutant)
        for path in paths
        for key, mutant in keyed(path)
        if key not in known
    ]
    if count is None or count >= len(every):
        return every
    return random.Random(seed).sample(every, count)


def _files(names: Sequence[str], parser: argparse.ArgumentParser) -> list[Path]:
    unknown = set(names) - {path.name for path in CORE}
    if unknown:
        parser.error(f"runtime_c/src has no {', '.join(sorted(unknown))}")
    return [path for path in CORE if path.name in names or not names]


def _part(text: str) -> tuple[int, int]:
    number, of = map(int, text.split("/"))
    return number, of


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE.c", help="of runtime_c/src")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument(
        "--part",
        type=_part,
        default=(1, 1),
        metavar="N/OF",
        help="each OFth of them, for several processes",
    )
    parser.add_argument("--least", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--json", metavar="FILE", help="- for standard output")
    asked = parser.parse_args()
    log = sys.stderr if asked.json == "-" else sys.stdout
    judged = []
    chosen = _sample(_files(asked.files, parser), asked.sample, asked.seed)
    chosen = chosen[asked.part[0] - 1 :: asked.part[1]]
    for verdict in verdicts(chosen):
        judged.append(verdict)
        if verdict.killer is None:
            line = verdict.mutant.line
            print(f"lives, line {line}: {verdict.key}", file=log, flush=True)
    killed = sum(verdict.killer is not None for verdict in judged)
    score = 100 * killed / len(judged) if judged else 100.0
    print(f"{killed} of {len(judged)} mutants killed, {score:.1f} %", file=log)
    facts = {"killed": killed, "mutants": len(judged), "score": round(score, 2)}
    output.write_json(facts, asked.json)
    return int(score < asked.least)
