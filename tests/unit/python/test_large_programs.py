"""Time and memory of large programs: they grow little faster than the program."""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import large_programs
import pace
import pytest
from small_programs import general

from ember import boards, kernels, paths, program
from ember.plan import check as plan_check
from ember.plan.passes import in_place, order, rows
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import Joining
from ember.plan.replan import replan, trimmed
from ember.program import edit, types

FEW, MANY = 200, 800
_SLACK = 2  # caches, and what a busy computer does to small figures
MEGABYTE = 1_000_000
_BASE = 150 * MEGABYTE  # of a build of a program of no size
_MANY_CALLS = 32 * MEGABYTE  # that plans of 10,000 calls still take beyond it
DIGITS = paths.root() / "examples/models/digits/digits_int8_m55.pte"


def plan(network: types.Program) -> None:
    """What `ember build` does to a program before kernels are chosen, but for running
    it, and what `ember plan` proposes."""
    known = kernels.load()
    here = Computer(boards.load("host"), known, general)
    in_place.apply(edit.draft(network), here, frozenset())
    order.apply(edit.draft(network), here, frozenset())
    rows.apply(edit.draft(network), here, frozenset())
    planned = []
    for method in network.methods:
        Joining(method, here, frozenset())
        planned.append(replan(method, known).method)
    packed = trimmed(replace(network, methods=tuple(planned)))
    plan_check.check(network, program.parse(program.write(packed)), known)


def seconds(shape: str, count: int, times: int = 1) -> float:
    """Of a processor, at best."""
    durations = []
    for _ in range(times):
        network = large_programs.SHAPES[shape](count)
        started = pace.used()
        plan(network)
        durations.append(pace.used() - started)
    return min(durations)


@pytest.mark.slow
@pytest.mark.parametrize("shape", large_programs.SHAPES)
def test_time_grows_as_the_program_does(shape: str) -> None:
    grows_as_the_program(shape, FEW, MANY)


@pytest.mark.long
@pytest.mark.parametrize("shape", large_programs.SHAPES)
def test_time_grows_as_the_program_does_up_to_ten_thousand_calls(shape: str) -> None:
    grows_as_the_program(shape, 100, 10_000)


def grows_as_the_program(shape: str, few: int, many: int) -> None:
    """No faster than n log n."""
    first, then = seconds(shape, few, 3), seconds(shape, many)
    growth = many * math.log(many) / (few * math.log(few))
    assert then < _SLACK * growth * first, f"{first:.3f} s became {then:.3f} s"


# ---- whole commands ------------------------------------------------------------------


def ember(words: Sequence[str | Path]) -> resource.struct_rusage:
    """What a command and those that it waits for use."""
    command = [sys.executable, "-m", "ember", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    return usage


def build(path: Path, board: str, folder: Path) -> tuple[float, int]:
    """Seconds of processors, and the most bytes of a process."""
    usage = ember(["build", path, "--board", board, "--out", folder])
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small program; the libraries of the host are compiled."""
    folder = tmp_path_factory.mktemp("small")
    large_programs.write(folder / "small.pte", "residual", 10)
    build(folder / "small.pte", "host", folder / "out")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("shape", large_programs.SHAPES)
def test_ten_thousand_calls(shape: str, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.pte"
    large_programs.write(path, shape, 10_000)
    used, most = build(path, "host", tmp_path / "out")
    assert used < 20 * pace.slowness(), f"{used:.1f} s"
    allowed = 3 * path.stat().st_size + _BASE + _MANY_CALLS
    assert most <= allowed, f"{most:,} bytes, {allowed:,} are allowed"


@pytest.mark.long
@pytest.mark.parametrize("shape", large_programs.SHAPES)
def test_a_plan_of_ten_thousand_calls(shape: str, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.pte"
    large_programs.write(path, shape, 10_000)
    usage = ember(["plan", path, "--board", "host"])
    used = usage.ru_utime + usage.ru_stime
    assert used < 20 * pace.slowness(), f"{used:.1f} s"


@pytest.mark.long
@pytest.mark.parametrize("board", ["host", "mps3-an547"])
def test_the_first_build_of_a_thousand_calls(board: str, tmp_path: Path) -> None:
    """Whose kernels are compiled; its passes are unknown."""
    path = tmp_path / "first.pte"
    large_programs.write(path, "residual", 1_000)
    build(path, board, tmp_path / "out")
    durations = []
    for _ in range(3):
        path.write_bytes(program.write(_another(program.read(path))))
        durations.append(build(path, board, tmp_path / "out")[0])
    assert min(durations) < 2 * pace.slowness(), f"{min(durations):.2f} s"


def _another(network: types.Program) -> types.Program:
    """The same calls with a constant that no build has seen."""
    first = os.urandom(len(network.constants[1]) - 1) + b"\0"  # no NaN among its floats
    return replace(
        network, constants=(network.constants[0], first, *network.constants[2:])
    )


@pytest.mark.long
def test_a_build_with_nothing_to_do(tmp_path: Path) -> None:
    durations = [build(DIGITS, "mps3-an547", tmp_path / "out")[0] for _ in range(4)]
    least = min(durations[1:])
    assert least < 0.6 * pace.slowness(), f"{least:.2f} s"


@pytest.mark.long
def test_memory_for_a_hundred_megabytes(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "weights.pte"
    large_programs.write(path, "weights", 100 * MEGABYTE)
    _, most = build(path, "host", tmp_path / "out")
    allowed = 3 * path.stat().st_size + _BASE
    assert most <= allowed, f"{most:,} bytes, {allowed:,} are allowed"
