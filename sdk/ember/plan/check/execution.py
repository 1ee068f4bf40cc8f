"""A method becomes what each instruction finds in memory, over every path.

It is executed with definitions in place of numbers: a byte holds the write that it came
from, and the sets of such writes are joined where paths meet, until nothing changes,
from run to run. Beside the memory of the plan stands one in which every value has bytes
of its own, by its name.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ember.errors import SdkError
from ember.files import xnnpack
from ember.kernels import KernelList
from ember.kernels import library as kernel_library
from ember.plan.check import rows
from ember.plan.check.byte_map import ByteMap, Content, Definition, union
from ember.program import Method, Program, types

Role = Literal["reads", "writes", "updates"]
Moves = Literal["copy", "handle"]
_VIEW = "executorch_prim::et_view.default"
_SCRATCH = "ember::scratch.out"
_COPY_INDEX = "executorch_prim::et_copy_index.tensor"
_OWN, _NAMES = -1, 0  # memories of what is not planned, and of values by their names
_ENTRY = -1  # of a run


@dataclass(frozen=True, slots=True)
class _Place:
    memory: int
    start: int
    name: int  # where the same bytes stand in the memory of names


@dataclass
class _State:
    """What may be in memory, and where handles may lead."""

    memory: dict[int, ByteMap] = field(default_factory=dict)
    handles: dict[int, frozenset[_Place]] = field(default_factory=dict)
    lists: dict[int, frozenset[int]] = field(default_factory=dict)

    def copy(self) -> _State:
        memory = {key: bytes_.copy() for key, bytes_ in self.memory.items()}
        return _State(memory, dict(self.handles), dict(self.lists))

    def bytes(self, memory: int) -> ByteMap:
        bytes_ = self.memory.get(memory)
        if bytes_ is None:
            bytes_ = self.memory[memory] = ByteMap()
        return bytes_


class Execution:
    """`moves` says what a MoveCall does: Ember copies the tensor, ExecuTorch makes the
    target stand for the source. An execution that is only compared with `first` finds
    nothing by names. Raises SdkError for an unknown operator."""

    def __init__(
        self,
        program: Program,
        method: Method,
        known: KernelList,
        moves: Moves,
        first: Execution | None = None,
    ) -> None:
        self.program = program
        self.method = method
        self.known = known
        self.moves = moves
        self.instructions = method.instructions
        self.end = len(self.instructions)
        self.has_moves = any(isinstance(i, types.MoveCall) for i in self.instructions)
        self.bytes_of = {value: tensor.nbytes for value, tensor in method.tensors}
        self.homes = self._homes()
        self.scratch = dict(self._scratch())  # values, by the instructions that have it
        self.sizes: dict[Definition, int] = {}  # bytes of each definition
        self.fresh: set[int] = set()  # values that an instruction writes as a whole
        # By instruction (their number is the exit) and value.
        self.reads: dict[tuple[int, int], Content] = {}
        self.named: dict[tuple[int, int], Content] = {}  # by the names of values
        self.has_names = first is None
        # Contents that are equal, of both executions, are the same.
        self.contents: dict[Content, Content] = first.contents if first else {}
        # By instruction, written value and another one of its arguments: by how many
        # bytes the other starts later.
        self.overlaps: dict[tuple[int, int, int], frozenset[int]] = {}
        self.changing = changing_values(method)
        self.leaders = self._leaders()
        self._run()

    def where(self, index: int) -> str:
        place = "the outputs" if index == self.end else f"instruction {index}"
        return f"{self.method.name}, {place}"

    def is_delegate(self, index: int) -> bool:
        return index < self.end and isinstance(
            self.instructions[index], types.DelegateCall
        )

    def is_rows(self, index: int) -> bool:
        """Whether it begins or ends a region of rows."""
        if index == self.end:
            return False
        call = self.instructions[index]
        names = (rows.ENTER, *rows.ENDS)
        return isinstance(call, types.KernelCall) and self.operator(call) in names

    def inputs_of_rows(self, index: int) -> frozenset[int]:
        """Of the end of a region."""
        return rows.inputs(self.known.named_at(self.method, index))

    def is_whole(self, content: Content) -> bool:
        """Whether it is one whole definition, or none."""
        if len(content) != 1:
            return not content
        _, end, tokens = content[0]
        return all(start == 0 and self.sizes.get(w) == end for w, start in tokens)

    def expected(self, index: int, value: int) -> Content:
        """What is to be read; by name if the definition of another value is there and
        the value has one, too."""
        placed, named = self.reads[index, value], self.named[index, value]
        if value not in self.fresh or named == placed:
            return placed
        by_name = {what for _, _, tokens in named for what, _ in tokens}
        other = {what for _, _, tokens in placed for what, _ in tokens} - by_name
        return named if any(what[0] == "writes" for what in other) else placed

    # ---- values ------------------------------------------------------------------

    def tensor(self, value: int) -> types.Tensor:
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor

    def size(self, value: int) -> int:
        return self.bytes_of[value]

    def _homes(self) -> dict[int, tuple[_Place, ...]]:
        """Where each tensor is while no handle has moved."""
        homes: dict[int, tuple[_Place, ...]] = {}
        name = 0
        for value, tensor in self.method.tensors:
            home = _Place(_OWN, name, name)
            place = tensor.allocation
            if place is not None:
                home = _Place(place.memory_id, place.offset, name)
            homes[value] = (home,)
            name += -(-max(tensor.nbytes, 1) // 16) * 16
        # Values in the slab of a region of rows have no separate bytes.
        for value, (slab, start) in rows.in_slabs(
            self.program, self.method, self.known
        ).items():
            (whole,), (home,) = homes[slab], homes[value]
            homes[value] = (replace(home, name=whole.name + start),)
        return homes

    def _scratch(self) -> Iterator[tuple[int, int]]:
        now = None
        for index, call in enumerate(self.instructions):
            if not isinstance(call, types.KernelCall):
                continue
            if self.operator(call) == _SCRATCH:
                now = call.result
            elif now is not None:
                yield index, now

    def places(self, state: _State, value: int) -> Collection[_Place]:
        return state.handles.get(value) or self.homes[value]

    def tensors(self, state: _State, value: int) -> Iterator[int]:
        stated = self.method.values[value]
        if isinstance(stated, types.Tensor):
            yield value
        elif isinstance(stated, types.TensorList | types.OptionalTensorList):
            for lists in sorted(state.lists.get(value, frozenset({value}))):
                listed = self.method.values[lists]
                assert isinstance(listed, types.TensorList | types.OptionalTensorList)
                yield from (item for item in listed.items if item >= 0)

    def arguments(self, state: _State, index: int) -> Iterator[tuple[int, Role]]:
        """Tensors that an instruction touches, each with every role it has."""
        instruction = self.instructions[index]
        if isinstance(instruction, types.KernelCall):
            for role, value in zip(
                self.roles(index, instruction), instruction.args, strict=False
            ):
                yield from ((item, role) for item in self.tensors(state, value))
            if index in self.scratch:
                yield self.scratch[index], "writes"
        elif isinstance(instruction, types.DelegateCall):
            yield from self.delegated(state, instruction)
        elif isinstance(instruction, types.JumpFalseCall):
            yield from (
                (v, "reads") for v in self.tensors(state, instruction.condition)
            )

    def delegated(
        self, state: _State, call: types.DelegateCall
    ) -> Iterator[tuple[int, Role]]:
        """What is known of the arguments of XNNPACK's graphs; those of others may be
        read and written."""
        delegate = self.method.delegates[call.delegate_index]
        ours = delegate.id == xnnpack.BACKEND
        outputs = xnnpack.outputs(delegate.data) if ours else None
        roles: dict[int, Role] = {}
        for number, value in enumerate(call.args):
            role: Role = "updates"
            if outputs is not None:
                role = "writes" if number in outputs else "reads"
            roles[value] = role if roles.get(value, role) == role else "updates"
        for value, role in roles.items():
            yield from ((item, role) for item in self.tensors(state, value))

    def operator(self, call: types.KernelCall) -> str:
        return self.method.operator_names[call.op_index]

    def roles(self, index: int, call: types.KernelCall) -> tuple[Role, ...]:
        name = self.operator(call)
        if name not in self.known.operators:
            raise SdkError(f"{self.method.name}, instruction {index}: unknown {name}")
        return _roles(name, self.known.operators[name].schema)

    # ---- flow --------------------------------------------------------------------

    def _leaders(self) -> frozenset[int]:
        jumps = [
            (index, instruction.target)
            for index, instruction in enumerate(self.instructions)
            if isinstance(instruction, types.JumpFalseCall)
        ]
        leaders = {0, self.end}
        for index, target in jumps:
            leaders |= {index + 1, target}
        return frozenset(leaders)

    def _after(self, index: int) -> tuple[int, ...]:
        instruction = self.instructions[index]
        if not isinstance(instruction, types.JumpFalseCall):
            return (index + 1,)
        stated = self.method.values[instruction.condition]
        if (
            isinstance(stated, types.Bool)
            and instruction.condition not in self.changing
        ):
            return (index + 1,) if stated.value else (instruction.target,)
        return (index + 1, instruction.target)

    def _run(self) -> None:
        """Execute up to the fixed point; a run starts with what the last one left."""
        at_leader = {_ENTRY: self._loaded()}
        waiting = [_ENTRY]
        while waiting:
            start = waiting.pop()
            state = at_leader[start].copy()
            for leader in self._block(start, state):
                if leader not in at_leader:
                    at_leader[leader] = state.copy()
                elif not self._join(at_leader[leader], state):
                    continue
                if leader not in waiting:
                    waiting.append(leader)

    def _block(self, start: int, state: _State) -> tuple[int, ...]:
        """Execute from a leader up to the next ones, and return these."""
        if start == _ENTRY:
            self._give_inputs(state)
            return (0,)
        index = start
        while index < self.end:
            self._execute(index, state)
            after = self._after(index)
            if len(after) > 1 or after[0] in self.leaders:
                return after
            index = after[0]
        outputs = (self.tensors(state, value) for value in self.method.outputs)
        self._note(self.end, itertools.chain(*outputs), state)
        return (_ENTRY,)

    def _join(self, state: _State, other: _State) -> bool:
        """Join `other` into `state`; whether that changed anything."""
        grown = False
        for memory, bytes_ in other.memory.items():
            grown = state.bytes(memory).join(bytes_) or grown
        for value in {*state.handles, *other.handles}:
            mine = frozenset(self.places(state, value))
            both = mine.union(self.places(other, value))
            grown = grown or both != mine
            state.handles[value] = both
        for value in {*state.lists, *other.lists}:
            itself = frozenset({value})
            either = state.lists.get(value, itself) | other.lists.get(value, itself)
            grown = grown or either != state.lists.get(value, itself)
            state.lists[value] = either
        return grown

    # ---- memory ------------------------------------------------------------------

    def _loaded(self) -> _State:
        state = _State()
        for value, tensor in self.method.tensors:
            if tensor.data_index > 0 or tensor.is_external:
                self._define(state, value, ("loaded", self._data(tensor)))
        return state

    def _data(self, tensor: types.Tensor) -> str:
        """A name for the bytes that a tensor has when the method is loaded."""
        data = self.program.data_of(tensor)
        return (
            hashlib.sha256(data).hexdigest() if data is not None else str(tensor.name)
        )

    def _give_inputs(self, state: _State) -> None:
        for value in self.method.inputs:
            if isinstance(self.method.values[value], types.Tensor):
                self._define(state, value, ("input", value))

    def _execute(self, index: int, state: _State) -> None:
        instruction = self.instructions[index]
        if isinstance(instruction, types.MoveCall):
            self._move(index, instruction, state)
        elif (
            isinstance(instruction, types.KernelCall)
            and self.operator(instruction) == _VIEW
        ):
            view = self.known.named(self.method, instruction)
            state.handles[view["out"]] = frozenset(self.places(state, view["self"]))
        else:
            self._call(index, state)

    def _call(self, index: int, state: _State) -> None:
        roles: dict[int, set[Role]] = {}
        for value, role in self.arguments(state, index):
            roles.setdefault(value, set()).add(role)
        self._note(index, (v for v, its in roles.items() if its != {"writes"}), state)
        written = [value for value, its in roles.items() if its != {"reads"}]
        for value in written:
            self._note_overlaps(index, value, roles, state)
        for value in written:
            how = "writes" if roles[value] == {"writes"} else "updates"
            self._define(state, value, (how, index, value))

    def _move(self, index: int, move: types.MoveCall, state: _State) -> None:
        source, target = move.move_from, move.move_to
        if not isinstance(self.method.values[source], types.Tensor):
            state.lists[target] = state.lists.get(source, frozenset({source}))
            return
        self._note(index, [source], state)
        moved = self.method.values[target]
        planned = isinstance(moved, types.Tensor) and moved.allocation is not None
        if self.moves == "handle" or not planned:
            state.handles[target] = frozenset(self.places(state, source))
            return
        self._note_overlaps(index, target, [source], state)
        if self.overlaps.get((index, target, source)) == frozenset({0}):
            del self.overlaps[index, target, source]  # in one place nothing moves
        self.fresh.add(target)
        size = min(self.size(source), self.size(target))
        content = self._read(state, source, size)
        named = self._read(state, source, size, by_name=True)
        self._write(state, target, content, named)

    def _note(self, index: int, values: Iterable[int], state: _State) -> None:
        for value in values:
            size = self.size(value)
            content = self._read(state, value, size)
            self.reads[index, value] = self.contents.setdefault(content, content)
            if self.has_names:
                named = self._read(state, value, size, by_name=True)
                self.named[index, value] = self.contents.setdefault(named, named)

    def _note_overlaps(
        self, index: int, written: int, others: Iterable[int], state: _State
    ) -> None:
        end = self.size(written)
        targets = self.places(state, written)
        for other in others:
            size = self.size(other)
            if other == written or size == 0:
                continue
            deltas = {
                two.start - target.start
                for target in targets
                for two in self.places(state, other)
                if target.memory == two.memory
                and -size < two.start - target.start < end
            }
            if deltas:
                self.overlaps[index, written, other] = frozenset(deltas)

    def _read(
        self, state: _State, value: int, size: int, *, by_name: bool = False
    ) -> Content:
        places = self.places(state, value)
        if len(places) == 1:
            (place,) = places
            start = place.name if by_name else place.start
            memory = _NAMES if by_name else place.memory
            return state.bytes(memory).read(start, start + size)
        contents = [
            state.bytes(_NAMES).read(place.name, place.name + size)
            if by_name
            else state.bytes(place.memory).read(place.start, place.start + size)
            for place in places
        ]
        return functools.reduce(union, contents)

    def _define(self, state: _State, value: int, what: Definition) -> None:
        size = self.size(value)
        self.sizes[what] = size
        if what[0] == "writes":
            self.fresh.add(value)
        if size > 0:
            content = ((0, size, frozenset({(what, 0)})),)
            self._write(state, value, content, content)

    def _write(
        self, state: _State, value: int, content: Content, named: Content
    ) -> None:
        places = self.places(state, value)
        for place in places:
            maps = [(state.bytes(place.memory), place.start, content)]
            if self.has_names:
                maps.append((state.bytes(_NAMES), place.name, named))
            for bytes_, start, what in maps:
                if len(places) == 1:
                    bytes_.write(start, what)
                else:
                    bytes_.add(start, what)


@functools.cache
def _roles(name: str, schema: str) -> tuple[Role, ...]:
    if name == _COPY_INDEX:  # (to, from, index): one part of `to`
        return ("updates", "reads", "reads")
    return kernel_library.roles(schema)  # type: ignore[return-value]


def changing_values(method: Method) -> frozenset[int]:
    """Values that do not always stay what the program states."""
    changing = set(method.inputs)
    for instruction in method.instructions:
        match instruction:
            case types.KernelCall(args=args) if args:
                changing.add(instruction.result)
            case types.DelegateCall(args=args):
                changing.update(args)
            case types.MoveCall(move_to=target):
                changing.add(target)
    return frozenset(changing)
