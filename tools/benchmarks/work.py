# SPDX-License-Identifier: Apache-2.0
"""Instructions that a step of a kernel's bound stands for, on each kind of core.

While a program is loaded, kernels state a bound of the elementary steps of an execution
(`ember plan` prints their sum). A kernel's factor on a board is the greatest number of
instructions (packets on Hexagon) for a step of all committed programs that call it and
nothing else, of these with extreme and with random sizes and numbers (calls.py), and a
margin. Parts of backends
share a factor, that of the delegate. A program whose kernels have factors takes at
most the greatest of them for each of its steps; if it takes more, its slowest kernel's
factor grows.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import committed_cases
from calls import sizes
from calls.sizes import Call

from ember import boards, cases
from ember.errors import SdkError
from ember.program import DelegateCall, KernelCall, Method
from ember.run import testing
from ember.run.testing import Outcome

BOARDS = ("mps2-an385-v6m", "mps2-an386", "mps3-an547", "qemu-a64-sme", "hexagon-v68")
MARGIN = 1.2  # other shapes, numbers and compilers, small changes of a kernel
MOST_WORK = 20_000  # steps of a program that is drawn
DRAWS, SEED = 8, 1  # random programs for each committed one; more only cost time
MOST_STEPS = 100  # for an instruction: more is not a bound, but a mistake
_DELEGATE = "delegate"
_FACTORS = Path(__file__).with_name("work.json")

Factors = dict[str, float]  # by operator


def write_others(
    folder: Path, texts: Sequence[str] = ("",), draws: int = DRAWS
) -> None:
    """The committed programs with extreme sizes and with drawn ones, as cases; only
    those that call an operator with one of these texts in its name."""
    committed = [
        call for call in sizes.committed(folders()) if _has(call.operator, texts)
    ]
    for call in sizes.distinct(committed):
        for extreme in sizes.extremes(call):
            sizes.write(folder / extreme.name, extreme)
    write_drawn(folder, committed, draws, SEED)


def write_drawn(folder: Path, drawn: Iterable[Call], each: int, seed: int) -> None:
    """Programs with random sizes and numbers, also of arguments, as cases: those of a
    call are the same, whichever others there are."""
    for call in drawn:
        for turn in range(each):
            random.seed(f"{seed} {call.name} {turn}")
            if (other := sizes.other(call)) is not None:
                sizes.write(folder / f"{call.name}_drawn_{turn}", other)


def _has(name: str, texts: Sequence[str]) -> bool:
    return any(text in name for text in texts)


def folders() -> list[Path]:
    """Those of the committed cases."""
    return [*committed_cases.programs(), *committed_cases.operators()]


def measure(
    board: str, others: Path, jobs: int = 1, texts: Sequence[str] = ("",)
) -> list[Outcome]:
    """The committed programs on an emulated board, all of which must pass, and those in
    a folder, as far as it takes them. With texts only programs of one operator, with
    one of them in its name."""
    locations = cases.find(folders())
    if any(texts):
        names = (_called(item.path) for item in locations)
        pairs = zip(locations, names, strict=True)
        locations = [
            item for item, (name, *more) in pairs if not more and _has(name, texts)
        ]
    outcomes = testing.test(locations, [boards.load(board)], jobs=jobs)
    wrong = next((item for item in outcomes if item.status != "passed"), None)
    if wrong is not None:
        raise SdkError(f"{wrong.name} on {board}: {wrong.message}", hint=wrong.again)
    return outcomes + ran(others, board)


def ran(folder: Path, board: str) -> list[Outcome]:
    """The programs in a folder that the board takes and that are not long."""
    settings = testing.Settings(budget=MOST_WORK)
    outcomes = testing.test(
        cases.find([folder]), [boards.load(board)], jobs=1, settings=settings
    )
    return [outcome for outcome in outcomes if outcome.instructions and outcome.work]


def share(outcome: Outcome, factors: Factors) -> float:
    """Of the instructions that the factors of its kernels allow."""
    most = _allowed(outcome, factors)
    return _cost(outcome) / most if most > 0 else math.inf


def of(outcomes: Iterable[Outcome]) -> Factors:
    """The factors, of the outcomes of one board."""
    ran = [outcome for outcome in outcomes if outcome.instructions]
    costs = [(_cost(outcome), _called(outcome.path)) for outcome in ran]
    costliest: Factors = {}
    # Programs of one kernel first; a program of several adds what no other calls.
    for cost, called in sorted(costs, key=lambda outcome: len(outcome[1])):
        known = {name: costliest[name] for name in called if name in costliest}
        if len(called) == 1 or cost > max(known.values(), default=0.0):
            unknown = called - known.keys()
            for name in unknown or {max(known, key=known.__getitem__)}:
                costliest[name] = max(cost, costliest.get(name, 0.0))
    return {name: _rounded(cost * MARGIN) for name, cost in sorted(costliest.items())}


def over(outcomes: Iterable[Outcome], factors: Factors) -> list[str]:
    """A sentence for each program that took more than its kernels' factors allow."""
    return [
        f"{_said(outcome)} are more than {_allowed(outcome, factors):g} for each"
        for outcome in outcomes
        if outcome.instructions and _cost(outcome) > _allowed(outcome, factors)
    ]


