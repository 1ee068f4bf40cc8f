"""Parts become C: memory, methods, the table of models, and the header of each model.

The header has sizes, and macros of inputs and outputs for the application.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ember.boards import Board
from ember.errors import SdkError
from ember.firmware.pack.part import HEAD, Part
from ember.firmware.pack.prepared import Names, tables
from ember.model import describe
from ember.model.describe import Edge
from ember.plan.improved import Improved
from ember.plan.replan import PlacedStorage
from ember.plan.room import MethodPlan, Plan, Region
from ember.program import types
from ember.program.types import ALIGN
from ember.quoted import c_string, comment


def models_header(items: Sequence[Part]) -> str:
    """Names of the models, for applications with several."""
    lines = [HEAD + "// The models of this firmware.", "#ifndef EMBER_MODELS_H"]
    lines += ["#define EMBER_MODELS_H", "", '#include "ember/model.h"', ""]
    lines += ["EMBER_C_BEGIN"]
    lines += [
        f"extern const ember_model_t {part.symbol};" for part in items if part.name
    ]
    if len(items) == 1:
        name = items[0].model.identifier
        lines.append(f"#define ember_model_{name} ember_model // the only one")
    return "\n".join([*lines, "EMBER_C_END", "", "#endif // EMBER_MODELS_H", ""])


def models_table(items: Sequence[Part]) -> str:
    """C text of `ember_models`, and of what models or methods share."""
    regions = {region_.name: region_ for part in items for region_ in part.plan.regions}
    lines = [HEAD, '#include "ember_models.h"', ""]
    for region in regions.values():
        if region.shared:
            lines += [_section(region, items[0].plan.board)]
            lines += [f"uint8_t {region.name}[{region.size}];", ""]
    entries = ", ".join(f"&{part.symbol}" for part in items)
    lines += [
        f"const ember_model_t *const ember_models[] = {{{entries}}};",
        f"const uint32_t ember_model_count = {len(items)};",
        "",
    ]
    return "\n".join(lines)


def _section(region: Region, board: Board) -> str:
    section = f".bss.{region.name}"
    if board.has_script:
        section = f".ember_arena.{region.memory}.{region.name}"
    return f'__attribute__((aligned({region.align}), section("{section}")))'


def _size_name(region: Region) -> str:
    return f"EMBER_{region.name.upper().removeprefix('EMBER_')}_BYTES"


def plan_header(model: Improved, plan: Plan, labels: Sequence[str] = ()) -> str:
    """Sizes of all memory regions, in bytes; inputs, outputs and names of classes."""
    guard = f"{model.identifier.upper()}_PLAN_H"
    lines = [
        HEAD
        + f"// Memory of {model.identifier} on {comment(plan.board.name)}, in bytes."
    ]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    size_name = f"EMBER_{model.identifier.upper()}_MODEL_BYTES"
    lines += [f"#define {size_name} {plan.model_bytes}", "#ifndef EMBER_MODEL_BYTES"]
    lines += [f"#define EMBER_MODEL_BYTES {size_name} // of the first model", "#endif"]
    for region in plan.regions:
        lines.append(f"#define {_size_name(region)} {region.size} // {region.memory}")
    lines += edge_macros(model, plan, labels)
    return "\n".join([*lines, "", f"#endif // {guard}", ""])


def _span(region: Region | None) -> str:
    return f"{{{region.name}, {_size_name(region)}}}" if region else "{0, 0}"


def _spans(name: str, regions: Sequence[Region | None]) -> str:
    items = ", ".join(_span(region) for region in regions) or "{0, 0}"
    return f"static const ember_span_t {name}[] = {{{items}}};"


def model_data(part: Part) -> str:
    """C text of the model's `ember_model_t`, and the memory of its methods."""
    model, plan = part.model, part.plan
    lines = [HEAD, '#include "ember/model.h"', f'#include "{model.identifier}_plan.h"']
    lines.append("")
    for region in plan.regions:
        lines.append(f"// {comment(region.purpose)}")
        if region.shared or region.lent:
            lines.append(f"extern uint8_t {region.name}[{_size_name(region)}];")
            continue
        lines.append(_section(region, plan.board))
        lines.append(f"static uint8_t {region.name}[{_size_name(region)}];")
    lines += ["", f"extern const uint8_t {part.image}0[];"]
    lines += [
        f"extern const uint8_t {part.image}{index + 1}[];"
        for index in range(len(model.data))
    ]
    data = () if part.prepared else model.data  # files that the loader opens
    if data:
        items = ", ".join(
            f"{{{part.image}{index + 1}, {len(blob)}}}"
            for index, blob in enumerate(data)
        )
        lines.append(f"static const ember_bytes_t data[] = {{{items}}};")
        lines.append(f"static ember_data_map_t maps[{len(data)}];")
    entries = []
    for index, method in enumerate(plan.methods):
        spans = cleared_spans(model, method)
        lines += _method_arrays(index, method, spans)
        if part.prepared:
            lines += _prepared(part, index)
        entries.append(_method_entry(index, method, len(spans), bool(part.prepared)))
    lines += [] if part.prepared else _TABLES
    lent = plan.temp is not None and plan.temp.lent > 0
    lines += ["static bool spent;"] if lent else []
    lines += ["static const ember_model_method_t methods[] = {", *entries, "};", ""]
    lines += [
        f"extern const ember_model_t {part.symbol};",
        f"const ember_model_t {part.symbol} = {{",
        f"    .name = {c_string(model.name)},",
        f"    .program = {_program(part)},",
        f"    .data = {'data' if data else '0'},",
        f"    .maps = {'maps' if data else '0'},",
        f"    .data_count = {len(data)},",
        f"    .method_count = {len(plan.methods)},",
        "    .methods = methods,",
        f"    .temp = {_span(plan.temp)},",
        f"    .registry = {_registry(part)},",
        f"    .parts = {{{_parts(data, plan)}}},",
        f"    .spent = {'&spent' if lent else '0'},",
        "};",
        "",
    ]
    if part.name and part.first:
        alias = f'__attribute__((alias("{part.symbol}")))'
        lines += [f"extern const ember_model_t ember_model {alias};", ""]
    return "\n".join(lines)


