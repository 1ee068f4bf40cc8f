"""The fuzzer that is guided by coverage: what is kept, and two minutes more."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import guide
import host_link
import pytest

from ember.hil import link, streams

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
TARGETS = {"program", "payload", "data", "bundle", "prepared", "link"}
PYTHON = ("host_link", "python")


def fuzz(*words: str) -> list[dict[str, Any]]:
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    command = [sys.executable, str(ROOT / "tools/fuzz"), *words, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


@pytest.mark.slow
@pytest.mark.broad
def test_what_is_kept_makes_no_report() -> None:
    """With both sanitizers, and with 32-bit pointers."""
    results = fuzz("--replay")
    kinds = ("address", "memory", "address32")
    assert {(result["target"], result["sanitizer"]) for result in results} == {
        PYTHON,
        *((target, kind) for target in TARGETS for kind in kinds),
    }
    assert all(result["executions"] >= result["inputs"] > 10 for result in results)


@pytest.mark.slow
@pytest.mark.broad
def test_two_minutes_make_no_report() -> None:
    results = fuzz("--minutes", "2")
    assert {result["target"] for result in results} == {*TARGETS, PYTHON[0]}
    assert sum(result["executions"] for result in results) > 10_000


def test_what_is_kept_is_small() -> None:
    kept = list(CORPUS.iterdir())
    assert {path.name.partition(".")[0] for path in kept} == {*TARGETS, PYTHON[0]}
    assert sum(path.stat().st_size for path in kept) <= 3 << 20


class Forgets(streams.Incoming):
    """What came early is taken for what comes next."""

    def take(self, offset: int, payload: bytes) -> None:
        super().take(min(offset, self.size), payload)


@pytest.mark.parametrize("broken", [True, False])
def test_a_host_that_takes_the_wrong_part_is_found(
    *, broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken:
        monkeypatch.setattr(link, "Incoming", Forgets)
    outcome = host_link.replay(guide.kept("host_link"))
    assert (outcome.failed is not None) == broken
    if outcome.failed is not None:
        assert "another stream is received" in str(outcome.failed[1])