def tightness(ran: list[Outcome], factors: Factors) -> str:
    """How much of what their factors allow the programs took."""
    cuts = statistics.quantiles([share(outcome, factors) for outcome in ran], n=20)
    each = ", ".join(f"{cuts[n]:.2f}" for n in (0, 4, 9, 14, 18))
    return f"share of what is allowed, at 5, 25, 50, 75 and 95 %: {each}"


def loose(outcomes: Iterable[Outcome]) -> list[str]:
    """A sentence for each program whose bound is far from what it took."""
    return [
        f"{_said(outcome)} are no bound"
        for outcome in outcomes
        if outcome.instructions and _cost(outcome) * MOST_STEPS < 1
    ]


def _said(outcome: Outcome) -> str:
    return (
        f"{outcome.name} on {outcome.board}: {outcome.instructions:,} instructions for"
        f" {outcome.work:,} steps"
    )


def _allowed(outcome: Outcome, factors: Factors) -> float:
    return max((factors.get(name, 0.0) for name in _called(outcome.path)), default=0.0)


def factors() -> dict[str, Factors]:
    """By board, as they were measured last."""
    known: dict[str, Factors] = json.loads(_FACTORS.read_text(encoding="utf-8"))
    return known


def write(measured: Mapping[str, Factors], some: bool = False) -> None:
    """Boards that were not measured keep theirs, and so do operators if some were."""
    known = factors() if _FACTORS.exists() else {}
    kept = known if some else {}
    new = {name: {**kept.get(name, {}), **measured[name]} for name in measured}
    text = json.dumps({**known, **new}, indent=1, sort_keys=True)
    _FACTORS.write_text(f"{text}\n", encoding="utf-8")


def _cost(outcome: Outcome) -> float:
    assert outcome.instructions is not None
    return outcome.instructions / max(1, outcome.work or 0)


@cache  # of one program on many boards
def _called(path: Path) -> frozenset[str]:
    program = cases.read(cases.Found(path.name, path)).program
    called = {name for method in program.methods for name in _operators(method)}
    return frozenset(called or {"nothing"})


def _operators(method: Method) -> Iterable[str]:
    for instruction in method.instructions:
        if isinstance(instruction, KernelCall):
            yield method.operators[instruction.op_index].full_name
        elif isinstance(instruction, DelegateCall):
            yield _DELEGATE


def _rounded(cost: float) -> float:
    """Up, to three digits."""
    unit = 10.0 ** (math.floor(math.log10(cost)) - 2)
    return round(math.ceil(cost / unit) * unit, 6)