_TABLES = [
    "extern const ember_operators_t ember_operators;",
    "extern const ember_backends_t ember_backends;",
]


def _program(part: Part) -> str:
    """The bytes that the model is loaded from."""
    whole = f"{{{part.image}0, {len(part.model.content)}}}"
    return "{0, 0}" if part.prepared else whole


def _registry(part: Part) -> str:
    if part.prepared:
        return "{0, 0, 0}"
    changing = "&ember_changing" if part.changing else "0"
    return f"{{&ember_operators, &ember_backends, {changing}}}"


def _prepared(part: Part, index: int) -> list[str]:
    """The constants of a prepared method."""
    plan = part.plan
    names = Names(
        image=f"{part.image}0",
        data=[f"{part.image}{index + 1}" for index in range(len(part.model.data))],
        skipped=part.skipped,
        temp=plan.temp.name if plan.temp else None,
        planned=[
            region.name if region else None for region in plan.methods[index].planned
        ],
    )
    return tables(index, part.prepared[index], names)


def _parts(data: Sequence[bytes], plan: Plan) -> str:
    """The parts of `ember_model_parts_t` that this model needs."""
    lent = any(
        region
        for method in plan.methods
        for region in (*method.inputs, *method.outputs)
    )
    attach = "ember_model_attach" if data else "0"
    return f"{attach}, {'ember_model_lend' if lent else '0'}"


def _method_arrays(
    index: int, method: MethodPlan, spans: Sequence[Cleared]
) -> list[str]:
    lines = [
        _spans(f"planned_{index}", method.planned),
        _spans(f"inputs_{index}", method.inputs),
        _spans(f"outputs_{index}", method.outputs),
    ]
    if spans:
        regions = method.planned
        items = ", ".join(
            f"{{{region.name} + {span.start}, {span.size}}}"
            for span in spans
            if (region := regions[span.memory]) is not None
        )
        lines.append(f"static const ember_span_t cleared_{index}[] = {{{items}}};")
    return lines


def _method_entry(index: int, method: MethodPlan, spans: int, prepared: bool) -> str:
    return "\n".join(
        [
            "    {",
            f"        .name = {c_string(method.method.name)},",
            f"        .arena = {_span(method.arena)},",
            f"        .planned = planned_{index},",
            f"        .cleared = {'cleared' if spans else 'planned'}_{index},",
            f"        .planned_count = {len(method.planned)},",
            f"        .cleared_count = {spans},",
            f"        .input_count = {len(method.inputs)},",
            f"        .output_count = {len(method.outputs)},",
            f"        .inputs = inputs_{index},",
            f"        .outputs = outputs_{index},",
            f"        .prepared = {f'&prepared_{index}' if prepared else '0'},",
            "    },",
        ]
    )


# ---- inputs and outputs --------------------------------------------------------------


