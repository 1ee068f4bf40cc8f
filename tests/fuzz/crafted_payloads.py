"""Committed XNNPACK programs -> the same with one thing wrong in the payload, and what
the backend must say."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import positions
from payloads import in_payload, nodes, payload_of, read, tensors, with_payload

from ember.files.flat import Record

NONE, MANY = 0xFFFFFFFF, (1 << 20) - 1
QS8, UNKNOWN = 3, 4  # datatypes


@dataclass(frozen=True)
class Crafted:
    name: str
    make: Callable[[], bytes]  # later than names are collected
    says: str  # part of the message


Change = Callable[[Record], Any]
_BAD, _SIZES = "contradicts itself", "sizes of a node do not fit"
_MISSING, _NO_KERNEL = "a constant is missing", "no kernel supports"
_SHORT = "too short"


def _node(kind: str, **fields: Any) -> Change:
    """Sets fields of the first node of a kind."""
    return lambda graph: nodes(graph, kind)[0].update(fields)


def _takes(kind: str, field: str, other: str) -> Change:
    """The first node of a kind takes as `field` what it takes as `other`."""

    def change(graph: Record) -> None:
        node = nodes(graph, kind)[0]
        node[field] = node[other]

    return change


def _value(number: int, **fields: Any) -> Change:
    """Sets fields of a value's tensor."""
    return lambda graph: tensors(graph)[number].update(fields)


def _weights(graph: Record) -> Record:
    """The value that is the weights of the first fully connected layer."""
    wanted = nodes(graph, "FullyConnected")[0]["filter_id"]
    ids = [tensor["id_out"] for tensor in tensors(graph)]
    value: Record = graph["xvalues"][ids.index(wanted)]["value"][1]
    return value


def _of_weights(**fields: Any) -> Change:
    """Sets fields of the weights' tensor."""

    def change(graph: Record) -> None:
        value = _weights(graph)
        value.get("tensor_value", value).update(fields)

    return change


def _scales(**fields: Any) -> Change:
    """Sets fields of how the weights are quantised."""
    return lambda graph: _weights(graph)["quant_params"][1].update(fields)


def _input_scale(**fields: Any) -> Change:
    """Sets fields of how the first value of static int8 is quantised."""

    def change(graph: Record) -> None:
        values = [xvalue["value"][1] for xvalue in graph["xvalues"]]
        first = next(value for value in values if "tensor_value" in value)
        first["quant_params"][1].update(fields)

    return change


def _constant(**fields: Any) -> Change:
    return lambda graph: graph["constant_data"][1].update(fields)


def _graph(**lists: Callable[[Record], Any]) -> Change:
    """Replaces parts of the graph."""
    return lambda graph: graph.update({k: make(graph) for k, make in lists.items()})


def _bounds(low: float, high: float) -> Change:
    limits = {"output_min": low, "output_max": high}
    return lambda graph: graph["xnodes"][0].update(output_min_max=limits)


def _weights_id(graph: Record) -> int:
    return int(nodes(graph, "FullyConnected")[0]["filter_id"])


