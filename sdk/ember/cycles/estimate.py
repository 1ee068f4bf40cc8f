"""A firmware and the blocks that ran become an estimate of cycles, with waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from ember.boards import Board, Memory
from ember.cycles import code, manuals, mca
from ember.cycles.code import Instruction
from ember.errors import SdkError
from ember.toolchain.traces import Access, Block, Edge, Trace, TracedStep, joined

_MOST_UNKNOWN = 0.01  # of the instructions that ran
_NAMED = 5

Rows = Sequence[Sequence[Instruction]]


@dataclass(frozen=True)
class Cycles:
    """Estimates of one part of a run; None: nobody estimated."""

    core: int | None = None  # with memories that never let the core wait
    board: int | None = None  # with those of the board


NOT_ESTIMATED = Cycles()


@dataclass(frozen=True)
class Estimator:
    """The cycles of a run of a firmware."""

    blocks: tuple[Block, ...]
    cycles: Mapping[Edge, float]  # of one pass of each edge that ran
    waits: Mapping[Edge, float]  # what fetching its code adds
    memories: Sequence[Memory]
    bus: int  # bytes that the core moves in a cycle

    def of(self, step: TracedStep) -> Cycles:
        core = sum(self.cycles[edge] * n for edge, n in step.edges.items())
        fetching = sum(self.waits[edge] * n for edge, n in step.edges.items())
        waiting = sum(
            wait_of_access(self.memories[access.place], access, self.bus) * n
            for access, n in step.accesses.items()
        )
        return Cycles(round(core), round(core + fetching + waiting))


def check_known(cpu: str) -> None:
    """An SdkError when there is no model of a core."""
    names = sorted({*manuals.TABLES, *mca.CORES})
    if cpu not in names:
        raise SdkError(
            f"no model of cycles for {cpu}",
            hint=f"cycles are estimated for {', '.join(names)}",
        )


def of_run(board: Board, firmware: Path, trace: Trace) -> Estimator:
    """An SdkError when the model lacks too much of what the core executed.

    The trace has the accesses to the memories of the board, in their order.
    """
    cpu = board.cpu
    check_known(cpu)
    core = mca.CORES.get(cpu)
    program = code.of_firmware(firmware, cpu, core.triple if core else None)
    rows = [code.of_block(program, block) for block in trace.blocks]
    ran = joined(trace.steps).edges
    if core is None:
        cycles = _by_table(manuals.TABLES[cpu], rows, trace.blocks, ran)
    else:
        cycles = _by_schedule(core, rows, trace.blocks, ran)
    fetches = waits_of_fetches(board.memories, trace.blocks, cycles)
    bus = core.bus if core else 4
    return Estimator(trace.blocks, cycles, fetches, board.memories, bus)


def _by_table(
    table: manuals.CycleTable,
    rows: Rows,
    blocks: Sequence[Block],
    ran: Mapping[Edge, int],
) -> dict[Edge, float]:
    unknown = {x for row in rows for x in row if not manuals.known(table, x)}
    _check(rows, blocks, ran, unknown)
    straight = [manuals.straight(table, row) for row in rows]
    leaving = [manuals.taken(table, row[-1]) if row else 0 for row in rows]

    def cycles(a: int, b: int) -> float:
        if blocks[a].end != blocks[b].address:
            return straight[b] + leaving[a]
        # One row, which a label or the end of a page of the emulator's cuts.
        return manuals.behind(table, rows[a][-1], rows[b]) if rows[a] else straight[b]

    return {(a, b): cycles(a, b) for a, b in ran}


def _by_schedule(
    core: mca.McaCore, rows: Rows, blocks: Sequence[Block], ran: Mapping[Edge, int]
) -> dict[Edge, float]:
    unknown = mca.unknown(core, rows)
    _check(rows, blocks, ran, unknown)
    texts = [mca.row_of(row, unknown) for row in rows]
    costs = mca.costs(core, ((texts[a], texts[b]) for a, b in ran))
    return {(a, b): costs[texts[a], texts[b]] for a, b in ran}


def _check(
    rows: Rows,
    blocks: Sequence[Block],
    ran: Mapping[Edge, int],
    unknown: AbstractSet[Instruction],
) -> None:
    """An SdkError when more than 1 % of the instructions have no figure."""
    executed: dict[str, int] = {}
    total = 0
    for (_, block), times in ran.items():
        total += blocks[block].instructions * times
        lacking = [x.text for x in rows[block] if x in unknown]
        lacking += ["code that the firmware does not hold"] * (
            blocks[block].instructions - len(rows[block])
        )
        for text in lacking:
            executed[text] = executed.get(text, 0) + times
    share = sum(executed.values()) / (total or 1)
    if share > _MOST_UNKNOWN:
        most = sorted(executed, key=lambda text: -executed[text])[:_NAMED]
        raise SdkError(
            f"no estimate of cycles: the model of the core lacks {share:.1%} of the"
            f" instructions that ran, most of all {'; '.join(most)}"
        )


# ---- waits ---------------------------------------------------------------------------


_RUN = 12  # instructions from one taken jump to the next


def wait_of_access(memory: Memory, access: Access, bus: int) -> float:
    """Beyond what the model of the core counts, which moves `bus` bytes a cycle."""
    counted = -(-access.size // bus)
    return max(0, memory.cycles(access.size, write=access.writes) - counted)


def waits_of_fetches(
    memories: Sequence[Memory], blocks: Sequence[Block], cycles: Mapping[Edge, float]
) -> dict[Edge, float]:
    """What each pass of a block waits for its code: it is fetched while the core
    executes, and a jump waits for its target."""
    return {
        (before, after): _of_pass(
            memories,
            blocks[after],
            passing,
            blocks[before].end != blocks[after].address,
        )
        for (before, after), passing in cycles.items()
    }


def _of_pass(
    memories: Sequence[Memory], block: Block, cycles: float, jumped: bool
) -> float:
    memory = next((m for m in memories if m.base <= block.address < m.end), None)
    if memory is None:
        return 0
    first = max(0, memory.one_fetch - 1) if jumped else 0
    return max(0, memory.fetching(block.size) - cycles) + first


def wait_of_instructions(memory: Memory, count: float, size: int) -> float:
    """What `count` instructions of `size` bytes wait for their code, when nobody has
    seen them run: as if each took a cycle and one of _RUN jumped."""
    first = max(0, memory.one_fetch - 1) * count / _RUN
    return max(0, memory.fetching(round(count * size)) - count) + first
