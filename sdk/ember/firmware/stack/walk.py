"""A function's instructions become its frame: how deep the stack is, and at each call.

All paths of the function are followed, with the value of the stack pointer and of
registers computed from it. So frames are exact whoever compiled or wrote the function,
and the depth is known at each call separately. What registers hold is followed as far
as instructions tell: numbers, addresses, a stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ember.firmware.stack.step import ControlFlow, Decoded, Expression

_WORD = 0xFFFFFFFF
# A register's value: ("stack", which, bytes), ("const", n), ("address", name, n),
# ("loaded", offset), ("read", n) the word at that constant address or behind it,
# ("entry", address of the table), ("place", offset), ("here", offset), ("popped",) or
# ("computed",).
# `which` is "" for the stack of the caller.
Value = tuple[Any, ...] | None
COMPUTED: Value = ("computed",)
POPPED: Value = ("popped",)
UNKNOWN = (
    "loaded",
    "read",
    "entry",
    "place",
    "here",
    "popped",
    "computed",
)  # nothing can be added to these
State = dict[int, Value]


def of_registers(kind: str, value: Value, second: Any, state: State) -> Value:
    if kind == "load":
        return _loaded(value, second)
    parts = value, state.get(second) if kind == "sum" else None
    reads = [part for part in parts if part is not None and part[0] == "read"]
    if kind in ("sum", "add") and reads:
        return reads[0]
    if kind in ("sum", "diff"):
        return computed(kind, value, state.get(second)) or COMPUTED
    if kind == "entry":
        return _entry(value) or _entry(state.get(second))
    if kind in ("add", "shift") and second == 0 and value and value[0] == "loaded":
        return value  # a copy
    return computed(kind, value, second)


def _loaded(base: Value, offset: int) -> Value:
    if base is not None and base[0] == "const":
        return "read", base[1] + offset & _WORD
    return None if base is not None and base[0] == "stack" else ("loaded", offset)


def _entry(table: Value) -> Value:
    known = table is not None and table[0] in ("address", "const")
    return ("entry", table) if known else None


def computed(kind: str, value: Value, second: Any) -> Value:
    if value is None or second is None or value[0] in UNKNOWN:
        return None
    if kind in ("sum", "diff"):
        return _sum(value, second, 1 if kind == "sum" else -1)
    if kind == "add":
        return _moved(value, second)
    if kind == "align" and value[0] == "stack":
        # The stack is aligned to 8 bytes where functions begin.
        return _moved(value, -(second - 8 if value[2] % 8 == 0 else second - 4))
    return _put_together(kind, value, second)


def _put_together(kind: str, value: Value, second: int) -> Value:
    """Numbers that are made of parts."""
    assert value is not None
    if kind == "high" and value[0] == "address":
        return value  # the other half of the same address
    if value[0] != "const":
        return None
    number = value[1]
    if kind == "high":
        return "const", number & 0xFFFF | second << 16
    return ("const", number << second & _WORD) if kind == "shift" else None


def _sum(value: Value, other: Value, sign: int) -> Value:
    assert value is not None and other is not None
    if value[0] in UNKNOWN or other[0] in UNKNOWN:
        return None
    if other[0] == "const":
        number = other[1] - (1 << 32) if other[1] >> 31 else other[1]
        return _moved(value, sign * number)
    if value[0] == "const" and sign > 0:
        return _sum(other, value, 1)
    return None


def _moved(value: Value, by: int) -> Value:
    assert value is not None
    if value[0] == "const":
        return "const", value[1] + by & _WORD
    return *value[:-1], value[-1] + by


# ---- a function ----------------------------------------------------------------------


Target = Any  # a function, of whatever names one
_ARGUMENTS = 4  # registers
_MOST_CHANGES = 64  # of the depth at one instruction, before it is said to grow


class UnknownStackError(Exception):
    """The reason why a function's use of the stack is unknown."""

    is_missing = False  # whether it calls what no object defines


