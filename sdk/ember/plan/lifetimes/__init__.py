"""A method becomes storages: which values share memory, and when their bytes matter.

Everything follows from the program alone. Its exporter leaves out an instruction for a
view of static shape: the view is a second value at the same place. A value that is read
and that nothing writes is such a view, of what was last written there.

MoveCall is a copy here and a move of the handle in ExecuTorch. A plan serves both: the
two sides lie in one place where their lives allow it; otherwise the source lives as
long as the target is needed, which is followed along the flow. A storage that is read
before anything writes it carries state from one run to the next and is never reused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ember.kernels import KernelList
from ember.plan.effects import Effects
from ember.plan.lifetimes import moves
from ember.plan.lifetimes.bases import Bases
from ember.plan.lifetimes.flow import Flow
from ember.plan.lifetimes.lives import Lives
from ember.plan.offsets import Buffer, Moments
from ember.program import Method
from ember.program.remembered import remembered
from ember.program.types import ALIGN


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes of one planned memory that a value, or several, lie in."""

    values: Mapping[int, int]  # value -> where it starts in the storage, in bytes
    memory_id: int
    size: int  # bytes
    is_state: bool  # alive from one run to the next
    points: Moments  # instructions; -1 is the entry, their number the exit

    def buffer(self) -> Buffer:
        return Buffer(self.size, self.points, ALIGN)


@dataclass(frozen=True)
class Lifetimes:
    storages: tuple[Storage, ...]  # of all planned values that anything touches
    # What the program's own plan destroys when ExecuTorch runs it, in one sentence.
    conflict: str | None
    effects: tuple[Effects, ...]  # of each instruction, delegates looked into


def of(method: Method, known: KernelList, *, check: bool = True) -> Lifetimes:
    """SdkError for an unknown operator, and for a value with a part that nothing wrote.

    Without `check` the program's own plan is trusted.
    """
    question = ("lifetimes", known, check)
    return remembered(method, question, lambda: _lifetimes(method, known, check=check))


def _lifetimes(method: Method, known: KernelList, *, check: bool) -> Lifetimes:
    bases = Bases(Flow(method, known))
    conflict = Lives(bases, bases.of).conflict() if check else None
    storages = _storages(Lives(bases, moves.shared(bases)))
    return Lifetimes(storages, conflict, tuple(bases.flow.effects))


def _storages(lives: Lives) -> tuple[Storage, ...]:
    points, at_entry = lives.points()
    state = _state(lives, at_entry)
    everywhere = Moments(((-1, lives.flow.count + 1),))
    return tuple(
        _storage(lives, group, everywhere if base in state else points[base])
        for base, group in sorted(_groups(lives, points).items())
    )


def _state(lives: Lives, at_entry: frozenset[int]) -> frozenset[int]:
    method = lives.flow.method
    kept = at_entry - lives.bases_of(method.inputs)
    return kept | lives.bases_of(
        n for n, tensor in method.tensors if tensor.data_index > 0
    )


def _groups(lives: Lives, touched: Iterable[int]) -> dict[int, list[int]]:
    """Planned values by base, those that anything touches."""
    groups: dict[int, list[int]] = {base: [] for base in touched}
    for value, base in lives.base.items():
        if base in groups and lives.bases.places[value] is not None:
            groups[base].append(value)
    return {base: group for base, group in groups.items() if group}


def _storage(lives: Lives, group: list[int], points: Moments) -> Storage:
    starts: dict[int, int] = {}
    size = 0
    for value in group:
        memory, start, end = lives.bases.extent[lives.bases.of[value]]
        starts[value] = lives.bases.inside(value)[0]
        size = max(size, end - start)
    is_state = len(points) == lives.flow.count + 2
    return Storage(starts, memory, size, is_state, points)
