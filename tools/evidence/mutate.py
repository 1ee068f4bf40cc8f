"""Mutants of runtime_c/src -> how many of them the C tests and crafted files kill.

    tools/mutate                    all mutants: hours
    tools/mutate --sample 60        so many, chosen by --seed
    tools/mutate --json -           {"killed": .., "mutants": .., "score": ..}

A mutant is killed when a test fails or does not end; one that does not compile, or to
the same instructions as before, is none.
Those that compute the same are listed with the reason in tools/evidence/equivalent.yaml
and are not counted. Exit status 1 below --least percent.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from c_programs import APART, CORE, ROOT, includes

from evidence import mutants
from evidence.core_tests import CoreTests
from evidence.mutants import Mutant

_EQUIVALENT = Path(__file__).with_name("equivalent.yaml")


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    killer: str | None  # the test that failed; None: it lives


def verdicts(chosen: Sequence[Mutant]) -> Iterator[Verdict]:
    """What becomes of each; those that do not compile are left out."""
    with tempfile.TemporaryDirectory(prefix="ember-mutate-") as temporary:
        folder = Path(temporary)
        tests = CoreTests(folder, APART, apart=True)
        first = tests.failing()
        if first is not None:
            sys.exit(f"mutate: {first} fails without a mutant: mend it first")
        for mutant in chosen:
            changed = _compiled(mutant, folder)
            if changed is not None:
                yield Verdict(mutant, tests.killer(mutant.path.stem, changed))


def _compiled(mutant: Mutant, folder: Path) -> Path | None:
    """Its object; None when it does not compile, or is what it was: in a line that this
    build leaves out, or of the same instructions when they are optimised."""
    plain = ("gcc", "-std=c11", "-O2", "-g0")
    before = _object(plain, mutant, mutant.path.read_text(encoding="utf-8"), folder)
    same = before is not None and before.read_bytes()
    after = _object(plain, mutant, mutant.text, folder)
    if after is None or after.read_bytes() == same:
        return None
    return _object(APART.command, mutant, mutant.text, folder)


def _object(
    command: Sequence[str], mutant: Mutant, text: str, folder: Path
) -> Path | None:
    source, target = folder / mutant.path.name, folder / "mutant.o"
    source.write_text(text, encoding="utf-8")
    near = f"-I{mutant.path.parent}"
    # What is unused now, or compared in vain, is the mutant's.
    words = [*command, "-w", near, *includes(), "-c", str(source)]
    done = subprocess.run([*words, "-o", str(target)], capture_output=True, check=False)
    return target if done.returncode == 0 else None


def _equivalent() -> dict[str, str]:
    """Reasons, by file, line's text and change."""
    return yaml.safe_load(_EQUIVALENT.read_text(encoding="utf-8")) or {}


def _key(mutant: Mutant) -> str:
    line = mutant.path.read_text(encoding="utf-8").splitlines()[mutant.line - 1]
    change = mutant.name.partition(": ")[2]
    return f"{mutant.path.name}: {' '.join(line.split())}: {change}"


def _sample(count: int | None, seed: int) -> list[Mutant]:
    known = _equivalent()
    every = [one for path in CORE for one in mutants.of(path) if _key(one) not in known]
    if count is None or count >= len(every):
        return every
    return random.Random(seed).sample(every, count)


def _part(text: str) -> tuple[int, int]:
    number, of = map(int, text.split("/"))
    return number, of


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
    chosen = _sample(asked.sample, asked.seed)
    chosen = chosen[asked.part[0] - 1 :: asked.part[1]]
    for verdict in verdicts(chosen):
        judged.append(verdict)
        if verdict.killer is None:
            print(f"lives: {_key(verdict.mutant)}", file=log, flush=True)
    killed = sum(verdict.killer is not None for verdict in judged)
    score = 100 * killed / len(judged) if judged else 100.0
    print(f"{killed} of {len(judged)} mutants killed, {score:.1f} %", file=log)
    if asked.json:
        facts = {"killed": killed, "mutants": len(judged), "score": round(score, 2)}
        _write(json.dumps(facts) + "\n", asked.json)
    return int(score < asked.least)


def _write(text: str, target: str) -> None:
    if target == "-":
        sys.stdout.write(text)
    else:
        (ROOT / target).write_text(text, encoding="utf-8")
