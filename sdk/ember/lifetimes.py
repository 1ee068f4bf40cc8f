"""A method becomes storages: which values share memory, and when their bytes matter.

Everything is found from the program alone. Its exporter leaves out an instruction for a
view of static shape: the view is a second value at the same place. A value that is read
and that nothing writes is such a view, of what was last written there.

MoveCall is a copy here and a move of the handle in ExecuTorch. A plan serves both: the
two sides lie in one place where their lives allow it; otherwise the source lives as
long as the target is needed, which is followed along the flow. A storage that is read
before anything writes it carries state from one run to the next and is never reused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ember import effects
from ember.effects import Effects
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.offsets import Buffer
from ember.program import Method, types

ALIGN = 16  # EMBER_ALIGN
Place = tuple[int, int, int]  # a memory, the first byte in it, and the end
Spans = tuple[tuple[int, int], ...]  # bytes from the first to the second


@dataclass(frozen=True)
class Storage:
    """Bytes of one planned memory that a value, or several, lie in."""

    values: Mapping[int, int]  # value -> where it starts in the storage, in bytes
    memory_id: int
    size: int  # bytes
    is_state: bool  # alive from one run to the next
    points: frozenset[int]  # instructions; -1 is the entry, their number the exit

    def buffer(self) -> Buffer:
        return Buffer(self.size, self.points, ALIGN)


@dataclass(frozen=True)
class Lifetimes:
    storages: tuple[Storage, ...]  # of all planned values that anything touches
    # What the program's own plan destroys when ExecuTorch runs it, in one sentence.
    conflict: str | None


def of(method: Method, known: KernelList, *, check: bool = True) -> Lifetimes:
    """SdkError for an operator that is not known, and for a value of which nothing
    wrote a part. Without `check` the program's own plan is taken to be right."""
    analysis = _Analysis(method, known)
    conflict = analysis.stock_conflict() if check else None  # before moves are joined
    return Lifetimes(analysis.storages(), conflict)


