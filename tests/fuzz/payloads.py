"""Committed XNNPACK programs -> the same with payloads that older exporters wrote."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import committed
import positions

from ember import program
from ember.files import flat, flat_writer, xnnpack
from ember.files.flat import Record
from ember.files.xnnpack import GRAPH
from ember.program import Program

QS8, NONE = 3, 0xFFFFFFFF  # a datatype; no external value


def read(case: str) -> tuple[Program, Record]:
    """A committed program of one delegate, and its graph."""
    content = committed.program_of(f"xnnpack_{case}")
    payload = content.methods[0].delegates[0].data
    at, size = xnnpack.flatbuffer(payload)
    return content, flat.read(payload[at : at + size], GRAPH, case)


def payload_of(
    graph: Record, constants: bytes = b"", identifier: bytes = b"XN01"
) -> bytes:
    """A payload with a header; constants lie behind the graph."""
    body = flat_writer.write(graph, GRAPH, identifier).data
    body += bytes(-len(body) % 16)
    head = struct.pack(
        "<4x4sHIIIQ", b"XH00", 30, 32, len(body), 32 + len(body), len(constants)
    )
    return head.ljust(32, b"\0") + body + constants


def with_payload(content: Program, payload: bytes) -> bytes:
    """The file of a program whose delegate has another payload."""
    (method,) = content.methods
    delegate = replace(method.delegates[0], data=payload)
    delegates = (delegate, *method.delegates[1:])
    return program.write(
        replace(content, methods=(replace(method, delegates=delegates),))
    )


def tensors(graph: Record) -> list[Record]:
    """The tensors of all values, in order."""
    values = [value["value"][1] for value in graph["xvalues"]]
    return [value.get("tensor_value", value) for value in values]


def nodes(graph: Record, kind: str) -> list[Record]:
    """The tables of the nodes of a kind."""
    return [node["node"][1] for node in graph["xnodes"] if node["node"][0] == kind]


# ---- other forms of the same graph ---------------------------------------------------


def _without_names(content: Program, graph: Record) -> bytes:
    """Constants move from named data into the payload; returned."""
    named = {each.key: each.data for each in content.named_data}
    constants = b""
    for entry in graph["constant_data"][1:]:
        data = named[entry["named_key"]]
        constants += bytes(-len(constants) % 16)
        entry |= {"offset": len(constants), "size": len(data), "named_key": None}
        constants += data
    return constants


def in_payload(case: str) -> bytes:
    """Constants behind the graph, as older exporters wrote them."""
    content, graph = read(case)
    constants = _without_names(content, graph)
    return with_payload(content, payload_of(graph, constants))


def without_header(case: str) -> bytes:
    """The oldest form: constants in the FlatBuffer, and nothing before it."""
    content, graph = read(case)
    constants = _without_names(content, graph)
    graph["constant_buffer"] = [
        {"storage": constants[entry["offset"] :][: entry["size"]]}
        for entry in graph["constant_data"]
    ]
    graph["constant_data"] = None
    body = flat_writer.write(graph, GRAPH, b"XN00").data
    return with_payload(content, body)


def marked_inputs(case: str) -> bytes:
    """No Convert in front: the input's value says that it is quantised per row."""
    content, graph = read(case)
    (convert,) = nodes(graph, "Convert")[:1]
    source, stored = convert["input_id"], convert["output_id"]
    value = next(each for each in tensors(graph) if each["id_out"] == source)
    value["dq_datatype"] = QS8
    graph["xnodes"] = [
        each for each in graph["xnodes"] if each["node"][1] is not convert
    ]
    for each in graph["xnodes"]:
        table = each["node"][1]
        for name, item in table.items():
            if name.endswith("_id") and item == stored:
                table[name] = source
    return with_payload(content, payload_of(graph))


def shared_vtables(case: str) -> bytes:
    """Every vtable states the size of the smallest table, as if they shared one."""
    content, graph = read(case)
    data = bytearray(with_payload(content, payload_of(graph)))
    for place in positions.walk(bytes(data)):
        if place.path.startswith("$payload") and place.path.endswith("@table_size"):
            struct.pack_into("<H", data, place.at, 4)
    return bytes(data)


def flagged_values(case: str) -> bytes:
    """Every value claims every flag, such as that its memory is the backend's own."""
    content, graph = read(case)
    for value in tensors(graph):
        value["flags"] = 0xFFFFFFFF
    return with_payload(content, payload_of(graph))


