"""External tensor data (.ptd) -> `TensorData`, and back to bytes.

4   "FT01"     8   "FH01", u32 header length, u64 FlatBuffer offset, u64 its size,
                   u64 base of the segments, u64 their size
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ember import files
from ember.errors import SdkError, problem_list
from ember.files import flat, flat_writer, schema, tensors
from ember.files.flat import Record
from ember.files.tensors import Array, DType

_HEADER_AT = 8
_HEADER = struct.Struct("<4sIQQQQ")
_FLAT_AT = 48  # after the padded header
_MAGIC = b"FH01"
_MOST_DIMENSIONS = 255
_DAMAGED = "the file is damaged or truncated: export or copy it again"


@dataclass(frozen=True)
class TensorLayout:
    dtype: DType
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return tensors.nbytes(self.dtype, self.sizes)


@dataclass(frozen=True)
class Entry:
    key: str  # the fully qualified name in the program, or a delegate's own key
    data: bytes
    tensor: TensorLayout | None = None  # None for the blobs of delegates

    @property
    def array(self) -> Array | None:
        """The tensor as an array in PyTorch's shape."""
        if self.tensor is None:
            return None
        layout = self.tensor
        return tensors.from_bytes(
            self.data, layout.dtype, layout.sizes, layout.dim_order
        )


@dataclass(frozen=True)
class TensorData:
    entries: tuple[Entry, ...]
    version: int = 0
    file_size: int = field(default=0, compare=False)
    segment_alignment: int = field(default=128, compare=False)

    def entry(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)


def read(path: Path) -> TensorData:
    return parse(files.read(path), str(path))


def read_all(paths: Iterable[Path]) -> tuple[bytes, ...]:
    """The bytes of the .ptd files of one program, which may share entries."""
    contents = []
    known: dict[str, tuple[Path, Entry]] = {}
    for path in paths:
        contents.append(files.read(path))
        for entry in parse(contents[-1], str(path)).entries:
            first, same = known.setdefault(entry.key, (path, entry))
            if entry != same:
                raise SdkError(
                    f"{first} and {path} have different data named '{entry.key}'",
                    hint="give only the files that were exported with the program",
                )
    return tuple(contents)


def parse(data: bytes, what: str = "the tensor data") -> TensorData:
    """The entries in the bytes of a .ptd; raises an SdkError if they are damaged."""
    files.expect(data, files.Kind.DATA, what)
    flat_size, base = _header(data, what)
    record = flat.read(memoryview(data)[:flat_size], schema.FLAT_TENSOR, what)
    places = record["segments"] or ()
    problems = _segment_problems(places, len(data) - base)
    if not problems:
        blobs = [data[base + s["offset"] :][: s["size"]] for s in places]
        problems = _entry_problems(record, blobs)
    if problems:
        raise SdkError(problem_list(f"{what} contradicts itself", problems), _DAMAGED)
    entries = tuple(_entry(entry, blobs) for entry in record["named_data"] or ())
    return TensorData(
        entries, record["version"], len(data), _alignment(places, flat_size, base)
    )


def write(content: TensorData, *, segment_alignment: int | None = None) -> bytes:
    """The bytes of a .ptd; equal data is stored once."""
    alignment = segment_alignment or content.segment_alignment
    blobs: dict[bytes, int] = {}
    for entry in content.entries:
        blobs.setdefault(entry.data, len(blobs))
    placed = tensors.place(((blob,) for blob in blobs), alignment)
    record: Record = {
        "version": content.version,
        "segments": [
            {"offset": offset, "size": len(blob)}
            for offset, blob in zip(placed.offsets, blobs, strict=True)
        ],
        "named_data": [
            {
                "key": stored.key,
                "segment_index": blobs[stored.data],
                "tensor_layout": _layout_record(stored.tensor),
            }
            for stored in content.entries
        ],
    }
    written = flat_writer.write(record, schema.FLAT_TENSOR, schema.DATA_ID)
    inserted = _FLAT_AT
    flat_size = len(written.data)
    base = tensors.align_up(flat_size + inserted, alignment)
    header = _HEADER.pack(_MAGIC, _HEADER.size, inserted, flat_size, base, placed.size)
    root = struct.unpack_from("<I", written.data)[0] + inserted
    head = struct.pack("<I", root) + written.data[4:8] + header.ljust(inserted, b"\0")
    start = (head + written.data[8:]).ljust(base, b"\0")
    return b"".join((start, *placed.pieces))