class Code(Protocol):
    """Instructions of one section, whose functions refer to others."""

    data: bytes
    stack_register: int
    kept_registers: frozenset[int]  # by functions, with the stack's

    def decode(self, at: int) -> Decoded: ...
    def is_code(self, at: int) -> bool: ...
    def next_code(self, at: int) -> int:
        """The first instruction behind the data at `at`."""

    def literal(self, at: int) -> Value:
        """What the word at `at` is."""

    def place_of(self, at: int) -> int | None:
        """Where in this section the address in the word at `at` leads."""

    def immediate(self, at: int) -> Value:
        """The address that the instruction at `at` loads a part of; None: a number."""

    def constant(self, base: Value, offset: int) -> Value:
        """The function that a word names which nothing writes, behind an address."""

    def goes_to(self, at: int, target: int, inside: int) -> tuple[int | None, Target]:
        """The place that a branch leads to, and its offset in this section; it lies
        `inside` bytes behind `at`, where its packet begins."""

    def is_function(self, at: int) -> bool:
        """Whether a function begins at `at`."""

    def function_of(self, value: Value) -> Target | None:
        """The function at an address."""

    def other_stack(self, value: Value) -> str:
        """A name for the stack that ends at an address; UnknownStackError."""

    def entries(self, table: Value) -> list[int]:
        """Places in this section that the words from an address on lead to."""

    def returns(self, target: Target) -> bool: ...


_PLACED = ("placed", "add_placed", "load_placed", "entry_at", "place")
_Key = tuple[int, tuple[bool, ...]]  # offset, the rest of an IT block


@dataclass
class StackFrame:
    """What one function needs of a stack; depths in bytes."""

    depths: dict[str, int] = field(default_factory=lambda: {"": 0})
    calls: dict[tuple[str, Target], int] = field(default_factory=dict)
    # Calls by pointer: depth by the instruction's offset and that of the pointer in a
    # structure, if it is known.
    pointers: dict[tuple[str, int, int | None], int] = field(default_factory=dict)
    returns: bool = False
    # ("const", address) of words that it writes, ("given", address) to calls, ("read",
    # address) where it writes to what the word at an address points to.
    writes: set[tuple[str, int]] = field(default_factory=set)


def walk(code: Code, start: int) -> StackFrame:
    """The frame of the function at `start`; UnknownStackError."""
    return _Walk(code, start).run()