class _Analysis:
    def __init__(self, method: Method, known: KernelList) -> None:
        self.method = method
        self.instructions = method.instructions
        self.effects = list(effects.of(method, known))
        self.count = len(self.effects)
        self.places = {value: _place(tensor) for value, tensor in method.tensors}
        self.variable = effects.variable(method)
        self.successors = [self._after(index) for index in range(self.count)]
        self.predecessors = _reversed(self.successors)
        self.given = self._given()
        self._split_delegates()
        self.base = self._bases()
        self.view_of = self.base  # each value's own storage, moves aside
        self.extent = self._extents()
        self.pieces = self._pieces()
        self.holds = self._handles()

    # ---- flow --------------------------------------------------------------------

    def _after(self, index: int) -> tuple[int, ...]:
        """Where instruction `index` may go on; their number is the exit."""
        one = self.instructions[index]
        if not isinstance(one, types.JumpFalseCall):
            return (index + 1,)
        condition = self.method.values[one.condition]
        if isinstance(condition, types.Bool) and one.condition not in self.variable:
            return (index + 1,) if condition.value else (one.target,)
        return tuple({index + 1, one.target})

    # ---- values and memory -------------------------------------------------------

    def tensor(self, value: int) -> types.Tensor:
        found = self.method.values[value]
        assert isinstance(found, types.Tensor)
        return found

    def place(self, value: int) -> Place | None:
        """Memory, first byte and end of what is planned; None when nothing is."""
        return self.places[value]

    def _given(self) -> frozenset[int]:
        """Tensors that have content before the first instruction."""
        inputs = [
            index
            for index in self.method.inputs
            if isinstance(self.method.values[index], types.Tensor)
        ]
        state = [n for n, one in self.method.tensors if one.data_index > 0]
        external = [n for n, one in self.method.tensors if one.is_external]
        return frozenset([*inputs, *state, *external])

    def _meet(self, one: int, other: int) -> bool:
        """Whether two values share a byte of planned memory."""
        a, b = self.place(one), self.place(other)
        if a is None or b is None:
            return one == other
        return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]

    def _contains(self, outer: int, inner: int) -> bool:
        a, b = self.place(outer), self.place(inner)
        assert a is not None and b is not None
        return a[0] == b[0] and a[1] <= b[1] and b[2] <= a[2]

    def _last_writers(self, value: int, index: int) -> frozenset[int]:
        """Values whose bytes those of a planned `value` may be just before instruction
        `index`; what was given counts as written at the entry."""
        place = self.places[value]
        assert place is not None
        memory, start, end = place
        found: set[int] = set()
        whole: Spans = ((start, end),)
        waiting = [(at, whole) for at in self._before(index)]
        seen = set(waiting)
        while waiting:
            at, left = waiting.pop()
            own = self.effects[at] if at >= 0 else Effects(writes=self.given)
            for writer in own.writes | own.updates:
                other = self.places[writer]
                if other is not None and other[0] == memory:
                    rest = _without(left, other[1], other[2])
                    if rest != left:
                        found.add(writer)
                        left = rest
            if left and at >= 0:
                new = {(one, left) for one in self._before(at)} - seen
                waiting += new
                seen |= new
        return frozenset(found)

    def _before(self, index: int) -> tuple[int, ...]:
        """Where instruction `index` may be come to from; -1 is the entry."""
        return self.predecessors[index] + ((-1,) if index == 0 else ())

    def _split_delegates(self) -> None:
        """An argument of a delegate that nothing has written yet is an output, or state
        where a kernel writes that value."""
        state = self._written_by_kernels()
        for index, one in enumerate(self.instructions):
            if isinstance(one, types.DelegateCall):
                new = frozenset(
                    value
                    for value in self.effects[index].updates - state
                    if not self._is_written_before(value, index)
                )
                old = self.effects[index].updates - new
                self.effects[index] = Effects(writes=new, updates=old)

    def _written_by_kernels(self) -> frozenset[int]:
        kernels = (
            own.writes | own.updates
            for own, one in zip(self.effects, self.instructions, strict=True)
            if isinstance(one, types.KernelCall)
        )
        return frozenset().union(*kernels)

    def _is_written_before(self, value: int, index: int) -> bool:
        if value in self.given or self.place(value) is None:
            return True
        places = {self.place(one) for one in self._last_writers(value, index)}
        return places == {self.place(value)}

    def _bases(self) -> dict[int, int]:
        """Of every value the one whose storage it lies in: itself, or what it views."""
        base: dict[int, int] = {}

        def root(value: int) -> int:
            while base.get(value, value) != value:
                value = base[value]
            return value

        for target, source in (pair for own in self.effects for pair in own.handles):
            if self._start_together(target, source):
                base[root(source)] = root(target)
        for own in self.effects:
            for target, source in itertools.product(own.writes, own.reads):
                here = self.places[target]
                if here == self.places[source] and here and here[1] < here[2]:
                    base[root(source)] = root(target)  # written in place
        for value, index in self._unwritten():
            writers = self._last_writers(value, index) - {value}
            wide = self._widest(value, writers, index)
            for one in {value, *writers} - {wide}:
                outer, inner = root(wide), root(one)
                if outer != inner:
                    base[inner] = outer
        return {value: root(value) for value, _ in self.method.tensors}

    def _widest(self, value: int, writers: frozenset[int], index: int) -> int:
        """What has the bytes of `value` and of all `writers`: one of these where the
        value is a view, the value itself where they write its parts."""
        if all(self._contains(writer, value) for writer in writers):
            return min(writers, default=value)
        size = self._size(value)
        whole = sum(map(self._size, writers)) == size  # so none is over another
        if not whole or not all(self._contains(value, one) for one in writers):
            part = next(one for one in writers if not self._contains(one, value))
            raise SdkError(
                f"{self.method.name}, instruction {index}: value {value} is"
                f" read, but value {part} has overwritten a part of it"
            )
        return value

    def _size(self, value: int) -> int:
        return self.tensor(value).nbytes

    def _start_together(self, one: int, other: int) -> bool:
        """Whether a moved handle finds itself where it was: nothing moves then."""
        a, b = self.place(one), self.place(other)
        return a is not None and b is not None and a[:2] == b[:2]

    def _unwritten(self) -> Iterator[tuple[int, int]]:
        """Reads (value, instruction) of planned values that nothing fills."""
        filled = set(self.given)
        for own in self.effects:
            filled |= own.writes | {target for target, _ in own.handles}
        for index, own in enumerate(self.effects):
            sources = {source for _, source in own.handles}
            for value in sorted(own.reads | own.updates | sources):
                if value not in filled and self.place(value) is not None:
                    yield value, index
        for value in self.method.outputs:
            planned = isinstance(self.method.values[value], types.Tensor)
            if planned and value not in filled and self.place(value) is not None:
                yield value, self.count

    def _extents(self) -> dict[int, Place]:
        """Memory, first byte and end of everything that lies in a base."""
        found: dict[int, Place] = {}
        for value, base in self.base.items():
            place = self.place(value)
            if place is not None:
                memory, start, end = found.get(base, place)
                found[base] = (memory, min(start, place[1]), max(end, place[2]))
        return found

    def _pieces(self) -> _Pieces:
        groups: dict[int, dict[int, tuple[int, int]]] = {}
        for value, base in self.base.items():
            groups.setdefault(base, {})[value] = self._inside(value)
        return _Pieces.of(groups)

    def _inside(self, value: int) -> tuple[int, int]:
        """Where a value starts and ends in its storage."""
        place = self.places[value]
        if place is None:
            return 0, 1
        first = self.extent[self.view_of[value]][1]
        return place[1] - first, place[2] - first

    # ---- handles -----------------------------------------------------------------

    def _handles(self) -> list[dict[int, frozenset[int]]]:
        """Before each instruction, and at the exit: of each base whose handle moves
        the bases that it may lie in."""
        pairs = [
            [(self.base[target], self.base[source]) for target, source in own.handles]
            for own in self.effects
        ]
        targets = {
            target for own in pairs for target, source in own if target != source
        }
        before: list[dict[int, frozenset[int]]] = [{} for _ in range(self.count + 1)]
        before[0] = {target: frozenset({target}) for target in targets}
        waiting = [0] if targets else []
        while waiting:
            index = waiting.pop()
            after = dict(before[index])
            for target, source in pairs[index]:
                if target != source:
                    held = after.get(source, frozenset({source}))
                    after[target] = held | {target}
            for successor in self.successors[index]:
                joined = _joined(before[successor], after)
                if joined != before[successor]:
                    before[successor] = joined
                    if successor < self.count:
                        waiting.append(successor)
        return before

    def _held(self, bases: Iterable[int], index: int) -> frozenset[int]:
        """Where bases may lie just before instruction `index`."""
        holds = self.holds[index]
        found: set[int] = set()
        for base in bases:
            found |= holds.get(base, frozenset({base}))
        return frozenset(found)

    def _bases_of(self, values: Iterable[int]) -> frozenset[int]:
        return frozenset(self.base[value] for value in values if value in self.base)

    # ---- liveness ----------------------------------------------------------------

    def _needed(self) -> list[frozenset[int]]:
        """Bases whose content matters before each instruction; last: at the exit."""
        bits = self.pieces.bits
        before = [0] * (self.count + 1)
        before[self.count] = bits(self.method.outputs)
        read = [bits(self._read(index)) for index in range(self.count)]
        kept = [~bits(own.writes) for own in self.effects]
        changed = True
        while changed:
            changed = False
            for index in reversed(range(self.count)):
                now = read[index]
                for after in self.successors[index]:
                    now |= before[after] & kept[index]
                changed = changed or now != before[index]
                before[index] = now
        return list(self.pieces.bases(before))

    def _read(self, index: int) -> Iterator[int]:
        own = self.effects[index]
        yield from own.reads
        yield from own.updates
        yield from (source for _, source in own.handles)

    def _alive_after(self, index: int, needed: list[frozenset[int]]) -> frozenset[int]:
        """Bases whose bytes matter after an instruction, wherever handles lead."""
        return frozenset[int]().union(
            *(self._held(needed[n], n) for n in self.successors[index])
        )

    def storages(self) -> tuple[Storage, ...]:
        self._share_moves()
        points, at_entry = self._points()
        state = self._state(at_entry)
        everywhere = frozenset(range(-1, self.count + 1))
        return tuple(
            self._storage(group, everywhere if base in state else points[base])
            for base, group in sorted(self._groups(points).items())
        )

    def _points(self) -> tuple[dict[int, frozenset[int]], frozenset[int]]:
        """When each base matters, and which do at the entry."""
        needed = self._needed()
        at_entry = self._held(needed[0], 0)
        points: dict[int, set[int]] = {}

        def note(bases: Iterable[int], point: int) -> None:
            for base in bases:
                points.setdefault(base, set()).add(point)

        note(self._bases_of(self.method.inputs) | at_entry, -1)
        note(self._held(needed[self.count], self.count), self.count)
        for index, own in enumerate(self.effects):
            touched = self._bases_of((*own.touched, *self._read(index)))
            note(self._held(touched, index), index)
            note(self._alive_after(index, needed), index)
        return {base: frozenset(own) for base, own in points.items()}, at_entry

    def _share_moves(self) -> None:
        """Put both sides of a move into one place where their lives allow it."""
        copies = _Copies(self)
        for index, own in enumerate(self.effects):
            for target, source in own.handles:
                copies.join(index, target, source)
        self.base = copies.base
        self.pieces = self._pieces()
        self.holds = self._handles()

    def _state(self, at_entry: frozenset[int]) -> frozenset[int]:
        kept = at_entry - self._bases_of(self.method.inputs)
        stated = (n for n, one in self.method.tensors if one.data_index > 0)
        return kept | self._bases_of(stated)

    def _groups(self, touched: Iterable[int]) -> dict[int, list[int]]:
        """Planned values by base, those that anything touches."""
        groups: dict[int, list[int]] = {base: [] for base in touched}
        for value, base in self.base.items():
            if base in groups and self.place(value) is not None:
                groups[base].append(value)
        return {base: group for base, group in groups.items() if group}

    def _storage(self, group: list[int], points: frozenset[int]) -> Storage:
        starts: dict[int, int] = {}
        size = 0
        for value in group:
            memory, start, end = self.extent[self.view_of[value]]
            tensor = self.tensor(value)
            assert tensor.allocation is not None
            starts[value] = tensor.allocation.offset - start
            size = max(size, end - start)
        is_state = len(points) == self.count + 2
        return Storage(starts, memory, size, is_state, points)

    # ---- the program's own plan --------------------------------------------------

    def stock_conflict(self) -> str | None:
        needed = self._needed()
        for index, own in enumerate(self.effects):
            moved = {target for target, _ in own.handles}
            bases = self._bases_of((own.writes | own.updates) - moved)
            written = self._held(bases, index)
            for victim in sorted(self._alive_after(index, needed) - written):
                for base in sorted(written):
                    if self._meet(base, victim):
                        return (
                            f"{self.method.name}, instruction {index}: value {base}"
                            f" overwrites value {victim}, which is needed later"
                        )
        return None


