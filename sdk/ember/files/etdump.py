"""Runs of a program <-> ETDump files (ED00), which ExecuTorch's Inspector reads.

A file holds runs, a run its events. Tensors in it are places in a second file, of
values; the Inspector calls that one the debug buffer. Field names of the tables are
those of the format; their order is the numbering of the fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ember.errors import SdkError
from ember.files import flat, flat_writer, schema
from ember.files.flat import (
    BOOL,
    F32,
    F64,
    I8,
    I32,
    I64,
    TEXT,
    U8,
    U32,
    U64,
    Enum,
    Field,
    Record,
    Table,
    Vector,
)
from ember.files.tensors import DType

ETDUMP_ID = b"ED00"
VALUE_TYPE = Enum(
    "ValueType",
    I8,
    {
        0: "Null",
        1: "Int",
        2: "Bool",
        3: "Float",
        4: "Double",
        5: "Tensor",
        6: "TensorList",
        7: "String",
    },
)
TENSOR = Table(
    "Tensor",
    (
        Field("scalar_type", schema.SCALAR_TYPE),
        Field("sizes", Vector(I64)),
        Field("strides", Vector(I64)),
        Field("offset", I64),  # bytes, in the file of values
    ),
)
TENSOR_LIST = Table("TensorList", (Field("tensors", Vector(TENSOR)),))
INT = Table("Int", (Field("int_val", I64),))
BOOLEAN = Table("Bool", (Field("bool_val", BOOL, default=False),))
FLOAT = Table("Float", (Field("float_val", F32, default=0.0),))
DOUBLE = Table("Double", (Field("double_val", F64, default=0.0),))
VALUE = Table(
    "Value",
    (
        Field("val", VALUE_TYPE),
        Field("tensor", TENSOR),
        Field("tensor_list", TENSOR_LIST),
        Field("int_value", INT),
        Field("float_value", FLOAT),
        Field("double_value", DOUBLE),
        Field("bool_value", BOOLEAN),
        Field("output", BOOLEAN),  # true: of the program
    ),
)
DEBUG_EVENT = Table(
    "DebugEvent",
    (
        Field("chain_index", U64),
        Field("instruction_id", I32, default=-1),
        Field("debug_entry", VALUE),
        Field("delegate_debug_id_int", I32, default=-1),
        Field("delegate_debug_id_str", TEXT),
        Field("name", TEXT),
    ),
)
ALLOCATION_EVENT = Table(
    "AllocationEvent", (Field("allocator_id", I32), Field("allocation_size", U64))
)
PROFILE_EVENT = Table(
    "ProfileEvent",
    (
        Field("name", TEXT),
        Field("chain_index", I32),
        Field("instruction_id", I32, default=-1),
        Field("delegate_debug_id_int", I32, default=-1),
        Field("delegate_debug_id_str", TEXT),
        Field("delegate_debug_metadata", Vector(U8)),
        Field("start_time", U64),
        Field("end_time", U64),
    ),
)
EVENT = Table(
    "Event",
    (
        Field("profile_event", PROFILE_EVENT),
        Field("allocation_event", ALLOCATION_EVENT),
        Field("debug_event", DEBUG_EVENT),
    ),
)
RUN_DATA = Table(
    "RunData",
    (
        Field("name", TEXT),
        Field("bundled_input_index", I32, default=-1),
        Field("allocators", Vector(Table("Allocator", (Field("name", TEXT),)))),
        Field("events", Vector(EVENT)),
    ),
)
ETDUMP = Table("ETDump", (Field("version", U32), Field("run_data", Vector(RUN_DATA))))


# ---- events --------------------------------------------------------------------------


NO_INSTRUCTION = -1
_NONE = -1  # where a number is absent
_VERSION = 0
_PREFIX = 4  # bytes, with the size of what follows
_ID_AT = _PREFIX + 4
_KINDS = {name: number for number, name in VALUE_TYPE.members.items()}


@dataclass(frozen=True)
class LoggedTensor:
    """A tensor in the file of values."""

    dtype: DType
    sizes: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    offset: int  # bytes


@dataclass(frozen=True)
class LoggedList:
    tensors: tuple[LoggedTensor, ...]


Entry = LoggedTensor | LoggedList | bool | int | float


@dataclass(frozen=True)
class Where:
    """What an event is of: an instruction, or a node inside a delegate."""

    instruction: int = NO_INSTRUCTION  # its index in the .pte
    chain: int = 0
    delegate: int | str | None = None  # the delegate's own number or name of a node


@dataclass(frozen=True)
class Timed:
    """Something took from `begin` to `end`, in the unit of the dump."""

    name: str
    begin: int
    end: int
    where: Where = Where()
    metadata: bytes = b""


@dataclass(frozen=True)
class Logged:
    """A value, as it was at that time; `output`: it is one of the program's outputs."""

    entry: Entry
    where: Where = Where()
    name: str = ""
    output: bool = False