class _Walk:
    def __init__(self, code: Code, start: int) -> None:
        self.code = code
        self.start = start
        self.frame = StackFrame()
        self.seen: dict[_Key, State] = {}
        self.changes: dict[_Key, int] = {}
        self.work: list[_Key] = []

    def run(self) -> StackFrame:
        self._reach((self.start, ()), {self.code.stack_register: ("stack", "", 0)})
        while self.work:
            key = self.work.pop()
            self._execute(key, self.seen[key])
        return self.frame

    def _reach(self, key: _Key, state: State) -> None:
        if not self.code.is_code(key[0]):
            return  # behind a call that does not return
        known = self.seen.get(key)
        if known is None:
            self.seen[key] = state
            self.work.append(key)
            return
        if known == state:
            return
        merged = _merged(known, state, self.code.stack_register)
        if merged != known:
            self.changes[key] = self.changes.get(key, 0) + 1
            if self.changes[key] > _MOST_CHANGES:
                raise UnknownStackError("its stack grows in a loop")
            self.seen[key] = merged
            self.work.append(key)

    def _execute(self, key: _Key, state: State) -> None:
        at, pending = key
        step = self.code.decode(at)
        rest = (at + step.size, pending[1:])
        if pending and not pending[0]:
            self._reach(rest, state)
            return
        if step.conditional:
            self._reach(rest, state)
        after = self._after(at, step, state)
        for expression in step.stores:
            address = self._value(at, expression, state)
            if address is not None and address[0] in ("const", "read"):
                self.frame.writes.add((address[0], address[1]))
        for way in (step, *step.also):
            if way.flow is ControlFlow.NEXT:  # nearly all are
                self._reach(rest, after)
            else:
                _FLOWS[way.flow](self, _Now(at, way, state, after, rest))

    # ---- values ------------------------------------------------------------------

    def _after(self, at: int, step: Decoded, state: State) -> State:
        if not step.sets:
            return state
        after = dict(state)
        for register, expression in step.sets:
            value = self._value(at, expression, state)
            if value is None:
                after.pop(register, None)
            else:
                after[register] = value
        stack = self.code.stack_register
        if after.get(stack) is not state[stack]:
            after[stack] = self._stack_value(after.get(stack))
            self._note_depth(after)
        return after

    def _value(self, at: int, expression: Expression, state: State) -> Value:
        if expression is None or expression[0] in ("popped", "computed"):
            return expression
        kind, first = expression[0], expression[1]
        if kind == "literal":
            return self.code.literal(first)
        if kind == "here":
            return expression
        if kind in _PLACED:
            return self._placed(at, expression, state)
        if kind in ("const", "high"):
            address = self.code.immediate(at)
            if address is not None or kind == "const":
                return address or (("const", first) if first is not None else None)
        return self._of_register(expression, state)

    def _of_register(self, expression: tuple[Any, ...], state: State) -> Value:
        kind, base = expression[0], state.get(expression[1])
        if kind == "item":
            return base if base is not None and base[0] == "read" else None
        function = self.code.constant(base, expression[2]) if kind == "load" else None
        return function or of_registers(kind, base, expression[2], state)

    def _placed(self, at: int, expression: tuple[Any, ...], state: State) -> Value:
        kind, first, second, *base = expression
        if kind == "place":
            offset, _ = self.code.goes_to(at, first, second)
            return None if offset is None else ("place", offset)
        address = self.code.immediate(first)
        if kind == "add_placed":
            return None if address else computed("add", state.get(base[0]), second)
        address = address or ("const", second)
        if kind == "load_placed":
            return self.code.constant(address, 0)
        return address if kind == "placed" else ("entry", address)

    def _stack_value(self, value: Value) -> Value:
        """The stack pointer must be known; at an address begins another stack."""
        if value is None or value[0] in UNKNOWN:
            raise UnknownStackError("it moves its stack pointer by a computed amount")
        if value[0] == "stack":
            return value
        return "stack", self.code.other_stack(value), 0

    def _depth(self, state: State) -> tuple[str, int]:
        value = state[self.code.stack_register]
        assert value is not None
        return value[1], -value[2]

    def _note_depth(self, state: State) -> None:
        which, depth = self._depth(state)
        self.frame.depths[which] = max(self.frame.depths.get(which, 0), depth)

    def _returned(self, state: State) -> State:
        """Registers after a call: what a function keeps, it restores."""
        kept = self.code.kept_registers
        return {register: state[register] for register in state if register in kept}

    # ---- where it goes on ----------------------------------------------------------

    def _jump(self, now: _Now) -> None:
        offset, target = self.code.goes_to(now.at, now.step.target, now.step.inside)
        if offset is None or (offset != self.start and self.code.is_function(offset)):
            self._leave(target, now.after)
        else:
            self._reach((offset, ()), now.after)

    def _branch(self, now: _Now) -> None:
        self._jump(now)
        self._reach(now.rest, now.after)

    def _leave(self, target: Target, state: State) -> None:
        """A jump to another function: it returns for this one."""
        self._calls(target, state)
        self.frame.returns |= self.code.returns(target)

    def _calls(self, target: Target, state: State) -> None:
        if target is None:
            return
        for value in map(state.get, range(_ARGUMENTS)):
            if value is not None and value[0] == "const":
                self.frame.writes.add(("given", value[1]))
        which, depth = self._depth(state)
        known = self.frame.calls.get((which, target), depth)
        self.frame.calls[which, target] = max(known, depth)

    def _call(self, now: _Now) -> None:
        _, target = self.code.goes_to(now.at, now.step.target, now.step.inside)
        self._calls(target, now.after)
        if self.code.returns(target):
            self._reach(now.rest, self._returned(now.after))

    def _pointer_call(self, now: _Now) -> None:
        if not self._known_pointer(now):
            self._note_pointer(now)
        self._reach(now.rest, self._returned(now.after))

    def _pointer_jump(self, now: _Now) -> None:
        if self._entries(now):
            self._entry_jump(now)
            return
        returns = now.before.get(now.step.target) == POPPED
        if not returns and not self._known_pointer(now):
            self._note_pointer(now)
        self.frame.returns = True

    def _known_pointer(self, now: _Now) -> bool:
        if now.step.target is None:
            raise UnknownStackError("it jumps through a table in memory")
        value = now.before.get(now.step.target)
        if value == COMPUTED:
            raise UnknownStackError("it jumps to a computed address")
        target = self.code.function_of(value)
        if target is None and value is not None and value[0] == "const":
            raise UnknownStackError(f"it calls the address {value[1]:#x}")
        if target is not None:
            self._calls(target, now.after)
        return target is not None

    def _note_pointer(self, now: _Now) -> None:
        which, depth = self._depth(now.after)
        value = now.before.get(now.step.target)
        field_at = value[1] if value is not None and value[0] == "loaded" else None
        key = which, now.at, field_at
        self.frame.pointers[key] = max(self.frame.pointers.get(key, depth), depth)

    def _table(self, now: _Now) -> None:
        begin = now.rest[0]
        size = now.step.target
        for place in range(begin, self.code.next_code(begin) - size + 1, size):
            entry = int.from_bytes(self.code.data[place : place + size], "little")
            self._reach((begin + 2 * entry, ()), now.after)

    def _word_table(self, now: _Now) -> None:
        value = now.before.get(now.step.target)
        if value is None or value[0] != "here":
            raise UnknownStackError("it jumps through a table in memory")
        for place in range(value[1], self.code.next_code(value[1]) - 3, 4):
            entry = self.code.place_of(place)
            if entry is None:
                raise UnknownStackError("it jumps through a table in memory")
            self._reach((entry, ()), now.after)

    def _entries(self, now: _Now) -> list[int]:
        value = now.before.get(now.step.target)
        is_entry = value is not None and value[0] == "entry"
        return self.code.entries(value[1]) if value and is_entry else []

    def _entry_jump(self, now: _Now) -> None:
        places = self._entries(now)
        if not places:
            raise UnknownStackError("it jumps through a table in memory")
        for place in places:
            self._reach((place, ()), now.after)

    def _loop(self, now: _Now) -> None:
        begin = now.before.get(now.step.target)
        if begin is None:
            raise UnknownStackError("it ends a loop that begins somewhere else")
        self._reach((begin[1], ()), now.after)

    def _return(self, now: _Now) -> None:
        self.frame.returns = True

    def _if_then(self, now: _Now) -> None:
        pattern = now.step.target
        self._reach((now.rest[0], pattern), now.after)
        self._reach((now.rest[0], tuple(not bit for bit in pattern)), now.after)

    def _stop(self, now: _Now) -> None:
        pass