class _Copies:
    """Bases that moves may join, by their lives when every move is a copy."""

    def __init__(self, flow: _Analysis) -> None:
        self.flow = flow
        self.base = dict(flow.base)
        self.moves: dict[int, set[int]] = {}  # base -> moves inside its group
        handles, flow.holds = flow.holds, [{} for _ in range(flow.count + 1)]
        self.points, at_entry = flow._points()
        flow.holds = handles
        given = {flow.base[value] for value in flow.given}
        self.fixed = given | at_entry

    def join(self, index: int, target: int, source: int) -> None:
        one, other = self.base[target], self.base[source]
        if one == other or not self._are_alike(one, other):
            return
        inside = self.moves.get(one, set()) | self.moves.get(other, set()) | {index}
        if self.points[one] & self.points[other] - inside:
            return
        self.moves[one] = inside
        self.points[one] |= self.points[other]
        for value, base in self.base.items():
            if base == other:
                self.base[value] = one

    def _are_alike(self, one: int, other: int) -> bool:
        """Both planned in one memory, of one size, and neither given nor state."""
        a, b = self.flow.extent.get(one), self.flow.extent.get(other)
        if a is None or b is None or {one, other} & self.fixed:
            return False
        return a[0] == b[0] and a[2] - a[1] == b[2] - b[1]


