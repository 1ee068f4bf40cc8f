"""A user's choices about kernels become rules: own folders, pins, forbidden sets.

Pins of single calls become an order of candidates that gives devices the same choice.
The device tries the candidates of an operator in one order for all its calls, so a call
can have a kernel of its own only if another order gives it that one and leaves the
other calls as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from ember import kernels
from ember.boards import Board
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.kernels.library import Library
from ember.program import Method
from ember.select.resolve import Call, MethodNeeds


@dataclass(frozen=True)
class Rules:
    """How kernels are chosen, within what the board supports."""

    folders: tuple[Path, ...] = ()  # each with a kernels.yaml, tried before Ember's
    pins: Mapping[str, str] = field(default_factory=dict)  # kernel by operator
    # Kernel by call: (model, method, instruction).
    calls: Mapping[tuple[str, str, int], str] = field(default_factory=dict)
    forbid: tuple[str, ...] = ()  # instruction sets, as in a board's `isa`
    smallest: bool = False  # leave out kernels that only add speed

    @property
    def known(self) -> KernelList:
        # Without folders, the list is shared: it is read only once.
        return kernels.load(self.folders) if self.folders else kernels.load()

    @property
    def libraries(self) -> tuple[Library, ...]:
        """The user's libraries, without reading Ember's list."""
        return kernels.libraries_of(self.folders)

    def narrowed(self, board: Board) -> Board:
        """`board` without the instruction sets that are forbidden."""
        sets = tuple(name for name in board.isa if name not in self.forbid)
        svl = board.svl if "sme" in sets else None
        return board.model_copy(update={"isa": sets, "svl": svl})

    def allowed(self, board: Board) -> dict[str, tuple[str, ...]]:
        """The candidates of every operator on `board`, pins first."""
        known = self.known
        candidates = known.all(self.narrowed(board).isa, smallest=self.smallest)
        for op, kernel in self.pins.items():
            candidates[op] = pinned(known, candidates, op, kernel)
        return candidates

    def key(self) -> list[object]:
        """All rules, to be hashed; the files in the folders are not included."""
        calls = [[*call, kernel] for call, kernel in sorted(self.calls.items())]
        pins = sorted(self.pins.items())
        chosen = [pins, calls, list(self.forbid), self.smallest]
        return [list(map(str, self.folders)), *chosen]


def pinned(
    known: KernelList, allowed: Mapping[str, tuple[str, ...]], op: str, kernel: str
) -> tuple[str, ...]:
    """Only that kernel; raises an SdkError if the operator does not have it."""
    if op not in known.operators:
        near = get_close_matches(op, known.operators, n=1)
        raise SdkError(
            f"a pin names the operator {op}, which Ember does not have",
            hint=f"did you mean {near[0]}?" if near else "see docs/operators.md",
        )
    if kernel in allowed[op]:
        return (kernel,)
    if kernel in known.operators[op].kernels:
        raise SdkError(
            f"{op} is pinned to {kernel}, which the board cannot run or a rule forbids",
            hint=f"its kernels there: {', '.join(allowed[op])}",
        )
    raise SdkError(
        f"{op} is pinned to {kernel}, which is not one of its kernels",
        hint=f"its kernels: {', '.join(known.operators[op].kernels)}",
    )


# ---- pins of single calls ------------------------------------------------------------


Allowed = Mapping[str, Sequence[str]]
# By method: the index that each instruction had before passes moved it.
Origins = Mapping[str, Sequence[int]]


def of_calls(
    rules: Rules,
    model: str,
    methods: Sequence[Method],
    needs: Sequence[MethodNeeds],
    allowed: Allowed,
    origins: Origins,
) -> dict[str, tuple[str, ...]]:
    """`allowed` in the order that gives each pinned call of `model` its kernel."""
    orders = {op: tuple(items) for op, items in allowed.items()}
    calls = _calls(methods, needs, origins)
    wanted = {
        (method, index): kernel
        for (name, method, index), kernel in rules.calls.items()
        if name == model and method in {method.name for method in methods}
    }
    for place, kernel in wanted.items():
        op, call = _of(calls, model, place)
        if kernel not in _takers(call):
            raise SdkError(
                f"{_text(model, place)} is pinned to {kernel}, which does not accept"
                " it",
                hint=f"kernels that do: {', '.join(_takers(call)) or 'none'}",
            )
        first = next(
            candidate for candidate in orders[op] if candidate in _takers(call)
        )
        if first != kernel:
            rest = [candidate for candidate in orders[op] if candidate != kernel]
            rest.insert(rest.index(first), kernel)
            orders[op] = tuple(rest)
    for place, (op, call) in calls.items():
        _check(model, place, call, orders[op], wanted.get(place, call.kernel))
    return orders


def _calls(
    methods: Sequence[Method], needs: Sequence[MethodNeeds], origins: Origins
) -> dict[tuple[str, int], tuple[str, Call]]:
    """Operator and call by method and instruction, numbered as the user sees them."""
    return {
        (method.name, _origin(origins, method, call)): (op, call)
        for method, need in zip(methods, needs, strict=True)
        for (_, op, _), call in zip(method.kernel_calls(), need.calls, strict=True)
    }


def _origin(origins: Origins, method: Method, call: Call) -> int:
    numbers = origins.get(method.name)
    return call.instruction if numbers is None else numbers[call.instruction]


def _of(
    calls: Mapping[tuple[str, int], tuple[str, Call]],
    model: str,
    place: tuple[str, int],
) -> tuple[str, Call]:
    if place not in calls:
        raise SdkError(
            f"{_text(model, place)} is pinned, but is not a kernel call",
            hint="`ember select --explain` shows the indices; a pass may have removed"
            " the call: see --no-pass",
        )
    return calls[place]


def _takers(call: Call) -> list[str]:
    return [candidate.kernel for candidate in call.candidates if candidate.status == 0]


def _check(
    model: str,
    place: tuple[str, int],
    call: Call,
    order: Sequence[str],
    kernel: str | None,
) -> None:
    got = next((candidate for candidate in order if candidate in _takers(call)), None)
    if not call.volatile and got != kernel:
        raise SdkError(
            f"the pins of {model} contradict each other: with them"
            f" {_text(model, place)} gets {got} instead of {kernel}",
            hint="pin the operator instead: its kernel then serves all calls",
        )


def _text(model: str, place: tuple[str, int]) -> str:
    return f"{model}/{place[0]}/{place[1]}"
