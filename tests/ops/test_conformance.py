# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: those committed cover every operator, and stay exportable."""

from __future__ import annotations

from pathlib import Path

import case_tables
import committed_cases
import pytest

from ember import files, kernels, program
from ember.program import KernelCall, Program, bundle

TESTS = Path(__file__).resolve().parents[1]
# What the exporter turns into something else, writes only for programs with state, or
# for what nobody can compare (memory as it was found).
UNREACHED = frozenset(
    {
        "aten::empty.out",
        "aten::empty_strided.out",
        "aten::index_put_",
        "aten::lift_fresh_copy.out",
        "dim_order_ops::_empty_dim_order.out",
    }
)


def stored(path: Path) -> Program:
    content = path.read_bytes()
    if path.suffix == ".bpte":
        content = bundle.parse(content).program
    return program.parse(content, path.name)


def operators(model: Program) -> set[str]:
    return {
        method.operators[instruction.op_index].full_name
        for method in model.methods
        for chain in method.chains
        for instruction in chain.instructions
        if isinstance(instruction, KernelCall)
    }


def lines() -> dict[str, case_tables.Entry]:
    """Those of all tables."""
    every = [case_tables.read(path) for path in case_tables.tables()]
    assert len(set().union(*every)) == sum(map(len, every))  # each name once
    return {name: entry for table in every for name, entry in table.items()}


def test_committed_programs_call_every_operator() -> None:
    called = {entry.operator for entry in lines().values()}
    for folder in (TESTS / "cases", committed_cases.BUILD / "numpy"):
        committed_cases.operators()
        for path in (*folder.rglob("*.pte"), *folder.rglob("*.bpte")):
            called |= operators(stored(path))
    listed = set(kernels.load().operators)
    assert sorted(listed - called - UNREACHED) == []
    assert sorted(UNREACHED & called) == []


def test_every_operator_of_cadence_has_a_case_of_its_dialect() -> None:
    called = {entry.operator for entry in lines().values()}
    listed = {name for name in kernels.load().operators if name.startswith("cadence::")}
    assert len(listed) == 92  # those with an `out` that ExecuTorch's wheel registers
    assert sorted(listed - called) == []


@pytest.mark.parametrize("path", case_tables.tables(), ids=lambda path: path.stem)
def test_a_table_is_sorted_and_has_numbers_for_its_lines(path: Path) -> None:
    entries, numbers = case_tables.read(path), case_tables.numbers_of(path)
    assert [*entries] == sorted(entries)
    used: set[str] = set()
    for entry in entries.values():
        assert case_tables.family(entry.operator) == path.stem
        case = case_tables.case_of(entry, numbers)
        assert case.runs
        again, arrays = case_tables.entry_of(case)
        assert again == entry
        used |= arrays.keys()
    assert used == numbers.keys()


def test_numbers_of_scripts_are_those_of_the_digests() -> None:
    """What a script in tests/ops/numpy computes, by its name."""
    digests = files.read_yaml(committed_cases.DIGESTS)
    current = committed_cases.digests()
    changed = {k: v for k, v in current.items() if digests.get(k) != v}
    assert not changed, f"if these are right, run tools/cases --digests: {changed}"
    assert digests.keys() == current.keys()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("aten::abs.out(f32[2])", "2 arguments are needed"),
        ("aten::abs.out(f32[2], ?)", "what is"),
    ],
)
def test_a_wrong_line_is_refused(line: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        case_tables.case_of(case_tables.Entry("a", line), {})
