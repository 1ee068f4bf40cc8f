"""Cases and boards become results, by one emulator start a board if possible."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ember import cases, kernels
from ember.boards import Board
from ember.cases import Case, Found, batch
from ember.cases.batch import Capture
from ember.errors import SdkError
from ember.firmware import runner
from ember.hil.line import Line
from ember.plan import passes
from ember.plan.check import dim_orders
from ember.plan.passes import Rows
from ember.run import poison, verdicts
from ember.select.rules import Rules
from ember.toolchain import emulator, libraries
from ember.toolchain.compiler import DoesNotFitError
from ember.toolchain.emulator import Mark, RunResult

Status = Literal["passed", "failed", "error"]
_MOST_BYTES = 128 * 1024 * 1024  # of one stream
_EXECUTE, _CASE = 1, 3  # EMBER_MARK_*
_Counts = tuple[int, ...] | None  # instructions of each execution of a case


@dataclass(frozen=True)
class Outcome:
    """One case on one board. `failed`: outputs differ; `error`: no outputs."""

    name: str
    board: str
    status: Status
    message: str
    path: Path
    max_abs_diff: float | None = None
    instructions: int | None = None  # of all executions (packets on Hexagon)
    options: str = ""  # of the command line, where they matter
    work: int | None = None  # bound of the steps of all executions
    executions: tuple[int, ...] = ()  # instructions of each

    @property
    def again(self) -> str:
        """The command line that runs only this case."""
        return f"ember test {self.path} --board {self.board}{self.options}"

    @property
    def first(self) -> int | None:
        """Instructions of the first execution; None: nobody counted it."""
        return next(iter(self.executions), None)


@dataclass(frozen=True)
class Settings:
    timeout_s: float | None = None  # of one case; the board's when None
    count: bool = True
    budget: int | None = None  # of one execution, in steps
    optimize: libraries.Optimize = libraries.DEFAULT_OPTIMIZE
    rules: Rules = field(default_factory=Rules)
    poison: int | None = None  # a byte: pack programs, overwrite what is dead with it
    passes: tuple[str, ...] = passes.DEFAULT  # of packing
    rows: Rows = "off"  # smallest, fed: pack programs with regions of rows
    line: Line | None = None  # to the board; None: its emulator


Report = Callable[[Outcome], None]


def test(
    locations: Sequence[Found],
    boards: Sequence[Board],
    *,
    jobs: int,
    settings: Settings | None = None,
    on_result: Report = lambda tested: None,
) -> list[Outcome]:
    """Run all cases on all boards, `jobs` boards at a time; results in that order."""
    chosen = settings or Settings()
    ready: list[Case] = []
    broken: dict[str, SdkError] = {}
    for location in locations:
        try:
            case = cases.read(location)
            cases.check_expected(case)
            dim_orders.warn(case.name, case.program, kernels.load)
            ready.append(case)
        except SdkError as error:
            broken[location.name] = error

    def on_board(board: Board) -> list[Outcome]:
        done = {
            item.name: Outcome(
                item.name, board.name, "error", _line(broken[item.name]), item.path
            )
            for item in locations
            if item.name in broken
        }
        for tested in done.values():
            on_result(tested)
        for tested in _Session(board, chosen).run(ready):
            on_result(tested)
            done[tested.name] = tested
        return [done[item.name] for item in locations]

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        return [outcome for tested in pool.map(on_board, boards) for outcome in tested]


def outputs(case: Case, board: Board) -> tuple[list[list[object]], int | None]:
    """What each run of a case gives on a board, and the instructions of all of them."""
    session = _Session(board, Settings())
    optimize = session.settings.optimize
    firmware = runner.for_programs(board, [case.program], optimize, session.rules)
    result, answer = session._start(firmware, [case], None)
    if not answer.results:
        raise SdkError(f"{case.name} on {board.name}: {session._sentence(result)}")
    if answer.results[0].status != batch.OK:
        failure = verdicts.failure(case, answer.results[0])
        raise SdkError(f"{case.name} on {board.name}: {failure}")
    compared = [verdicts.outputs(case, output) for output in answer.results[0].outputs]
    counts = next(_counts(result.marks))
    return compared, None if counts is None else sum(counts)


def captured(
    case: Case, board: Board, settings: Settings, capture: Capture
) -> tuple[RunResult, bytes]:
    """How a case ended on a board that was asked to capture, and what it wrote."""
    session = _Session(board, settings)
    if runner.is_small(board) and settings.line is None:
        firmware, places = runner.special(
            board, [case], settings.optimize, session.rules
        )
        return session.send(firmware, session.record(case, 0, places[0], capture))
    return session.send(session.general([case]), session.record(case, 0, None, capture))


def _line(error: SdkError) -> str:
    return " ".join(error.what.split())


def _answer(group: Sequence[Case], output: bytes) -> batch.Answer:
    """What the runner wrote, if it can be of these cases."""
    answer = batch.answer(output)
    if len(answer.results) > len(group):
        raise SdkError(
            f"the test runner answered {len(answer.results)} of {len(group)} cases"
        )
    for index, (case, got) in enumerate(zip(group, answer.results, strict=False)):
        verdicts.check(case, index, got)
    return answer


class _Session:
    """The cases of one board."""

    def __init__(self, board: Board, settings: Settings) -> None:
        self.board = board
        self.settings = settings
        smallest = settings.optimize == "size"
        self.rules = replace(settings.rules, smallest=smallest)
        self.poison: dict[str, batch.Poison] = {}  # by name

    def run(self, given: Sequence[Case]) -> Iterator[Outcome]:
        settings = self.settings
        by_rows = settings.rows in ("smallest", "fed")
        packs = settings.poison is not None or by_rows
        ready = [] if packs else list(given)
        if packs:
            names = settings.passes
            if by_rows:
                names = passes.with_rows(names, settings.rows)
            for case in given:
                try:
                    packed, dead = poison.packed(
                        case, self.rules.known, names, self.board
                    )
                except SdkError as error:
                    yield self._error(case, _line(error))
                else:
                    ready.append(packed)
                    if settings.poison is not None:
                        self.poison[case.name] = dead
        if not ready:
            return  # no runner is compiled for nothing
        if runner.is_small(self.board) and self.settings.line is None:
            yield from self._linked(ready)
            return
        firmware = self.general(ready)
        for group in _groups(ready):
            yield from self._until_done(firmware, group, None)

    def general(self, ready: Sequence[Case]) -> Path | None:
        """The runner for all cases; None: the board has it already."""
        line, optimize = self.settings.line, self.settings.optimize
        if line is None or line.takes_files:
            programs = [case.program for case in ready]
            return runner.for_programs(self.board, programs, optimize, self.rules)
        if not line.needs_firmware:
            return None
        built = libraries.is_built(self.board, messages=True, optimize=optimize)
        if not line.is_flashed and (built or not runner.is_small(self.board)):
            with contextlib.suppress(DoesNotFitError):
                return runner.serial(self.board, (), optimize, self.rules)
        return runner.serial(self.board, ready, optimize, self.rules)

    def _linked(self, ready: Sequence[Case]) -> Iterator[Outcome]:
        """Runners with programs in flash: halves of what does not fit together."""
        waiting = [list(ready)] if ready else []
        while waiting:
            group = waiting.pop(0)
            try:
                firmware, places = runner.special(
                    self.board, group, self.settings.optimize, self.rules
                )
            except DoesNotFitError as error:
                if len(group) == 1:
                    yield self._error(group[0], _line(error))
                else:
                    middle = len(group) // 2
                    waiting[:0] = [group[:middle], group[middle:]]
                continue
            yield from self._until_done(firmware, group, places)

    def _until_done(
        self, firmware: Path | None, group: Sequence[Case], places: Sequence[int] | None
    ) -> Iterator[Outcome]:
        """Start again behind a case that a fault or a time-out ended, and once with a
        case in which the board was reset.
        """
        at = 0
        again: set[str] = set()
        while at < len(group):
            part = group[at:]
            linked = places[at:] if places is not None else None
            result, answer = self._start(firmware, part, linked)
            if answer.memory is None and result.restarted and not again:
                again.add("")  # before the first case
                continue
            if answer.memory is None:
                problem = result.problem or "it wrote no results"
                raise SdkError(f"the test runner on {self.board.name}: {problem}")
            by_case = _counts(result.marks)
            for case, got, counts in zip(part, answer.results, by_case, strict=False):
                yield self._judge(case, got, answer.memory, counts)
            at += len(answer.results)
            if not answer.finished and at < len(group):
                name = group[at].name
                if result.restarted and name not in again:
                    again.add(name)
                    continue
                yield self._error(group[at], self._sentence(result))
                at += 1

    def _start(
        self, firmware: Path | None, group: Sequence[Case], places: Sequence[int] | None
    ) -> tuple[RunResult, batch.Answer]:
        result, output = self.send(firmware, *self._records(group, places))
        return result, _answer(group, output)

    def send(self, firmware: Path | None, *records: bytes) -> tuple[RunResult, bytes]:
        """Run records of cases; what the runner wrote."""
        limit = self.settings.timeout_s or self.board.runner.timeout_s
        stream = batch.stream(records)
        if self.settings.line is not None:
            return self.settings.line.run(self.board, firmware, stream, limit)
        assert firmware is not None
        with tempfile.TemporaryDirectory(prefix="ember-test-") as temporary:
            folder = Path(temporary)
            results = folder / "results.bin"
            results.touch()
            (folder / "cases.bin").write_bytes(stream)
            result = emulator.run(
                self.board,
                firmware,
                ["cases.bin", "results.bin"],
                cwd=folder,
                timeout_s=limit,
                count=self.settings.count,
                progress=lambda: results.stat().st_size,
            )
            return result, results.read_bytes()

    def _records(
        self, group: Sequence[Case], places: Sequence[int] | None
    ) -> Iterator[bytes]:
        for index, case in enumerate(group):
            linked = places[index] if places is not None else None
            yield self.record(case, index, linked)

    def record(
        self, case: Case, index: int, linked: int | None, capture: Capture | None = None
    ) -> bytes:
        return batch.record(
            case,
            index,
            linked=linked,
            budget=self.settings.budget,
            poison=self.poison.get(case.name),
            fill=self.settings.poison or 0,
            capture=capture,
        )

    def _sentence(self, result: RunResult) -> str:
        if result.timed_out:
            limit = self.settings.timeout_s or self.board.runner.timeout_s
            return f"time-out: the case was still running after {limit:g} s"
        return result.problem or "the test runner ended during the case"

    # ---- verdicts --------------------------------------------------------------------

    def _error(self, case: Case, message: str, counts: _Counts = None) -> Outcome:
        return self._outcome(case, "error", message, None, counts)

    def _outcome(
        self,
        case: Case,
        status: Status,
        message: str,
        worst: float | None,
        counts: _Counts,
    ) -> Outcome:
        byte, line = self.settings.poison, self.settings.line
        options = "" if byte is None else f" --poison {byte:#x}"
        options += "" if line is None else f" {line.options}"
        return Outcome(
            case.name,
            self.board.name,
            status,
            message,
            case.path,
            worst,
            None if counts is None else sum(counts),
            options,
            executions=counts or (),
        )

    def _judge(
        self, case: Case, got: batch.Result, memory: int, counts: _Counts
    ) -> Outcome:
        if got.status == batch.NO_MEMORY:
            return self._error(case, self._no_room(case, got, memory))
        if got.status != batch.OK:
            return self._error(case, verdicts.failure(case, got), counts)
        problem: str | None = None
        worst: float | None = None
        for run, output in zip(case.runs, got.outputs, strict=True):
            if not run.says_outputs:
                continue  # the image is not complete yet
            verdict = verdicts.compared(case, run, output)
            if verdict.max_abs_diff is not None:
                worst = max(worst or 0.0, verdict.max_abs_diff)
            if problem is None and verdict.problem is not None:
                problem = f"{verdicts.where(case, output.run)}{verdict.problem}"
        status: Status = "passed" if problem is None else "failed"
        outcome = self._outcome(case, status, problem or "", worst, counts)
        return replace(outcome, work=got.work)

    def _no_room(self, case: Case, got: batch.Result, memory: int) -> str:
        needed = got.needed
        if needed is None or needed <= memory:  # the board saw a part of it
            needed = verdicts.bytes_needed(case, self.board)
        takes = f"{needed:,}" if needed is not None else f"more than {memory:,}"
        return (
            f"does not fit {self.board.name}: needs {takes} bytes of memory, has"
            f" {memory:,}"
        )


def _groups(ready: Sequence[Case]) -> Iterator[list[Case]]:
    """Cases in order, as many as one stream should hold."""
    group: list[Case] = []
    size = 0
    for case in ready:
        bytes_ = _size(case)
        if group and size + bytes_ > _MOST_BYTES:
            yield group
            group, size = [], 0
        group.append(case)
        size += bytes_
    if group:
        yield group


def _size(case: Case) -> int:
    values = (value for run in case.runs for value in run.inputs)
    arrays = sum(
        value.array.nbytes for value in values if isinstance(value, cases.CaseTensor)
    )
    return len(case.content) + sum(map(len, case.data)) + arrays


def _counts(marks: Iterable[Mark]) -> Iterator[_Counts]:
    """For each case the instructions of its executions; always None without marks."""
    counts: list[tuple[int, ...]] = []
    began = 0
    for mark in marks:
        if mark.word == _CASE and mark.kind == "w":
            counts.append(())
        elif mark.word == _EXECUTE and mark.kind == "w":
            began = mark.count
        elif mark.word == _EXECUTE and counts:
            counts[-1] += (mark.count - began,)
    yield from counts
    while True:
        yield None


# ---- summary -----------------------------------------------------------------------


def summary(results: Iterable[Outcome]) -> dict[Status, int]:
    counts: dict[Status, int] = {"passed": 0, "failed": 0, "error": 0}
    for outcome in results:
        counts[outcome.status] += 1
    return counts


def to_json(results: Sequence[Outcome], seconds: float) -> dict[str, object]:
    """What `ember test --json` promises."""
    return {
        "cases": [
            {
                "name": outcome.name,
                "board": outcome.board,
                "status": outcome.status,
                "message": outcome.message,
                "max_abs_diff": outcome.max_abs_diff,
                "instructions": outcome.first,
                "work": outcome.work,
            }
            for outcome in results
        ],
        "summary": summary(results),
        "seconds": round(seconds, 3),
    }


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started
