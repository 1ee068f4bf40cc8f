"""Parts become C: their memory, their methods, and the table of models."""

from __future__ import annotations

from collections.abc import Sequence

from ember.boards import Board
from ember.build.pack import cleared, edges
from ember.build.pack.cleared import Cleared
from ember.build.pack.constants import Names, tables
from ember.build.pack.edges import c_string
from ember.build.pack.part import HEAD, Part
from ember.plan.improved import Improved
from ember.plan.regions import MethodPlan, Plan, Region


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
    lines = [HEAD + f"// Memory of {model.identifier} on {plan.board.name}, in bytes."]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    size_name = f"EMBER_{model.identifier.upper()}_MODEL_BYTES"
    lines += [f"#define {size_name} {plan.model_bytes}", "#ifndef EMBER_MODEL_BYTES"]
    lines += [f"#define EMBER_MODEL_BYTES {size_name} // of the first model", "#endif"]
    for region in plan.regions:
        lines.append(f"#define {_size_name(region)} {region.size} // {region.memory}")
    lines += edges.macros(model, plan, labels)
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
        lines.append(f"// {_comment(region.purpose)}")
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
        spans = cleared.of(model, method)
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


def _comment(text: str) -> str:
    return "".join(
        character if 32 <= ord(character) < 127 and character != "\\" else "."
        for character in text
    )