def _as(case: str, before: str, after: str, **fields: object) -> bytes:
    """Nodes of a kind are of another one."""
    content, graph = read(case)
    for each in graph["xnodes"]:
        kind, table = each["node"]
        if kind == before:
            each["node"] = (after, {**table, **fields})
    return with_payload(content, payload_of(graph))


def multiplied(case: str) -> bytes:
    """Products in place of sums."""
    return _as(case, "Add", "Multiply")


def bent(case: str) -> bytes:
    """ELU, which the exporter does not delegate."""
    return _as(case, "LeakyReLU", "ELU", alpha=0.5)


def _int8(value: Record, number: int) -> Record:
    quantised = {**value, "datatype": QS8, "external_id": NONE, "flags": 0}
    params = ("PerTensorQuant", {"scale": 0.02 * number, "zero_point": -number})
    table = {"tensor_value": {**quantised, "id_out": number}, "quant_params": params}
    return {"value": ("XNNQuantizedTensorValue", table)}


def _widened(content: Program, by: int, axis: int) -> Program:
    """With `by` times as many channels in each tensor."""
    (method,) = content.methods
    values = []
    for value in method.values:
        assert isinstance(value, program.Tensor)
        sizes = list(value.sizes)
        sizes[axis] *= by
        allocation = value.allocation
        if allocation is not None:
            allocation = replace(allocation, offset=by * allocation.offset)
        values.append(replace(value, sizes=tuple(sizes), allocation=allocation))
    planned = tuple(by * size for size in method.planned_sizes)
    method = replace(method, values=tuple(values), planned_sizes=planned)
    return replace(content, methods=(method,))


def _table(case: str, kind: str, axis: int, **fields: object) -> bytes:
    """The one node of a case, of another kind, in static int8 and of so many elements
    that tables are made: input -> int8 -> node -> int8 -> output."""
    by = 8
    content, graph = read(case)
    (node,) = graph["xnodes"]
    table = {**node["node"][1], **fields}
    for value in tensors(graph):
        value["dims"] = (*value["dims"][:-1], by * value["dims"][-1])
    given, result = table["input_id"], table["output_id"]
    before, after = len(graph["xvalues"]), len(graph["xvalues"]) + 1
    by_id = {value["id_out"]: value for value in tensors(graph)}
    graph["xvalues"] = (
        *graph["xvalues"],
        _int8(by_id[given], before),
        _int8(by_id[result], after),
    )
    steps = [
        ("Convert", {"input_id": given, "output_id": before, "flags": 0}),
        (kind, {**table, "input_id": before, "output_id": after}),
        ("Convert", {"input_id": after, "output_id": result, "flags": 0}),
    ]
    graph["xnodes"] = tuple(
        {"node": step, "debug_handle": 1, "output_min_max": None} for step in steps
    )
    return with_payload(_widened(content, by, axis), payload_of(graph))


def table_elu(case: str) -> bytes:
    return _table(case, "ELU", -1, alpha=0.5)


def table_tanh(case: str) -> bytes:
    return _table(case, "Tanh", -1)


def table_again(case: str) -> bytes:
    """From int8 to int8 with other numbers."""
    return _table(case, "Convert", -1)


def int8_pooling(case: str) -> bytes:
    return _table(case, "MaxPooling2d", 1)


_EACH = (
    *("mlp", "mlp_static", "mlp_qd8", "mlp_int4", "layer_conv_qs8"),
    "rare_int4_odd",
)
# How it is written, and a case.
FORMS: list[tuple[Callable[[str], bytes], str]] = [
    *((in_payload, case) for case in _EACH),
    *((without_header, case) for case in _EACH),
    *((shared_vtables, case) for case in _EACH),
    *((flagged_values, case) for case in _EACH),
    (marked_inputs, "layer_linear_qd8"),
    (marked_inputs, "mlp_int4"),
]
# How it becomes another graph, of nodes that no exported case has, and a case.
OTHERS: list[tuple[Callable[[str], bytes], str]] = [
    (multiplied, "cnn_static"),
    (bent, "layer_leaky_relu_f32"),
    *((form, "layer_relu_f32") for form in (table_elu, table_tanh, table_again)),
    (int8_pooling, "layer_max_pool_f32"),
]