@dataclass(frozen=True)
class Allocated:
    """Bytes of an allocator; allocators of a run are numbered from 1."""

    allocator: int
    size: int


@dataclass(frozen=True)
class Event:
    timed: Timed | None = None
    logged: Logged | None = None
    allocated: Allocated | None = None


@dataclass(frozen=True)
class RunBlock:
    """Events in the order in which they ended."""

    name: str
    events: tuple[Event, ...]
    allocators: tuple[str, ...] = ()
    bundled_input: int | None = None  # the test case of a bundle, whose inputs it had


@dataclass(frozen=True)
class ETDump:
    runs: tuple[RunBlock, ...]


# ---- writing -----------------------------------------------------------------------


def to_bytes(dump: ETDump) -> bytes:
    record = {"version": _VERSION, "run_data": [_run(run) for run in dump.runs]}
    return flat_writer.write(record, ETDUMP, ETDUMP_ID, prefixed=True).data


def _run(run: RunBlock) -> Record:
    test = run.bundled_input
    return {
        "name": run.name,
        "bundled_input_index": _NONE if test is None else test,
        "allocators": [{"name": name} for name in run.allocators] or None,
        "events": [_event(event) for event in run.events],
    }


def _event(event: Event) -> Record:
    timed, logged, allocated = event.timed, event.logged, event.allocated
    return {
        "profile_event": None if timed is None else _timed(timed),
        "debug_event": None if logged is None else _logged(logged),
        "allocation_event": allocated
        and {"allocator_id": allocated.allocator, "allocation_size": allocated.size},
    }


def _timed(timed: Timed) -> Record:
    return _where(timed.where) | {
        "name": timed.name,
        "delegate_debug_metadata": timed.metadata or None,
        "start_time": timed.begin,
        "end_time": timed.end,
    }


def _logged(logged: Logged) -> Record:
    entry = _entry(logged.entry)
    if logged.output:
        entry["output"] = {"bool_val": True}
    return _where(logged.where) | {"name": logged.name or None, "debug_entry": entry}


def _where(where: Where) -> Record:
    node = where.delegate
    return {
        "chain_index": where.chain,
        "instruction_id": where.instruction,
        "delegate_debug_id_int": node if isinstance(node, int) else _NONE,
        "delegate_debug_id_str": node if isinstance(node, str) else None,
    }


def _entry(entry: Entry) -> Record:
    match entry:
        case LoggedTensor():
            return {"val": _KINDS["Tensor"], "tensor": _tensor(entry)}
        case LoggedList(tensors):
            items = [_tensor(tensor) for tensor in tensors]
            return {"val": _KINDS["TensorList"], "tensor_list": {"tensors": items}}
        case bool():
            return {"val": _KINDS["Bool"], "bool_value": {"bool_val": entry}}
        case int():
            return {"val": _KINDS["Int"], "int_value": {"int_val": entry}}
        case float():
            return {"val": _KINDS["Double"], "double_value": {"double_val": entry}}