@dataclass(frozen=True)
class _Pieces:
    """Storages cut where any of their values starts or ends; sets of pieces as bits."""

    of_value: Mapping[int, int]
    of_base: Mapping[int, int]
    base: list[int]  # of each bit

    @staticmethod
    def of(groups: Mapping[int, Mapping[int, tuple[int, int]]]) -> _Pieces:
        """By base: where its values start and end."""
        of_value: dict[int, int] = {}
        of_base: dict[int, int] = {}
        bases: list[int] = []
        for base, spans in groups.items():
            starts = sorted({cut for span in spans.values() for cut in span})[:-1]
            first = len(bases)
            bases += [base] * len(starts)
            of_base[base] = ((1 << len(starts)) - 1) << first
            number = {start: first + n for n, start in enumerate(starts)}
            for value, (start, end) in spans.items():
                low, high = number.get(start, 0), number.get(end, len(bases))
                of_value[value] = (1 << high) - (1 << low) if start < end else 0
        return _Pieces(of_value, of_base, bases)

    def bits(self, values: Iterable[int]) -> int:
        found = 0
        for value in values:
            found |= self.of_value.get(value, 0)
        return found

    def bases(self, sets: Iterable[int]) -> Iterator[frozenset[int]]:
        """The bases of which there is a piece in each set."""
        before, found = 0, frozenset[int]()
        for now in sets:
            if now != before:
                changed = {self.base[bit] for bit in _ones(now ^ before)}
                here = {base for base in changed if self.of_base[base] & now}
                found = (found - changed) | here
                before = now
            yield found


def _ones(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _place(tensor: types.Tensor) -> Place | None:
    """Memory, first byte and end of what is planned; None when nothing is."""
    if tensor.allocation is None:
        return None
    start = tensor.allocation.offset
    return tensor.allocation.memory_id, start, start + tensor.nbytes


def _without(left: Spans, start: int, end: int) -> Spans:
    """Spans without [start, end)."""
    parts = ((a, min(b, start), max(a, end), b) for a, b in left)
    both = (
        (one for one in ((a, b), (c, d)) if one[0] < one[1]) for a, b, c, d in parts
    )
    return tuple(one for pair in both for one in pair)


def _reversed(successors: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Predecessors of each instruction and of the exit."""
    found: list[list[int]] = [[] for _ in range(len(successors) + 1)]
    for index, after in enumerate(successors):
        for one in after:
            found[one].append(index)
    return [tuple(one) for one in found]


def _joined(
    one: dict[int, frozenset[int]], other: dict[int, frozenset[int]]
) -> dict[int, frozenset[int]]:
    empty = frozenset[int]()
    return {key: one.get(key, empty) | other.get(key, empty) for key in {*one, *other}}