FC, CONV = "FullyConnected", "Conv2d"
# Of a case: its name, what is changed, what the backend says.
_GRAPHS: dict[str, list[tuple[str, Change, str]]] = {
    "mlp": [
        ("rank_7", _value(0, num_dims=7, dims=[1] * 7), _BAD),
        ("rank_differs", _value(0, num_dims=3), _BAD),
        ("dims_negative", _value(0, dims=[NONE, 64]), _BAD),
        ("dims_wrap", _value(0, dims=[1 << 16, 1 << 16]), _SIZES),
        ("datatype", _value(0, datatype=UNKNOWN), "unknown datatype"),
        ("not_quantised", _value(0, datatype=QS8), _BAD),
        ("marked_weights", _of_weights(dq_datatype=QS8), _BAD),
        ("constant_past_end", _of_weights(constant_buffer_idx=99), _BAD),
        ("constant_short", _of_weights(constant_buffer_idx=2), _SHORT),
        ("constant_unknown", _constant(named_key="nobody"), _MISSING),
        ("constant_outside", _constant(named_key=None, offset=1 << 40), _SHORT),
        ("constant_wraps", _constant(named_key=None, offset=2**64 - 16), _SHORT),
        ("no_such_input", _graph(input_ids=lambda g: [77]), _BAD),
        ("input_twice", _graph(input_ids=lambda g: g["input_ids"] * 2), _BAD),
        ("input_is_output", _graph(output_ids=lambda g: g["input_ids"]), _BAD),
        ("output_constant", _graph(output_ids=lambda g: [_weights_id(g)]), _BAD),
        ("output_unwritten", _graph(xnodes=lambda g: g["xnodes"][:-1]), _BAD),
        ("read_too_early", _graph(xnodes=lambda g: g["xnodes"][::-1]), _BAD),
        ("written_twice", _graph(xnodes=lambda g: g["xnodes"] * 2), _BAD),
        ("many_nodes", _graph(xnodes=lambda g: g["xnodes"] * 2100), "4096 nodes"),
        ("many_values", _graph(xvalues=lambda g: g["xvalues"] * 1000), "4096 values"),
        ("writes_a_constant", _takes(FC, "output_id", "filter_id"), _BAD),
        ("writes_its_input", _takes(FC, "output_id", "input1_id"), _BAD),
        ("bias_as_weights", _takes(FC, "filter_id", "bias_id"), _SIZES),
        ("weights_as_bias", _takes(FC, "bias_id", "filter_id"), _SIZES),
        ("no_such_value", _node(FC, filter_id=1000), _BAD),
        ("no_weights", _node(FC, filter_id=NONE), _BAD),
        ("flags", _node(FC, flags=1 << 20), _NO_KERNEL),
        ("bounds_nan", _bounds(math.nan, 1.0), _BAD),
        ("bounds_empty", _bounds(2.0, 1.0), _BAD),
    ],
    "mlp_static": [
        ("zero_point", _input_scale(zero_point=300), _BAD),
        ("scale_nan", _input_scale(scale=math.nan), _NO_KERNEL),
        ("scale_zero", _input_scale(scale=0.0), _NO_KERNEL),
        ("weights_unknown", _constant(named_key="nobody"), _MISSING),
    ],
    "mlp_qd8": [
        ("channel", _scales(channel_dim=2), _BAD),
        ("channel_negative", _scales(channel_dim=-1), _BAD),
        ("channel_other", _scales(channel_dim=1), _BAD),
        ("scales_past_end", _scales(scale_buffer_idx=99), _BAD),
        ("scales_nowhere", _scales(scale_buffer_idx=0), _BAD),
    ],
    "mlp_int4": [
        ("group_zero", _scales(group_size=0), _BAD),
        ("group_odd", _scales(group_size=31), _BAD),
        ("group_small", _scales(group_size=1), _BAD),
        ("group_scales_nowhere", _scales(scale_buffer_idx=0), _BAD),
    ],
    "rare_int4_odd": [
        ("odd_columns_more", _of_weights(dims=[10, 63]), _BAD),
        ("odd_columns_longer", _of_weights(dims=[9, 65]), _SHORT),
        ("odd_columns_even", _of_weights(dims=[9, 64]), _SIZES),
        ("odd_columns_other", _scales(channel_dim=1), _BAD),
    ],
    "layer_conv_f32": [
        ("kernel_zero", _node(CONV, kernel_height=0), _SIZES),
        ("kernel_large", _node(CONV, kernel_width=1 << 30), _SIZES),
        ("stride_zero", _node(CONV, subsampling_width=0), _SIZES),
        ("dilation_large", _node(CONV, dilation_height=NONE), _SIZES),
        ("padding_large", _node(CONV, padding_left=NONE), _SIZES),
        ("padding_many", _node(CONV, padding_top=MANY, padding_left=MANY), _SIZES),
        ("groups_zero", _node(CONV, groups=0), _SIZES),
        ("groups_wrap", _node(CONV, groups=1 << 31, group_output_channels=2), _SIZES),
    ],
    "layer_conv_qs8": [
        ("channels_more", _node(CONV, group_output_channels=4000), _SIZES),
        ("bias_as_filter", _takes(CONV, "filter_id", "bias_id"), _SIZES),
    ],
    "layer_depthwise_qs8": [
        ("wraps", _node("DepthwiseConv2d", group_output_channels=1 << 31), _SIZES),
    ],
    "layer_transposed_f32": [
        ("adjustment", _node("ConvTranspose2d", adjustment_height=NONE), _SIZES),
    ],
    "layer_max_pool_f32": [
        ("pool_larger", _node("MaxPooling2d", pooling_height=4000), _SIZES),
    ],
    "layer_permute_f32": [
        ("order_repeats", _node("StaticTranspose", perm=[0, 0, 0]), _SIZES),
        ("order_outside", _node("StaticTranspose", perm=[0, 1, 9]), _SIZES),
        ("order_long", _node("StaticTranspose", perm=list(range(9))), _BAD),
    ],
    "layer_slice_f32": [
        ("slice_outside", _node("StaticSlice", offsets=[100, 0, 0]), _SIZES),
        ("slice_wraps", _node("StaticSlice", offsets=[0x7FFFFFFF] * 3), _SIZES),
        ("slice_more", _node("StaticSlice", sizes=[0x7FFFFFFF] * 3), _SIZES),
    ],
    "layer_view_f32": [
        ("reshape_more", _node("StaticReshape", new_shape=[1000, 1000]), _SIZES),
        ("reshape_wraps", _node("StaticReshape", new_shape=[1 << 31] * 2), _SIZES),
    ],
    "layer_pad_f32": [
        ("pad", _node("StaticConstantPad", pre_paddings=[0x7FFFFFFF] * 3), _SIZES),
    ],
    "layer_cat2_f32": [("axis_outside", _node("Concatenate2", axis=5), _SIZES)],
    "layer_bilinear_f32": [
        ("resize", _node("StaticResizeBilinear2D", new_height=1 << 30), _SIZES),
    ],
    "layer_matmul_f32": [
        ("differs", _takes("BatchMatrixMultiply", "input2_id", "input1_id"), _SIZES),
    ],
}


