"""`Program` -> the bytes of an ET12 file that ExecuTorch loads.

The bytes are read back once, as the check of a program's plan uses what its file says.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ember.files import flat_writer, schema
from ember.files.flat import Record
from ember.files.tensors import Data, SegmentLayout, align_up, place
from ember.program.reader import parse
from ember.program.remembered import remembered
from ember.program.segments import Layout
from ember.program.types import (
    Bool,
    BoolList,
    Chain,
    Containers,
    Delegate,
    DelegateCall,
    Double,
    DoubleList,
    ExtraInfo,
    Frame,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    Null,
    OptionalTensorList,
    Program,
    String,
    Tensor,
    TensorList,
    Value,
)

_HEADER = struct.Struct("<4sIQQQ")
_PREFIX = 8  # root offset and identifier, before the header


def content(program: Program) -> bytes:
    """The bytes of its file, written once for each record, without frames: no device
    reads them."""
    return remembered(program, "content", lambda: write(_bare(program)))


def write(
    program: Program,
    *,
    segment_alignment: int | None = None,
    constant_alignment: int | None = None,
    delegate_alignment: int = 16,
    inline_constants: bool = False,
    deduplicate: bool = False,
) -> bytes:
    """The file of a program. Alignments (powers of two) are those of its layout.

    `inline_constants` puts constants into the FlatBuffer, as very old files have them;
    `deduplicate` stores equal constants once. Nothing is validated here: see
    `problems`.
    """
    layout = program.layout
    of_segments = segment_alignment or layout.segment_alignment
    of_constants = constant_alignment or layout.constant_alignment
    blobs = _Blobs()
    record: Record = {"version": program.version}
    if inline_constants:
        record["constant_buffer"] = [
            {"storage": constant} for constant in program.constants
        ]
    else:
        blocks = ((constant,) for constant in program.constants)
        placed = place(blocks, of_constants, share=deduplicate)
        record["constant_buffer"] = ()
        record["constant_segment"] = {
            "segment_index": blobs.add(placed.pieces),
            "offsets": placed.offsets,
        }
    record["mutable_data_segments"] = _mutable(program, blobs)
    for blob in _before_payloads(program):
        blobs.share(blob)
    record["execution_plan"] = [_method(method, blobs) for method in program.methods]
    record["backend_delegate_data"] = [{"data": payload} for payload in blobs.inline]
    record["named_data"] = [
        {"key": entry.key, "segment_index": blobs.share(entry.data)}
        for entry in program.named_data
    ]
    stored = place(blobs.segments, max(of_segments, of_constants))
    record["segments"] = [
        {"offset": offset, "size": sum(map(len, blob))}
        for offset, blob in zip(stored.offsets, blobs.segments, strict=True)
    ]
    written = flat_writer.write(
        record,
        schema.PROGRAM,
        schema.PROGRAM_ID,
        aligns={
            "Buffer.storage": of_constants,
            "BackendDelegateInlineData.data": delegate_alignment,
        },
    )
    if not stored.size and len(blobs.segments) <= 1:
        return written.data
    return _with_header(written, stored, max(of_segments, of_constants))


def _bare(program: Program) -> Program:
    """The program without the frames of its instructions."""

    def bare(chain: Chain) -> Chain:
        return chain if chain.stacktrace is None else replace(chain, stacktrace=None)

    return replace(
        program,
        methods=tuple(
            replace(method, chains=tuple(map(bare, method.chains)))
            for method in program.methods
        ),
    )


@dataclass
class _Blobs:
    """What goes beside the tables: segments by index, inline delegate data."""

    segments: list[Sequence[Data]] = field(default_factory=list)  # pieces in a row
    inline: list[Data] = field(default_factory=list)
    _known: dict[Data, int] = field(default_factory=dict)

    def add(self, blob: Sequence[Data]) -> int:
        self.segments.append(blob)
        return len(self.segments) - 1

    def share(self, blob: Data) -> int:
        """The segment of delegate or named data; equal data is stored once."""
        if blob not in self._known:
            self._known[blob] = self.add((blob,))
        return self._known[blob]

    def add_inline(self, blob: Data) -> int:
        self.inline.append(blob)
        return len(self.inline) - 1


def _before_payloads(program: Program) -> Iterator[Data]:
    """What the layout puts before the payloads of some methods."""
    last = program.layout.payloads_last
    if last:
        yield from (entry.data for entry in program.named_data)
        methods = [earlier for earlier in program.methods if earlier.name not in last]
        for method in methods:
            yield from (
                delegate.data for delegate in method.delegates if not delegate.inline
            )


def _with_header(
    written: flat_writer.Written, stored: SegmentLayout, alignment: int
) -> bytes:
    """Insert the header behind the identifier and append the segments."""
    header_size = align_up(_HEADER.size, written.align)
    flat_size = len(written.data) + header_size
    base = align_up(flat_size, alignment)
    root = struct.unpack_from("<I", written.data)[0] + header_size
    header = _HEADER.pack(b"eh00", _HEADER.size, flat_size, base, stored.size)
    return b"".join(
        (
            struct.pack("<I", root),
            written.data[4:_PREFIX],
            header.ljust(header_size, b"\0"),
            written.data[_PREFIX:],
            bytes(base - flat_size),
            *stored.pieces,
        )
    )


def _mutable(program: Program, blobs: _Blobs) -> list[Record] | None:
    segments = []
    for pieces in program.mutable_data:
        placed = place(
            ((piece,) for piece in pieces), 1
        )  # copied at load, so unaligned
        index = blobs.add(placed.pieces)
        segments.append({"segment_index": index, "offsets": placed.offsets})
    return segments or None


# ---- dataclasses -> records --------------------------------------------------------


def _method(method: Method, blobs: _Blobs) -> Record:
    return {
        "name": method.name,
        "container_meta_type": _containers(method.containers),
        "values": [{"val": _value(value)} for value in method.values],
        "inputs": method.inputs,
        "outputs": method.outputs,
        "chains": [_chain(chain) for chain in method.chains],
        "operators": [
            {"name": operator.name, "overload": operator.overload}
            for operator in method.operators
        ],
        "delegates": [_delegate(delegate, blobs) for delegate in method.delegates],
        "non_const_buffer_sizes": method.planned_sizes,
        "non_const_buffer_device": [
            {
                "buffer_idx": device.buffer_index,
                "device_type": device.device_type,
                "device_index": device.device_index,
            }
            for device in method.planned_devices
        ]
        or None,
    }


def _containers(containers: Containers | None) -> Record | None:
    if containers is None:
        return None
    return {"encoded_inp_str": containers.inputs, "encoded_out_str": containers.outputs}


def _delegate(delegate: Delegate, blobs: _Blobs) -> Record:
    index = (
        blobs.add_inline(delegate.data)
        if delegate.inline
        else blobs.share(delegate.data)
    )
    return {
        "id": delegate.id,
        "processed": {"location": 0 if delegate.inline else 1, "index": index},
        "compile_specs": [
            {"key": spec.key, "value": spec.value} for spec in delegate.compile_specs
        ],
    }


def _value(value: Value) -> tuple[str, Record]:
    match value:
        case Null():
            record: Record = {}
        case Int(number):
            record = {"int_val": number}
        case Bool(flag):
            record = {"bool_val": flag}
        case Double():
            record = {"double_val": value.value}
        case String(text):
            record = {"string_val": text}
        case Tensor():
            record = _tensor(value)
        case (
            IntList() | DoubleList() | BoolList() | TensorList() | OptionalTensorList()
        ):
            record = {"items": value.items}
    return type(value).__name__, record


def _tensor(tensor: Tensor) -> Record:
    place = tensor.allocation
    return {
        "scalar_type": int(tensor.dtype),
        "storage_offset": tensor.storage_offset,
        "sizes": tensor.sizes,
        "dim_order": bytes(tensor.dim_order),
        "requires_grad": tensor.requires_grad,
        "data_buffer_idx": tensor.data_index,
        "allocation_info": None
        if place is None
        else {
            "memory_id": place.memory_id,
            "memory_offset_low": place.offset & 0xFFFFFFFF,
            "memory_offset_high": place.offset >> 32,
        },
        "layout": tensor.layout,
        "shape_dynamism": _DYNAMISM[tensor.dynamism],
        "extra_tensor_info": _extra(tensor.extra),
    }


_DYNAMISM = {name: number for number, name in schema.DYNAMISM.members.items()}


def _extra(extra: ExtraInfo | None) -> Record | None:
    if extra is None:
        return None
    return {
        "mutable_data_segments_idx": extra.mutable_segment,
        "fully_qualified_name": extra.name,
        "location": int(extra.external),
        "device_type": extra.device_type,
        "device_index": extra.device_index,
    }


def _chain(chain: Chain) -> Record:
    trace = chain.stacktrace
    return {
        "inputs": chain.inputs,
        "outputs": chain.outputs,
        "instructions": [{"instr_args": _instruction(i)} for i in chain.instructions],
        "stacktrace": None if trace is None else [_frames(frames) for frames in trace],
    }


def _frames(frames: Sequence[Frame]) -> Record:
    return {
        "items": [
            {
                "filename": frame.filename,
                "lineno": frame.line,
                "name": frame.name,
                "context": frame.context,
            }
            for frame in frames
        ]
    }


def _instruction(instruction: Instruction) -> tuple[str, Record]:
    match instruction:
        case KernelCall(operator, args):
            record: Record = {"op_index": operator, "args": args}
        case DelegateCall(delegate, args):
            record = {"delegate_index": delegate, "args": args}
        case MoveCall(source, target):
            record = {"move_from": source, "move_to": target}
        case JumpFalseCall(condition, target):
            record = {
                "cond_value_index": condition,
                "destination_instruction": target,
            }
        case FreeCall(value):
            record = {"value_index": value}
    return type(instruction).__name__, record


# ---- read back -----------------------------------------------------------------------


def read_back(program: Program) -> Program:
    """The program as a reader of its file finds it; raises SdkError if that contradicts
    itself."""
    parsed = parse(content(program))
    remembered(program, _LAYOUT, lambda: parsed.layout)
    return parsed


def layout_of(program: Program) -> Layout:
    """The layout of the program's file."""
    return remembered(program, _LAYOUT, lambda: parse(content(program)).layout)


_LAYOUT = "layout"