_C_TYPES = {
    **{"float32": "float", "float64": "double", "bool": "bool", "bfloat16": "uint16_t"},
    **{f"int{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "float16": "uint16_t",
}


def edge_macros(model: Improved, plan: Plan, labels: Sequence[str]) -> list[str]:
    """Lines of the header: shape, type and, of integers, scale and zero point."""
    name = f"EMBER_{model.identifier.upper()}"
    lines: list[str] = []
    several = len(plan.methods) > 1
    for planned in plan.methods:
        method = planned.method
        edges = describe.of(model.stock or model.program, method)
        prefix = f"{name}_{planned.prefix.upper()}" if several else name
        fed = model.fed_inputs(method)
        for edge in edges:
            lines += ["", f"// {comment(str(edge))}", *_of_edge(prefix, edge)]
            if edge.kind == "input" and edge.index in fed:
                lines += _of_fed(prefix, edge.index, fed[edge.index])
    return [*lines, *_label_macros(name, model, plan, labels)]


def _of_edge(prefix: str, edge: Edge) -> Iterator[str]:
    name = f"#define {prefix}_{edge.kind.upper()}_{edge.index}"
    tensor = edge.tensor
    yield f"{name}_TYPE {_C_TYPES.get(tensor.dtype.label, 'uint8_t')}"
    yield f"{name}_DIMS {len(tensor.sizes)}"
    yield f"{name}_SHAPE {_braced(tensor.sizes)}"
    yield f"{name}_DIM_ORDER {_braced(tensor.dim_order)}"
    yield f"{name}_ELEMENTS {tensor.numel}"
    if edge.scale is not None:
        yield f"{name}_SCALE {_c_float(edge.scale)}"
        yield f"{name}_ZERO_POINT ({edge.zero_point})"


def _of_fed(prefix: str, index: int, rows: int) -> Iterator[str]:
    yield "// one row at a time of an image of so many (ember/feed.h)"
    yield f"#define {prefix}_INPUT_{index}_IMAGE_ROWS {rows}"


def _braced(numbers: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"


def _c_float(value: float) -> str:
    text = f"{value:.9g}"
    return f"{text}f" if any(mark in text for mark in ".e") else f"{text}.0f"


def _label_macros(
    name: str, model: Improved, plan: Plan, labels: Sequence[str]
) -> Iterator[str]:
    if not labels:
        return
    outputs = plan.methods[0].method.output_tensors
    classes = outputs[0].sizes[-1] if outputs and outputs[0].sizes else 1
    if len(labels) != classes:
        raise SdkError(
            f"{model.name} has {len(labels)} labels, but the last dimension of its"
            f" output 0 is {classes}",
            hint="write one line for each class into the file that `labels` names",
        )
    yield ""
    yield f"#define {name}_LABEL_COUNT {len(labels)}"
    texts = [f"    {c_string(label)}" for label in labels]
    yield f"#define {name}_LABELS \\\n{{ \\\n" + ", \\\n".join(texts) + " \\\n}"


# ---- what is zero at load ------------------------------------------------------------


@dataclass(frozen=True)
class Cleared:
    """Bytes of a planned memory, which counts from 0 here."""

    memory: int
    start: int
    size: int


def cleared_spans(model: Improved, placed: MethodPlan) -> list[Cleared]:
    """Spans of states; all of a memory that was not planned again, of which nothing is
    known."""
    plan = model.replanned.get(placed.method.name)
    spans: list[Cleared] = []
    tensors = dict(placed.method.tensors)
    for memory, region in enumerate(placed.planned):
        number = memory + 1
        if region is None or (plan and number in plan.copied):
            continue
        if plan and number in plan.packed:
            states = [
                item
                for item in plan.placed
                if item.memory_id == number and _starts_at_zero(item, tensors)
            ]
            spans += _joined(memory, states)
        else:
            spans.append(Cleared(memory, 0, region.size))
    return spans


def _starts_at_zero(placed: PlacedStorage, tensors: Mapping[int, types.Tensor]) -> bool:
    storage = placed.storage
    filled = any(
        start == 0
        and tensors[value].data_index > 0
        and tensors[value].nbytes >= storage.size
        for value, start in storage.values.items()
    )
    return storage.is_state and storage.size > 0 and not filled


def _joined(memory: int, states: list[PlacedStorage]) -> Iterator[Cleared]:
    """Nothing else lies between the end of a storage and the next multiple of ALIGN."""
    start = end = 0
    for state in sorted(states, key=lambda item: item.offset):
        if state.offset > -(-end // ALIGN) * ALIGN or end == 0:
            if end:
                yield Cleared(memory, start, end - start)
            start = state.offset
        end = max(end, state.offset + state.storage.size)
    if end:
        yield Cleared(memory, start, end - start)
