# SPDX-License-Identifier: Apache-2.0
"""How often a build reads, writes and checks a program, and what it enters.

A program is read as it came, and once for each stage that writes it again, which also
checks the plan that it made. Passes write only small programs that they run.
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
from committed_cases import path_of

from ember import program
from ember.firmware import Options, build
from ember.plan import check as plan_check
from ember.program import reader, writer

ROOT = Path(__file__).resolve().parents[3]
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

    def _is_whole(self, given: program.Program) -> bool:
        """Whether it still takes inputs: parts that passes run take none."""
        return any(method.inputs for method in given.methods)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calls:
    """Counted from here on, with an empty cache of what passes found."""
    counted = Calls("program")
    parse = counted.count("parse", reader.parse)
    write = counted.count("write", writer.write)
    check = counted.count("check", plan_check.check)
    for module in (reader, program, writer):
        monkeypatch.setattr(module, "parse", parse)
    for module in (writer, program):
        monkeypatch.setattr(module, "write", write)
    monkeypatch.setattr(plan_check, "check", check)
    monkeypatch.setattr("ember.plan.passes.improve.CacheEntry.read", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    return counted


def built(calls: Calls, path: Path, options: Options, board: str = "host") -> list[int]:
    """How often the program was read, written and checked."""
    build(path, board, options=options)
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
    assert built(calls, path_of(name), NO_PASSES) == [2, 1, 1]
    assert calls.of["write of a part"] == 0


def test_several_methods(calls: Calls) -> None:
    options = Options(passes=(), methods=("encode", "decode"))
    path = path_of("special_methods")
    calls.of.clear()  # of writing the case
    assert built(calls, path, options) == [2, 1, 1]


def test_passes_without_use_add_nothing(calls: Calls) -> None:
    options = Options(passes=("view", "concat"))
    assert built(calls, path_of("model_mlp_small"), options) == [2, 1, 1]


def test_passes_that_change_a_program_add_the_check_of_their_start(
    calls: Calls,
) -> None:
    """Two plans, of the program as it was read and of the one after passes: both are
    checked, one is written. Scratch that kernels need makes a third plan: the loader
    reads it, so it is written, and checked (docs/decisions/0053)."""
    assert built(calls, path_of("model_resnet8_small"), Options()) == [2, 2, 3]


@pytest.mark.slow
def test_packed_weights_and_lent_payloads(calls: Calls) -> None:
    """Written as packed, with packed weights, with its payloads last; the loader reads
    each. The check of lent payloads reads the file with and without them."""
    path = path_of("xnnpack_mlp_static")
    assert built(calls, path, Options(), "qemu-a64-sme") == [5, 3, 1]


@pytest.mark.slow
def test_the_digits_in_several_memories(calls: Calls) -> None:
    """Read, packed, with scratch, with copies; however often it is linked."""
    assert built(calls, DIGITS, Options(), "mps3-an547") == [3, 3, 4]


# ---- modules -------------------------------------------------------------------------

MOST_ENTERED = 112  # by a first build of a folder: decision 0054
MOST_UP_TO_DATE = 50


def entered(folder: Path) -> int:
    """Modules that a build of the digits enters: by calls from other rooms or their
    own."""
    tool = str(ROOT / "tools" / "modules_entered.py")
    words = ["build", str(DIGITS), "--board", "mps3-an547", "--out", str(folder)]
    command = [sys.executable, tool, *words]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    counts = re.search(r"(\d+) doors of rooms, (\d+) modules behind", done.stderr)
    assert counts is not None, done.stderr
    return sum(map(int, counts.groups()))


@pytest.mark.slow
def test_how_many_modules_a_build_enters(tmp_path: Path) -> None:
    """What a reader who follows a build has to open; imports do not count. An empty
    cache adds none."""
    assert entered(tmp_path / "out") <= MOST_ENTERED
    assert entered(tmp_path / "out") <= MOST_UP_TO_DATE
