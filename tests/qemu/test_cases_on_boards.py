"""The committed cases on every board, and what the test runner does with bad ones."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import case_tables
import committed
import committed_cases
import numpy as np
import pace
import pytest
from benchmarks import work
from committed import check, run
from committed_cases import path_of

from ember import boards, cases, cli, kernels, program
from ember.firmware import runner
from ember.program import Bool, Chain, JumpFalseCall, Program
from ember.run import testing
from ember.run.testing import Outcome

ALL = ("host", "mps2-an386", "mps3-an547", "qemu-a64-sme")
# CI has all cases on Hexagon, too, and `make check` cores between these: a core's own
# libraries take a compiler up to a minute.
EVERY = (*ALL, pytest.param("hexagon-v68", marks=pytest.mark.broad))
# CI has these as well.
BROAD = [
    pytest.param(name, marks=pytest.mark.broad)
    for name in ("hexagon-v68", "host-asan", "mps2-an385-v6m")
]
SOME = (
    *BROAD,
    pytest.param("mps2-an385", marks=pytest.mark.long),
    pytest.param("mps2-an500", marks=pytest.mark.long),
    pytest.param("mps2-an505", marks=pytest.mark.long),
    "netduinoplus2",
)
# On the boards that differ little from the others: models, and the kinds of programs.
SUBSET = "model or bundle or special"
FEW = "bundle or special"

FACTORS = work.factors()
FOLDER = case_tables.FOLDER

pytestmark = [pytest.mark.qemu, pytest.mark.slow]


def check_work(results: list[Outcome]) -> None:
    """No program takes more instructions for a step of its bound than its kernels, nor
    far fewer."""
    board = results[0].board
    over = work.over(results, FACTORS[board]) if board in FACTORS else []
    again = f"if a kernel does more now: tools/bench work --board {board} --update"
    assert not over, "\n".join([*over, again])
    loose = work.loose(results)
    assert not loose, "\n".join(loose)


roomy = pytest.param("mps2-an386", marks=pytest.mark.long)


def test_instructions_are_those_of_one_execution(tmp_path: Path) -> None:
    """However many runs a case has."""
    names = ("once", "thrice")
    for name, times in zip(names, (1, 3), strict=True):
        committed.copied("op_add", tmp_path / name)
        to = tmp_path / name / "case.json"
        facts = json.loads(to.read_text())
        to.write_text(json.dumps(facts | {"runs": facts["runs"][:1] * times}))
    words = ["test", str(tmp_path), "--board", "mps2-an386", "--json"]
    assert cli.main([*words, str(tmp_path / "out.json")]) == 0
    once, thrice = json.loads((tmp_path / "out.json").read_text())["cases"]
    assert once["instructions"] == thrice["instructions"] > 0


@pytest.mark.broad
@pytest.mark.parametrize("board", [roomy, "netduinoplus2"])
def test_dead_memory_may_hold_anything(board: str) -> None:
    settings = testing.Settings(poison=0xA5, passes=())
    check(run(committed_cases.programs(), board, "model or special", settings))


@pytest.mark.parametrize("board", EVERY)
def test_all_committed_cases(board: str) -> None:
    results = run(committed_cases.programs(), board)
    check(results)
    check_work(results)
    counted = boards.load(board).runner.counts is not None
    assert all((outcome.instructions is not None) is counted for outcome in results)


without_fpu = pytest.param("mps2-an385", marks=pytest.mark.long)


@pytest.mark.parametrize("board", [*EVERY[1:], BROAD[1], without_fpu])
def test_every_operator(board: str) -> None:
    """The cases of tables, and NumPy's."""
    results = run(committed_cases.operators(), board)
    check(results)
    check_work(results)


@pytest.mark.parametrize(
    "board",
    ["host-dsp", "host-hvx", "host-mve", *SOME],
)
def test_int8_layers(board: str) -> None:
    """Calls of the cortex_m dialect with random shapes, from tables."""
    results = run(committed_cases.of_dialect("cortex_m::"), board)
    check(results)
    check_work(results)


@pytest.mark.parametrize("board", SOME)
def test_some_committed_cases(board: str) -> None:
    check(run(committed_cases.programs(), board, SUBSET))


@pytest.mark.broad
@pytest.mark.parametrize("board", ["hexagon-v68", "mps2-an385-v6m"])
def test_a_few_committed_cases(board: str) -> None:
    check(run(committed_cases.programs(), board, FEW))


# ---- what must not pass --------------------------------------------------------------


def copied(folder: Path, name: str, new: str) -> Path:
    return committed.copied(name, folder / new)


def rewrite(folder: Path, change: Any) -> None:
    """Put another program into a case folder."""
    path = folder / "model.pte"
    model = program.read(path)
    path.write_bytes(program.write(change(model)))


