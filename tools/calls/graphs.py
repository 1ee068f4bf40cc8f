# SPDX-License-Identifier: Apache-2.0
"""Graphs of XNNPACK delegates, with other sizes.

Only sizes that no constant of the graph has can change: weights stay as they are.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ember.files import flat, flat_writer
from ember.files.flat import Record
from ember.files.xnnpack import BACKEND, GRAPH, flatbuffer
from ember.program import types

_HEAD = struct.Struct("<4x4sHIIIQ")  # magic, its size, FlatBuffer, constants
_HEAD_SIZE = 32
_SHAPES = ("new_shape", "sizes")  # parameters that are sizes, or one of them
_LENGTHS = ("new_height", "new_width")


def is_one(delegate: types.Delegate) -> bool:
    return delegate.id == BACKEND and delegate.data[4:8] == b"XH00"


@functools.cache
def sizes(delegate: types.Delegate) -> frozenset[int]:
    """Those that can change."""
    if not is_one(delegate):
        return frozenset()
    kept: set[int] = set()
    changing: set[int] = set()
    for tensor in _tensors(_read(delegate)):
        (kept if tensor["constant_buffer_idx"] else changing).update(
            tensor["dims"] or ()
        )
    return frozenset(changing - kept)


def resized(delegate: types.Delegate, drawn: Mapping[int, int]) -> types.Delegate:
    """With other sizes, which `drawn` has; of weights, none."""
    if not is_one(delegate):
        return delegate
    graph = _read(delegate)
    changing = sizes(delegate)
    new = {size: drawn[size] for size in changing if size in drawn}
    for tensor in _tensors(graph):
        if not tensor["constant_buffer_idx"]:
            tensor["dims"] = _drawn(tensor["dims"] or (), new)
    for node in graph["xnodes"] or ():
        _, parameters = node["node"]
        for name, value in parameters.items():
            if name in _SHAPES and value:
                parameters[name] = _drawn(value, new)
            elif name in _LENGTHS:
                parameters[name] = new.get(value, value)
    return replace(delegate, data=_written(delegate.data, graph))


def _drawn(dims: tuple[int, ...], new: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(new.get(size, size) for size in dims)


def _read(delegate: types.Delegate) -> Record:
    offset, size = flatbuffer(delegate.data)
    return flat.read(delegate.data[offset : offset + size], GRAPH, "a payload")


def _tensors(graph: Record) -> Iterator[Record]:
    for value in graph["xvalues"] or ():
        _, record = value["value"]
        yield record.get("tensor_value", record)


def _written(payload: bytes, graph: Record) -> bytes:
    magic, head, at, _, constants_at, constants = _HEAD.unpack_from(payload)
    identifier = payload[at + 4 : at + 8]
    body = flat_writer.write(graph, GRAPH, identifier).data
    body += bytes(-len(body) % 16)
    places = (_HEAD_SIZE, len(body), _HEAD_SIZE + len(body), constants)
    start = _HEAD.pack(magic, head, *places).ljust(_HEAD_SIZE, b"\0")
    return start + body + payload[constants_at : constants_at + constants]
