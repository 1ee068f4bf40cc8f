"""Accesses and memories of a board become the cycles that the core waits for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ember.boards import Memory
from ember.toolchain.traces import Access, Block, Edge

_RUN = 12  # instructions from one taken jump to the next


def of_access(memory: Memory, access: Access, bus: int) -> float:
    """Beyond what the model of the core counts, which moves `bus` bytes a cycle."""
    counted = -(-access.size // bus)
    return max(0, memory.cycles(access.size, write=access.writes) - counted)


def of_fetches(
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


def of_instructions(memory: Memory, count: float, size: int) -> float:
    """What `count` instructions of `size` bytes wait for their code, when nobody has
    seen them run: as if each took a cycle and one of _RUN jumped."""
    first = max(0, memory.one_fetch - 1) * count / _RUN
    return max(0, memory.fetching(round(count * size)) - count) + first
