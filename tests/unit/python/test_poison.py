"""Dead memory is overwritten while cases run: a right plan gives right outputs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from committed_cases import path_of, programs

from ember import boards, cases, cli, kernels
from ember.cases import Case, picked
from ember.cases.batch import Dead, Poison
from ember.kernels import KernelList
from ember.plan import passes
from ember.program import JumpFalseCall
from ember.run import poison, testing

HOST = boards.load("host")


def read(name: str) -> Case:
    return cases.read(cases.find([path_of(name)])[0])


def outcomes(
    paths: list[Path], fill: int, names: str = "", chosen: tuple[str, ...] = ()
) -> list[testing.Outcome]:
    settings = testing.Settings(poison=fill, passes=chosen)
    wanted = picked.parse_filter(names)
    selected = [case for case in cases.find(paths) if wanted(case.name)]
    return testing.test(selected, [HOST], jobs=1, settings=settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fill",
    [pytest.param(0xA5, marks=pytest.mark.long), 0xFF],  # 0xFF is NaN
)
def test_every_committed_case_with_its_dead_memory_overwritten(fill: int) -> None:
    wrong = [
        outcome for outcome in outcomes(programs(), fill) if outcome.status != "passed"
    ]
    assert [f"{outcome.again}: {outcome.message}" for outcome in wrong] == []


def test_packed_by_passes_too() -> None:
    names = (
        "model_encoder_small or model_lstm_small or concat or op_cat or special_scan"
    )
    finished = outcomes(programs(), 0xFF, names, passes.DEFAULT)
    assert [outcome.name for outcome in finished if outcome.status != "passed"] == []
    assert len(finished) > 5


@pytest.mark.parametrize("name", ["model_lenet_small", "special_cond", "special_scan"])
def test_every_byte_is_dead_or_in_a_storage_that_is_alive(name: str) -> None:
    case, (dead,) = poison.packed(read(name), kernels.load(), (), HOST)
    (method,) = case.program.methods
    end = len(method.instructions)
    for at in range(end + 1):
        ranges = sorted(
            (gap.start, gap.end) for gap in dead if gap.first <= at <= gap.last
        )
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ranges))
        total = sum(stop - start for start, stop in ranges)
        assert total < method.planned_sizes[1]
    inputs = [method.values[index] for index in method.inputs]
    covered = [(gap.start, gap.end) for gap in dead if gap.first <= 0 <= gap.last]
    for value in inputs:
        start = value.allocation.offset  # type: ignore[union-attr]
        assert not any(a < start + value.nbytes and start < b for a, b in covered)  # type: ignore[union-attr]


def spoiled(case: Case, known: KernelList, where: str) -> tuple[Case, Poison]:
    """As packed(), with all memory overwritten before one instruction too."""
    packed, dead = ORIGINAL(case, known, (), HOST)
    (method,) = packed.program.methods
    end = len(method.instructions)
    jump = [
        index
        for index, instruction in enumerate(method.instructions)
        if isinstance(instruction, JumpFalseCall)
    ]
    at = {"first": 0, "exit": end, "jump": jump[0] if jump else 1}[where]
    extra = Dead(1, 0, method.planned_sizes[1], at, at)
    return packed, tuple((*gap, extra) for gap in dead)


ORIGINAL = poison.packed


@pytest.mark.parametrize("where", ["first", "exit", "jump"])
@pytest.mark.parametrize("name", ["model_lenet_small", "special_cond_two"])
def test_living_memory_that_is_overwritten_makes_a_case_fail(
    name: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poison, "packed", lambda c, k, *_: spoiled(c, k, where))
    (outcome,) = outcomes([path_of(name)], 0xFF)
    assert outcome.status == "failed"
    assert outcome.again.endswith("--board host --poison 0xff")


def test_ranges_outside_of_the_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def outside(case: Case, known: KernelList, *_: object) -> tuple[Case, Poison]:
        packed, (dead,) = ORIGINAL(case, known, (), HOST)
        return packed, ((*dead, replace(dead[0], end=1 << 30)),)

    monkeypatch.setattr(poison, "packed", outside)
    (outcome,) = outcomes([path_of("op_add")], 0xFF)
    assert (outcome.status, "outside planned memory" in outcome.message) == (
        "error",
        True,
    )


@pytest.mark.parametrize("text", ["256", "-1", "NaN"])
def test_the_option_takes_a_byte(text: str) -> None:
    arguments = ["test", str(path_of("op_add")), "--board", "host", "--poison", text]
    assert cli.main(arguments) == 2
