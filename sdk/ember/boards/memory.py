"""The key `memories:` of a board: ranges of addresses, and what may lie in them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ember.boards.flash_facts import Flash
from ember.boards.strict import Size, Strict

# What a memory may hold; a linker script places each role in the first memory of the
# board that holds it and has the room.
Role = Literal[
    "vectors",
    "code",
    "rodata",
    "data",
    "stack",
    "weights",  # the model and its constants
    "method",  # values and node states
    "planned",  # activations
    "temp",  # scratch of one node
    "io",  # inputs and outputs that the caller binds
    "batch",  # what a test runner loads at run time
    "kernels",  # code of kernels that a project moves here
]
ROLES_NEEDED: tuple[Role, ...] = ("vectors", "code", "rodata", "data", "stack")

# Processor cycles of an access of up to so many bytes; a wider one takes several.
Cycles = dict[int, float]
# Of memories that do not say what they take. Only how they compare matters.
_CYCLES_OF: dict[str, float] = {"tcm": 1, "sram": 1, "flash": 3, "dram": 8}


def _cycles(value: Any) -> Any:
    """3 -> {4: 3}; a table has a line for each width."""
    table = {4: value} if isinstance(value, int | float) else value
    if not isinstance(table, dict) or not table:
        raise ValueError(
            "write cycles, such as 3, or cycles for each access width in bytes, such"
            " as {4: 3, 8: 5}"
        )
    for width, cycles in table.items():
        if not isinstance(width, int) or width not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(
                f"{width} is not an access width in bytes: 1, 2, 4, .. 128"
            )
        if not isinstance(cycles, int | float) or not 0 < cycles <= 1000:
            raise ValueError(f"{cycles} cycles: must be above 0 and at most 1000")
    return table


class Memory(Strict):
    """One range of addresses, in bytes."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    base: int = Field(ge=0)
    size: Size
    access: Literal["rx", "rw", "rwx"]
    kind: Literal["flash", "sram", "tcm", "dram"]
    holds: tuple[Role, ...] = Field(min_length=1)
    read_cycles: Annotated[Cycles, BeforeValidator(_cycles)] | None = None
    write_cycles: Annotated[Cycles, BeforeValidator(_cycles)] | None = None
    fetch_cycles: Annotated[Cycles, BeforeValidator(_cycles)] | None = None
    flash: Flash | None = None  # how it is programmed; None: it is not, or unknown

    def cycles(self, width: int, *, write: bool = False) -> float:
        """Of one access of `width` bytes; a write takes what a read does, unless the
        board says otherwise."""
        table = (self.write_cycles if write else None) or self.read_cycles
        table = table or {4: _CYCLES_OF[self.kind]}
        fitting = [widest for widest in table if widest >= width]
        if fitting:
            return table[min(fitting)]
        widest = max(table)
        return -(-width // widest) * table[widest]

    def fetching(self, size: int) -> float:
        """Cycles of fetching `size` bytes of code in a row, in accesses as wide as they
        can be; a fetch takes what a read does, unless the board says otherwise."""
        return size / max(self._fetches) * self.one_fetch

    @property
    def one_fetch(self) -> float:
        """Cycles of the widest fetch: what a jump to this memory waits for."""
        return self._fetches[max(self._fetches)]

    @property
    def _fetches(self) -> Cycles:
        return self.fetch_cycles or self.read_cycles or {4: _CYCLES_OF[self.kind]}

    @property
    def end(self) -> int:
        return self.base + self.size

    @property
    def writable(self) -> bool:
        return "w" in self.access

    @property
    def is_only_code(self) -> bool:
        """Whether nothing writes to it once the program runs."""
        return set(self.holds) <= {"vectors", "code", "rodata", "weights", "kernels"}

    @model_validator(mode="after")
    def _sectors_fill_it(self) -> Memory:
        problem = self.flash.problem(self.size) if self.flash else None
        if problem:
            raise ValueError(f"flash: {problem}")
        return self