class _Now(NamedTuple):
    """An instruction, and the registers before and after it."""

    at: int
    step: Decoded
    before: State
    after: State
    rest: _Key  # what follows it


_FLOWS: dict[ControlFlow, Callable[[_Walk, _Now], None]] = {
    ControlFlow.JUMP: _Walk._jump,
    ControlFlow.BRANCH: _Walk._branch,
    ControlFlow.CALL: _Walk._call,
    ControlFlow.POINTER_CALL: _Walk._pointer_call,
    ControlFlow.POINTER_JUMP: _Walk._pointer_jump,
    ControlFlow.ENTRY_JUMP: _Walk._entry_jump,
    ControlFlow.TABLE: _Walk._table,
    ControlFlow.WORD_TABLE: _Walk._word_table,
    ControlFlow.LOOP: _Walk._loop,
    ControlFlow.RETURN: _Walk._return,
    ControlFlow.IT: _Walk._if_then,
    ControlFlow.STOP: _Walk._stop,
}


def _merged(first_state: State, other: State, stack: int) -> State:
    """What holds on both paths; the deeper stack."""
    same = {
        name: value for name, value in first_state.items() if other.get(name) == value
    }
    first, second = first_state[stack], other[stack]
    assert first is not None and second is not None
    if first[1] != second[1]:
        raise UnknownStackError("it switches stacks on one path only")
    same[stack] = min(first, second)
    return same