def looping(model: Program) -> Program:
    """The program with a jump to itself in front."""
    method = model.methods[0]
    (chain,) = method.chains
    jump = JumpFalseCall(len(method.values), 0)
    return dataclasses.replace(
        model,
        methods=(
            dataclasses.replace(
                method,
                values=(*method.values, Bool(False)),
                chains=(
                    Chain((jump, *chain.instructions), chain.inputs, chain.outputs),
                ),
            ),
        ),
    )


def greedy(model: Program) -> Program:
    """The program with a planned memory of 64 MB more than it uses."""
    method = model.methods[0]
    sizes = (*method.planned_sizes[:1], method.planned_sizes[1] + (64 << 20))
    changed = dataclasses.replace(method, planned_sizes=(*sizes,))
    return dataclasses.replace(model, methods=(changed,))


def wrong_value(folder: Path) -> None:
    name = json.loads((folder / "case.json").read_text())["runs"][0]["outputs"][0]
    array = np.load(folder / name)
    array.reshape(-1)[-1] += 1
    np.save(folder / name, array)


def test_bad_cases_among_good_ones(tmp_path: Path) -> None:
    copied(tmp_path, "op_add", "a_good")
    wrong_value(copied(tmp_path, "op_add", "b_wrong"))
    (copied(tmp_path, "op_add", "c_broken") / "case.json").write_text("{")
    rewrite(copied(tmp_path, "op_add", "d_large"), greedy)
    rewrite(copied(tmp_path, "op_add", "e_loops"), looping)
    copied(tmp_path, "op_add", "f_good")
    outcomes = {outcome.name: outcome for outcome in run([tmp_path], "mps2-an386")}
    statuses = [outcome.status for outcome in outcomes.values()]
    assert statuses == ["passed", "failed", "error", "error", "error", "passed"]
    assert outcomes["b_wrong"].max_abs_diff == pytest.approx(1, rel=1e-3)
    assert "is not JSON" in outcomes["c_broken"].message
    assert "needs 67,1" in outcomes["d_large"].message
    assert "memory, has 16,777,216" in outcomes["d_large"].message
    assert "more steps than its budget" in outcomes["e_loops"].message


CRASH = """
#include "ember/node.h"
// Takes the place of a kernel of the library.
typedef struct state { float *nowhere; } state_t;
static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x, y;
    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, 1, &x, &y);
    ((state_t *)state)->nowhere = (float *)(uintptr_t)0xF0000000u;
    return ember_node_status(node);
}
static int32_t run(void *state) {
    *((state_t *)state)->nowhere = 1.0f;
    return EMBER_OK;
}
EMBER_KERNEL(NAME, state_t);
"""


@pytest.mark.parametrize("board", ["host", "mps2-an386", "mps3-an547"])
def test_a_fault_in_a_kernel_costs_one_case(
    tmp_path: Path, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = tmp_path / "crash.c"
    first = kernels.load().operators["aten::abs.out"].kernels[0]
    crash.write_text(CRASH.replace("NAME", first))
    monkeypatch.setattr(runner, "_APP", (*runner._APP, str(crash)))
    for index, name in enumerate(("op_add", "op_abs", "op_add")):
        copied(tmp_path, name, f"{index}_{name}")
    before, bad, after = run([tmp_path], board)
    check([before, after])
    assert bad.status == "error"
    assert f"fault on {board}" in bad.message
    assert f"ember_run_{first}()" in bad.message


def test_a_small_board_says_what_does_not_fit(tmp_path: Path) -> None:
    rewrite(copied(tmp_path, "op_add", "large"), greedy)
    copied(tmp_path, "op_add", "small")
    large, small = run([tmp_path], "netduinoplus2")
    check([small])
    assert large.status == "error"
    assert "does not fit netduinoplus2: needs 67," in large.message


def test_a_program_larger_than_flash_is_an_error(tmp_path: Path) -> None:
    large = copied(tmp_path, "op_add", "large")
    with (large / "model.pte").open("ab") as file:
        file.write(bytes(2 << 20))
    copied(tmp_path, "op_add", "small")
    results = run([tmp_path], "netduinoplus2")
    check(results[1:])
    assert results[0].status == "error"
    assert "memory flash needs" in results[0].message


def test_many_cases_a_second(tmp_path: Path) -> None:
    """At least 100 one-operator cases a second, the emulator's start included."""
    board = boards.load("mps3-an547")
    places = cases.find([committed_cases.table(FOLDER / "elementwise.yaml")])
    programs = [cases.read(place).program for place in places]
    runner.for_programs(board, programs)  # is built
    with pace.within(len(places) / 100):
        testing.test(places, [board], jobs=1)


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    words = ["test", str(path_of("op_add")), "--board", "mps2-an386"]
    assert cli.main([*words, "--json", str(path)]) == 0
    (case,) = json.loads(path.read_text())["cases"]
    assert case["instructions"] > 0
    assert case["max_abs_diff"] == 0.0