def _header(data: bytes, what: str) -> tuple[int, int]:
    """The offsets at which the FlatBuffer ends and the segments begin."""
    if len(data) < _HEADER_AT + _HEADER.size:
        raise SdkError(f"{what} ends within its header", _DAMAGED)
    magic, length, offset, size, base, segment_size = _HEADER.unpack_from(
        data, _HEADER_AT
    )
    if magic != _MAGIC or length < _HEADER.size:
        raise SdkError(f"{what} has no valid FH01 header", _DAMAGED)
    end = max(offset + size, base + segment_size)
    if end > len(data):
        raise SdkError(
            f"{what} is truncated: its header says {end} bytes, but it has {len(data)}",
            _DAMAGED,
        )
    if base and base < offset + size:
        raise SdkError(f"{what} is malformed: segments inside its FlatBuffer", _DAMAGED)
    return offset + size, base or len(data)


def _segment_problems(places: tuple[Record, ...], room: int) -> list[str]:
    problems = [
        f"segment {index} ends at byte {place['offset'] + place['size']} of {room}"
        for index, place in enumerate(places)
        if place["offset"] + place["size"] > room
    ]
    if sum(place["size"] for place in places) > room:
        problems.append("its segments overlap")
    return problems


def _entry_problems(record: Record, blobs: list[bytes]) -> list[str]:
    problems: list[str] = []
    keys: set[str] = set()
    for index, entry in enumerate(record["named_data"] or ()):
        key = entry["key"]
        if not key:
            problems.append(f"entry {index} has no key")
        elif key in keys:
            problems.append(f"two entries have the key {key!r}")
        keys.add(key or "")
        if entry["segment_index"] >= len(blobs):
            problems.append(
                f"{key!r} is in segment {entry['segment_index']}, which does not exist"
            )
        elif entry["tensor_layout"] is not None:
            size = len(blobs[entry["segment_index"]])
            problems += _layout_problems(f"{key!r}", entry["tensor_layout"], size)
    return problems


def _layout_problems(who: str, record: Record, size: int) -> list[str]:
    sizes, dim_order = record["sizes"] or (), tuple(record["dim_order"] or b"")
    if len(sizes) > _MOST_DIMENSIONS or any(length < 0 for length in sizes):
        return [f"{who} has an impossible shape"]
    if not tensors.is_dim_order(dim_order, len(sizes)):
        return [f"{who} has a dim order that does not match its shape"]
    needed = tensors.nbytes(DType(record["scalar_type"]), sizes)
    if needed > size:
        return [f"{who} needs {needed} bytes, but its segment has {size}"]
    return []


def _entry(record: Record, blobs: list[bytes]) -> Entry:
    layout = record["tensor_layout"]
    tensor = None
    if layout is not None:
        tensor = TensorLayout(
            DType(layout["scalar_type"]),
            layout["sizes"] or (),
            tuple(layout["dim_order"] or b""),
        )
    return Entry(record["key"], blobs[record["segment_index"]], tensor)


def _layout_record(tensor: TensorLayout | None) -> Record | None:
    if tensor is None:
        return None
    return {
        "scalar_type": int(tensor.dtype),
        "sizes": tensor.sizes,
        "dim_order": bytes(tensor.dim_order),
    }


def _alignment(places: tuple[Record, ...], flat_size: int, base: int) -> int:
    edges, end = [(flat_size, base)], 0
    for place in places:
        edges.append((end, place["offset"]))
        end = place["offset"] + place["size"]
    return tensors.alignment_of(edges if places else [], 128)