def _heads() -> Iterator[Crafted]:
    """Headers that lie."""
    content, graph = read("mlp")
    good = payload_of(graph)

    def crafted(name: str, at: int, code: str, number: int, says: str) -> Crafted:
        bytes_ = bytearray(good)
        struct.pack_into(f"<{code}", bytes_, at, number)
        return Crafted(name, partial(with_payload, content, bytes(bytes_)), says)

    yield crafted("head_short", 8, "H", 29, "truncated")
    yield crafted("head_offset", 10, "I", NONE, "truncated")
    yield crafted("head_inside", 10, "I", 4, "truncated")
    yield crafted("head_odd", 10, "I", 33, "truncated")
    yield crafted("head_size", 14, "I", len(good), "truncated")
    yield crafted("head_tiny", 14, "I", 7, "schema")
    yield crafted("head_constants", 18, "I", len(good) + 1, "truncated")
    yield crafted("head_overlap", 22, "Q", 16, "truncated")
    yield crafted("head_wide", 22, "Q", 1 << 32, "truncated")
    yield crafted("head_schema", 36, "I", 0, "schema")
    yield Crafted("head_cut", partial(with_payload, content, good[:29]), "schema")
    yield Crafted("head_alone", partial(with_payload, content, good[:32]), "truncated")
    yield Crafted("nothing", partial(with_payload, content, b""), "schema")


def _fields_outside() -> Iterator[Crafted]:
    """Fields that begin in the FlatBuffer and end behind it, or lie behind it."""
    whole = in_payload("mlp")
    start = whole.index(b"XH00") - 4
    head = f"$payload{start}"
    size = struct.unpack_from("<I", whole, start + 14)[0]
    places = {each.path: each.at for each in positions.walk(whole)}
    for name, table, field, inside in (
        ("size_ends_outside", f"{head}.constant_data[1]", 1, 4),
        ("size_begins_outside", f"{head}.constant_data[1]", 1, 0),
        ("id_outside", f"{head}.xnodes[0].node", 0, 0),
        ("vector_outside", head, 1, 0),
    ):
        bad = bytearray(whole)
        outside = start + 32 + size - inside - places[f"{table}@"]
        struct.pack_into("<H", bad, places[f"{table}@{field}"], outside)
        yield Crafted(name, partial(bytes, bad), _BAD)


def _columns_in_a_row() -> bytes:
    """Columns of int4 of odd length that do not begin with a byte each."""
    content, graph = read("rare_int4_odd_long")
    tensor = _weights(graph)["tensor_value"]
    key = graph["constant_data"][tensor["constant_buffer_idx"]]["named_key"]
    size = (math.prod(tensor["dims"]) + 1) // 2
    named = tuple(
        replace(each, data=each.data[:size]) if each.key == key else each
        for each in content.named_data
    )
    changed = replace(content, named_data=named)
    return with_payload(changed, payload_of(graph))


def _changed(case: str, change: Change) -> bytes:
    content, graph = read(case)
    change(graph)
    return with_payload(content, payload_of(graph))


def crafted() -> Iterator[Crafted]:
    """All of them."""
    yield from _heads()
    yield from _fields_outside()
    yield Crafted("columns_in_a_row", _columns_in_a_row, _SHORT)
    for case, changes in _GRAPHS.items():
        for name, change, says in changes:
            yield Crafted(name, partial(_changed, case, change), says)