def _tensor(tensor: LoggedTensor) -> Record:
    return {
        "scalar_type": int(tensor.dtype),
        "sizes": tensor.sizes,
        "strides": tensor.strides,
        "offset": tensor.offset,
    }


# ---- reading -----------------------------------------------------------------------


def from_bytes(data: bytes, what: str) -> ETDump:
    """The dump that `data` is; an SdkError, which names `what`, if it is none."""
    size = int.from_bytes(data[:_PREFIX], "little")
    if size != len(data) - _PREFIX or data[_ID_AT : _ID_AT + 4] != ETDUMP_ID:
        raise SdkError(
            f"{what} is not an ETDump",
            hint="make one with `ember run MODEL --board NAME --etdump FILE`",
        )
    record = flat.read(data, ETDUMP, what, prefixed=True)
    if record["version"] != _VERSION:
        raise SdkError(
            f"{what}: version {record['version']} of ETDump is unknown",
            hint=f"Ember reads version {_VERSION}",
        )
    runs = (_read_run(run, what) for run in record["run_data"] or ())
    return ETDump(tuple(runs))


def _read_run(record: Record, what: str) -> RunBlock:
    index = record["bundled_input_index"]
    return RunBlock(
        name=record["name"] or "",
        events=tuple(_read_event(event, what) for event in record["events"] or ()),
        allocators=tuple(item["name"] or "" for item in record["allocators"] or ()),
        bundled_input=None if index == _NONE else index,
    )


def _read_event(record: Record, what: str) -> Event:
    timed, logged = record["profile_event"], record["debug_event"]
    allocated = record["allocation_event"]
    return Event(
        timed=timed and _read_timed(timed),
        logged=logged and _read_logged(logged, what),
        allocated=allocated
        and Allocated(allocated["allocator_id"], allocated["allocation_size"]),
    )


def _read_timed(record: Record) -> Timed:
    return Timed(
        name=record["name"] or "",
        begin=record["start_time"],
        end=record["end_time"],
        where=_read_where(record),
        metadata=record["delegate_debug_metadata"] or b"",
    )


def _read_logged(record: Record, what: str) -> Logged:
    value = record["debug_entry"]
    entry = value and _read_entry(value)
    if entry is None:
        raise SdkError(f"{what} is malformed: a debug event has no value")
    output = value["output"]
    return Logged(
        entry,
        where=_read_where(record),
        name=record["name"] or "",
        output=output is not None and output["bool_val"],
    )


def _read_where(record: Record) -> Where:
    number, name = record["delegate_debug_id_int"], record["delegate_debug_id_str"]
    node = number if number >= 0 else name or None
    return Where(record["instruction_id"], record["chain_index"], node)


_FIELDS = {  # of a value, by its kind: its table, and what that one holds
    "Int": ("int_value", "int_val"),
    "Bool": ("bool_value", "bool_val"),
    "Float": ("float_value", "float_val"),
    "Double": ("double_value", "double_val"),
    "Tensor": ("tensor", None),
    "TensorList": ("tensor_list", None),
}


def _read_entry(record: Mapping[str, Record]) -> Entry | None:
    kind = VALUE_TYPE.members[int(record["val"])]  # type: ignore[call-overload]
    table, field = _FIELDS.get(kind, ("", None))
    value = record.get(table)
    if value is None:
        return None
    if field is not None:
        number: int | float | bool = value[field]
        return number
    if kind == "Tensor":
        return _read_tensor(value)
    return LoggedList(_read_tensors(value["tensors"] or ()))


def _read_tensors(records: Sequence[Record]) -> tuple[LoggedTensor, ...]:
    return tuple(_read_tensor(record) for record in records)


def _read_tensor(record: Record) -> LoggedTensor:
    return LoggedTensor(
        dtype=DType(record["scalar_type"]),
        sizes=record["sizes"] or (),
        strides=record["strides"] or (),
        offset=record["offset"],
    )
