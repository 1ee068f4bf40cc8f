"""What the nodes of a run took becomes the events of an ETDump.

Events are named, and numbered by instruction, as ExecuTorch's runtime does it for the
program that was read: what passes of a build made of an instruction counts as that
instruction. Start times are as if instructions ran one after the other, each in one
piece: the Inspector takes the last event of an instruction for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ember.cycles.estimate import Cycles
from ember.files import xnnpack
from ember.files.etdump import Allocated, Event, Logged, RunBlock, Timed, Where
from ember.program import DelegateCall, Method, types
from ember.run.costs import InsideRun
from ember.run.run import NodeRun

_LOAD, _EXECUTE = "Program::load_method", "Method::execute"
_CALLS = {
    types.KernelCall: "OPERATOR_CALL",
    types.DelegateCall: "DELEGATE_CALL",
    types.MoveCall: "MOVE_CALL",
    types.JumpFalseCall: "JF_CALL",
    types.FreeCall: "FREE_CALL",
}


@dataclass(frozen=True)
class Lent:
    """Memory that was lent to the method."""

    name: str
    size: int  # bytes


@dataclass(frozen=True)
class Executed:
    """One execution of a method."""

    method: Method  # as it was read
    packed: Method  # as it was executed
    nodes: tuple[NodeRun, ...]  # of `packed`
    load: int | None  # in the unit of the nodes; None: not counted
    execute: int | None
    load_cycles: Cycles
    execute_cycles: Cycles
    test: int | None = None  # of a bundle, whose inputs it had
    allocations: tuple[Lent, ...] = ()
    logged: Mapping[int, Sequence[Logged]] = field(default_factory=dict)
    outputs: Sequence[Logged] = ()


def runs(executed: Executed) -> Iterator[RunBlock]:
    """The block of loading, and the block of executing, as far as something is known
    of them."""
    clock = _Clock.of(executed)
    load = clock.time(executed.load, executed.load_cycles)
    loading = [
        _allocated(number, allocation)
        for number, allocation in enumerate(executed.allocations, start=1)
    ]
    if load is not None:
        loading.append(Event(Timed(_LOAD, 0, load)))
    if loading:
        names = tuple(allocation.name for allocation in executed.allocations)
        yield RunBlock("Default", tuple(loading), names, executed.test)
    begin = load or 0
    events = list(_of_instructions(executed, clock, begin))
    events += (Event(logged=output) for output in executed.outputs)
    execute = clock.time(executed.execute, executed.execute_cycles)
    if execute is not None:
        events.append(Event(Timed(_EXECUTE, begin, begin + execute)))
    if events:
        yield RunBlock("Execute", tuple(events), bundled_input=executed.test)


def call_name(method: Method, instruction: int) -> str:
    """What the runtime calls the event of an instruction."""
    return _CALLS[type(method.instructions[instruction])]


def kernel_name(operator: str) -> str:
    """What the runtime calls the event of an operator's kernel."""
    return f"native_call_{operator.partition('::')[2] or operator}"


def node_names(method: Method, instruction: int) -> tuple[str, ...]:
    """Of the nodes inside a call of XNNPACK: their kinds, each counted from 1."""
    call = method.instructions[instruction]
    if not isinstance(call, DelegateCall):
        return ()
    delegate = method.delegates[call.delegate_index]
    if delegate.id != xnnpack.BACKEND:
        return ()
    counts: dict[str, int] = {}
    names = []
    for node in xnnpack.parse(delegate.data).nodes:
        counts[node.kind] = counts.get(node.kind, 0) + 1
        names.append(f"{node.kind} #{counts[node.kind]}")
    return tuple(names)


def _allocated(number: int, allocation: Lent) -> Event:
    """The Inspector reads no event that is nothing but an allocation: this one is a
    number that was logged, too. It joins events of the same instruction and chain into
    one; a chain for each allocator keeps them apart."""
    name = f"{allocation.name}: {allocation.size:,} bytes"
    logged = Logged(allocation.size, Where(chain=number), name)
    return Event(logged=logged, allocated=Allocated(number, allocation.size))


