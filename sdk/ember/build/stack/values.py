"""What registers hold, as far as instructions tell: numbers, addresses, a stack."""

from __future__ import annotations

from typing import Any

_WORD = 0xFFFFFFFF
# A register's value: ("stack", which, bytes), ("const", n), ("address", name, n),
# ("loaded", offset), ("read", n) what lies at that constant address or behind it,
# ("entry", address of the table), ("place", offset), ("popped",) or ("computed",).
# `which` is "" for the stack of the caller.
Value = tuple[Any, ...] | None
COMPUTED: Value = ("computed",)
POPPED: Value = ("popped",)
UNKNOWN = (
    "loaded",
    "read",
    "entry",
    "place",
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
