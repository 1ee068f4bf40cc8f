"""Instructions become cycles of Cortex-M0, M0+, M3 and M4, by the manuals' tables.

The tables of Arm's Technical Reference Manuals hold for zero wait states. Where they
give a range that depends on operands or on the alignment of a target, one value stands
here; docs/measuring.md names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ember.cycles import code
from ember.cycles.code import Instruction

_REFILL = 2  # P of the manuals of M3 and M4: 1 to 3, by the target


@dataclass(frozen=True)
class CycleTable:
    """The cycles of a core."""

    cycles: Mapping[str, float]  # by the kind of code.py; of jumps not taken
    refill: Mapping[str, int]  # what a taken jump adds, by its kind
    counter: int  # the same of a register write to the program counter
    pipelined: bool  # a load or store behind a load takes one cycle less
    pop: int = 0  # what a pop of the program counter takes beside


_ONE = {"arithmetic": 1, "jump": 1, "call": 1, "multiply": 1, "it": 1}
_M0 = {**_ONE, "load": 2, "store": 2, "system": 4}
_M3 = {
    **_ONE,
    "load": 2,
    "store": 2,
    "pair": 3,
    "table": 2,
    "system": 2,
    "accumulate": 2,
    "long multiply": 4,  # 3 to 5
    "long accumulate": 6,  # 4 to 7
    "divide": 7,  # 2 to 12
}
_M4 = {
    **_M3,
    "accumulate": 1,
    "long multiply": 1,
    "long accumulate": 1,
    "dsp": 1,
    "float": 1,
    "float move": 1,
    "float accumulate": 3,
    "float divide": 14,
}
_M3_REFILL = dict.fromkeys(("jump", "call", "table"), _REFILL)
TABLES = {
    "cortex-m0": CycleTable(_M0, {"jump": 2, "call": 2, "bl": 3}, 2, False, pop=1),
    "cortex-m0plus": CycleTable(
        {**_M0, "system": 3}, {"jump": 1, "call": 1, "bl": 2}, 1, False, pop=1
    ),
    "cortex-m3": CycleTable(_M3, _M3_REFILL, _REFILL, True),
    "cortex-m4": CycleTable(_M4, _M3_REFILL, _REFILL, True),
}


def known(table: CycleTable, instruction: Instruction) -> bool:
    """Whether the table has the instruction."""
    row = code.kind(instruction)
    moves = ("multiple", "float load", "float multiple")
    return row in table.cycles or (
        row in moves and (row == "multiple" or "float" in table.cycles)
    )


def straight(table: CycleTable, row: Sequence[Instruction]) -> float:
    """The cycles of instructions in a row, when no jump among them is taken."""
    around: list[Instruction | None] = [None, *row, None]
    each = zip(row, around, around[2:], strict=False)
    return sum(_cycles(table, *three) for three in each)


def behind(table: CycleTable, last: Instruction, row: Sequence[Instruction]) -> float:
    """The same of a row that goes on where one ended with `last`."""
    return straight(table, [last, *row]) - straight(table, [last])


def taken(table: CycleTable, last: Instruction) -> float:
    """What leaving a block by its last instruction adds."""
    if code.writes_counter(last):
        popped = code.base(last.mnemonic) == "pop"
        return table.counter + (table.pop if popped else 0)
    name = code.base(last.mnemonic) or ""
    return table.refill.get(name, table.refill.get(code.kind(last) or "", 0))


def _cycles(
    table: CycleTable,
    instruction: Instruction,
    before: Instruction | None,
    after: Instruction | None,
) -> float:
    row = code.kind(instruction) or ""
    if row in ("load", "store") and table.pipelined:
        return _access(instruction, before)
    if row in _MOVES:
        return 1 + _words(_MOVES[row](instruction))
    if row == "it" and before is not None and before.size == 2:
        return 0  # folded
    cycles = table.cycles.get(row, 0)
    if row == "float move":
        return cycles + _is_double_move(instruction)
    waited_for = row in ("float", "float accumulate") and _feeds(instruction, after)
    return cycles + waited_for


def _words(registers: Sequence[str]) -> int:
    return sum(2 if name.startswith("d") else 1 for name in registers)


_MOVES = {
    "multiple": code.listed,
    "float multiple": code.listed,
    "float load": code.results,
}


def _access(instruction: Instruction, before: Instruction | None) -> float:
    """Of a load or store of Cortex-M3 and M4, by what precedes it."""
    address = code.address_of(instruction)
    exclusive = code.base(instruction.mnemonic) == "strex"
    if code.kind(instruction) == "store" and not exclusive and len(address) == 1:
        return 1
    if before is None or code.kind(before) != "load":
        return 2
    return 2 if set(code.results(before)) & set(address) else 1


def _is_double_move(instruction: Instruction) -> bool:
    """Between two core registers and two singles or a double: a cycle more."""
    names = code.registers(instruction.operands)
    return len(names) >= 3 and instruction.mnemonic.startswith("vmov")


def _feeds(instruction: Instruction, after: Instruction | None) -> bool:
    """Whether the next floating-point instruction waits for the result."""
    if after is None or not after.mnemonic.startswith("v"):
        return False
    result = code.results(instruction)
    names = code.registers(after.operands)
    accumulates = code.kind(after) == "float accumulate"
    used = names if accumulates or after.mnemonic.startswith("vstr") else names[1:]
    return bool(set(result) & set(used))