@dataclass(frozen=True)
class _Clock:
    """Which figure is the time: estimated cycles where all are known, with the waits
    of the board's memories if possible; else what was counted."""

    cycles: str | None  # a field of Cycles

    @classmethod
    def of(cls, executed: Executed) -> _Clock:
        nodes = [node for node in executed.nodes if node.executions]
        all_cycles = [node.cycles for node in nodes]
        all_cycles += (inside.cycles for node in nodes for inside in node.inside)
        all_cycles += (executed.load_cycles, executed.execute_cycles)
        for name in ("board", "core"):
            if all(getattr(cycles, name) is not None for cycles in all_cycles):
                return cls(name)
        return cls(None)

    def time(self, counted: int | None, cycles: Cycles) -> int | None:
        estimated: int | None = getattr(cycles, self.cycles) if self.cycles else None
        return counted if estimated is None else estimated

    def of_node(self, node: NodeRun | InsideRun) -> int:
        return self.time(node.instructions, node.cycles) or 0


def _of_instructions(executed: Executed, clock: _Clock, at: int) -> Iterator[Event]:
    """In the order of instructions; nothing of those that were not executed."""
    groups: dict[int, list[NodeRun]] = {}
    for node in executed.nodes:
        if node.executions:
            groups.setdefault(node.origin, []).append(node)
    for instruction in sorted({*groups, *executed.logged}):
        nodes = groups.get(instruction, [])
        logged = executed.logged.get(instruction, ())
        if nodes:
            took = list(_of_nodes(executed, nodes, clock, at))
            yield from took[:-1]
            yield from (Event(logged=each) for each in logged)
            yield took[-1]
        else:
            named = (_named(executed.method, each) for each in logged)
            yield from (Event(logged=each) for each in named)
        at += sum(clock.of_node(node) for node in nodes)


def _named(method: Method, logged: Logged) -> Logged:
    """With a name, which otherwise comes from what the same instruction took."""
    instruction = logged.where.instruction
    return replace(logged, name=_name(method, instruction))


def _name(method: Method, instruction: int) -> str:
    """Of the event that an instruction is best known by."""
    call = method.instructions[instruction]
    if isinstance(call, types.KernelCall):
        return kernel_name(method.operator_names[call.op_index])
    return call_name(method, instruction)


def _of_nodes(
    executed: Executed, nodes: Sequence[NodeRun], clock: _Clock, begin: int
) -> Iterator[Event]:
    """What became of one instruction: its kernels, that of its own operator first, or
    the nodes of its delegate; then the instruction itself."""
    where = Where(nodes[0].origin)
    known_by = _name(executed.method, where.instruction)
    groups = _by_kernel(executed.packed, nodes)
    at = begin
    for name in sorted(groups, key=lambda name: name != known_by):
        same = groups[name]
        took = sum(clock.of_node(node) for node in same)
        kernels = dict.fromkeys(node.kernel for node in same if node.kernel)
        metadata = ", ".join(kernels).encode()
        yield Event(Timed(name, at, at + took, where, metadata))
        at += took
    for node in nodes:
        if node.inside:
            yield from _inside(executed.packed, node, clock, at)
            at += clock.of_node(node)
    end = begin + sum(clock.of_node(node) for node in nodes)
    name = call_name(executed.method, where.instruction)
    yield Event(Timed(name, begin, end, where))


def _by_kernel(
    packed: Method, nodes: Sequence[NodeRun]
) -> Mapping[str, Sequence[NodeRun]]:
    groups: dict[str, list[NodeRun]] = {}
    for node in nodes:
        if isinstance(packed.instructions[node.index], types.KernelCall):
            groups.setdefault(kernel_name(node.op), []).append(node)
    return groups


def _inside(packed: Method, node: NodeRun, clock: _Clock, at: int) -> Iterator[Event]:
    names = node_names(packed, node.index)
    for inside in node.inside:
        took = clock.of_node(inside)
        where = Where(node.origin, delegate=names[inside.index])
        metadata = (inside.kernel or "").encode()
        yield Event(Timed("", at, at + took, where, metadata))
        at += took
