# SPDX-License-Identifier: Apache-2.0
"""Each room of a build is entered once: how often a program is read, written, checked.

A program is read as it came, and once for each stage that writes it anew, which also
checks the plan that it made. Passes write no more than small programs that they run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ember import build, program
from ember.build import Options
from ember.plan import check as plan_check
from ember.program import reader, writer, written

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cases"
DIGITS = ROOT / "examples" / "models" / "digits" / "digits_int8_m55.pte"
NO_PASSES = Options(passes=())


@dataclass
class Calls:
    """What was read, written and checked of the program of a build."""

    name: str
    of: Counter[str] = field(default_factory=Counter)

    def count(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(first: Any, *rest: Any, **named: Any) -> Any:
            whole = not isinstance(first, program.Program) or self._is_whole(first)
            self.of[what if whole else "write of a part"] += 1
            return function(first, *rest, **named)

        return counted

    def _is_whole(self, one: program.Program) -> bool:
        """Whether it still takes inputs: what passes run alone takes none."""
        return any(method.inputs for method in one.methods)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calls:
    """Counted from here on, with an empty cache of what passes found."""
    found = Calls("program")
    parse = found.count("parse", reader.parse)
    write = found.count("write", writer.write)
    check = found.count("check", plan_check.check)
    for module in (reader, program, written):
        monkeypatch.setattr(module, "parse", parse)
    for module in (writer, program):
        monkeypatch.setattr(module, "write", write)
    monkeypatch.setattr(plan_check, "check", check)
    monkeypatch.setattr("ember.plan.passes.cache.CacheEntry.read", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    return found


def built(calls: Calls, path: Path, options: Options, board: str = "host") -> list[int]:
    """How often the program was read, written and checked."""
    build.build(path, board, options=options)
    return [calls.of[what] for what in ("parse", "write", "check")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "model_mlp_small",
        "special_cond",
        "special_delegate",
        "special_counter",
        "xnnpack_mlp",
    ],
)
def test_without_passes(calls: Calls, name: str) -> None:
    """Read, packed: also where delegates have payloads, and where there is state."""
    assert built(calls, CASES / name, NO_PASSES) == [2, 1, 1]
    assert calls.of["write of a part"] == 0


def test_several_methods(calls: Calls) -> None:
    options = Options(passes=(), methods=("encode", "decode"))
    assert built(calls, CASES / "special_methods", options) == [2, 1, 1]


def test_passes_without_use_add_nothing(calls: Calls) -> None:
    options = Options(passes=("view", "concat"))
    assert built(calls, CASES / "model_mlp_small", options) == [2, 1, 1]


def test_passes_that_change_a_program_add_the_check_of_their_start(
    calls: Calls,
) -> None:
    """Two plans, of the program as it was read and of what passes made of it: both are
    checked, one is written. Scratch that kernels asked for makes a third of it."""
    assert built(calls, CASES / "model_resnet8_small", Options()) == [2, 2, 3]


@pytest.mark.slow
def test_packed_weights_and_lent_payloads(calls: Calls) -> None:
    """Written as packed, with packed weights, with its payloads last. What lies there
    is read, and the check of what it is lent for reads the file with and without it."""
    path = CASES / "xnnpack_mlp_static"
    assert built(calls, path, Options(), "qemu-a64-sme") == [5, 3, 1]


@pytest.mark.slow
def test_the_digits_in_several_memories(calls: Calls) -> None:
    """Read, packed, with scratch, placed; however often code and stack are linked."""
    assert built(calls, DIGITS, Options(), "mps3-an547") == [3, 3, 4]


# ---- modules -------------------------------------------------------------------------


def entered(folder: Path) -> tuple[int, int]:
    """Modules that a build of the digits enters: by calls from other rooms, and all."""
    words = ["build", DIGITS, "--board", "mps3-an547", "--out", folder]
    command = [sys.executable, ROOT / "tools" / "modules_entered.py", *words]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    found = re.search(r"(\d+) doors of rooms, (\d+) modules behind", done.stderr)
    assert found is not None, done.stderr
    doors, behind = map(int, found.groups())
    return doors, doors + behind


@pytest.mark.slow
def test_how_many_modules_a_build_enters(tmp_path: Path) -> None:
    """What a reader who follows a build has to open; imports do not count."""
    assert entered(tmp_path / "out")[0] <= 68  # the stages, each by few doors
    assert entered(tmp_path / "out")[1] <= 45  # what is built already
