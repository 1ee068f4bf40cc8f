"""A user's choices about kernels become rules: own folders, pins, forbidden sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from ember import kernels
from ember.boards import Board
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.kernels.library import Library


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
