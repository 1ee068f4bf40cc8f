"""The committed cases, and how they run on a board."""

from __future__ import annotations

from pathlib import Path

import pytest

from ember import boards, cases
from ember.cases import filters
from ember.run import testing
from ember.run.testing import Outcome
from ember.toolchain import emulator

TESTS = Path(__file__).resolve().parents[1]
CASES = TESTS / "cases"
OPERATORS = [TESTS / "conformance" / "cases", TESTS / "conformance" / "numpy"]
INT8_LAYERS = [TESTS / "conformance" / "cortex_m"]


def run(
    folders: list[Path],
    board: str,
    expression: str = "",
    settings: testing.Settings | None = None,
) -> list[Outcome]:
    name = boards.load(board)
    if not emulator.available(name):
        pytest.skip(f"{name.runner.binary} is not installed")
    wanted = filters.parse(expression)
    found = [one for one in cases.find(folders) if wanted(one.name)]
    return testing.test(found, [name], jobs=1, settings=settings)


def check(results: list[Outcome]) -> None:
    wrong = [one for one in results if one.status != "passed"]
    lines = [f"{one.name}: {one.status}: {one.message}" for one in wrong]
    again = [f"  {one.again}" for one in wrong]
    assert not wrong, "\n".join([*lines, "to run one again:", *again])
