"""A model's inputs and outputs become macros of its header, for the application."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ember.errors import SdkError
from ember.model import interface
from ember.model.interface import Edge
from ember.plan.improved import Improved
from ember.plan.regions import Plan

_C_TYPES = {
    **{"float32": "float", "float64": "double", "bool": "bool", "bfloat16": "uint16_t"},
    **{f"int{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "float16": "uint16_t",
}


def macros(model: Improved, plan: Plan, labels: Sequence[str]) -> list[str]:
    """Lines of the header: shape, type and, of integers, scale and zero point."""
    name = f"EMBER_{model.identifier.upper()}"
    lines: list[str] = []
    for planned in plan.methods:
        edges = interface.of(model.stock or model.program, planned.method)
        several = len(plan.methods) > 1
        method = re.sub(r"\W", "_", planned.method.name, flags=re.ASCII).upper()
        prefix = f"{name}_{method}" if several else name
        fed = model.fed_inputs(planned.method)
        for edge in edges:
            lines += ["", f"// {edge}", *_of_edge(prefix, edge)]
            if edge.kind == "input" and edge.index in fed:
                lines += _of_fed(prefix, edge.index, fed[edge.index])
    return [*lines, *_labels(name, model, plan, labels)]


def _of_edge(prefix: str, edge: Edge) -> Iterator[str]:
    name = f"#define {prefix}_{edge.kind.upper()}_{edge.index}"
    tensor = edge.tensor
    yield f"{name}_TYPE {_C_TYPES.get(tensor.dtype.label, 'uint8_t')}"
    yield f"{name}_DIMS {len(tensor.sizes)}"
    yield f"{name}_SHAPE {_list(tensor.sizes)}"
    yield f"{name}_DIM_ORDER {_list(tensor.dim_order)}"
    yield f"{name}_ELEMENTS {tensor.numel}"
    if edge.scale is not None:
        yield f"{name}_SCALE {_float(edge.scale)}"
        yield f"{name}_ZERO_POINT ({edge.zero_point})"


def _of_fed(prefix: str, index: int, rows: int) -> Iterator[str]:
    yield "// one row at a time of an image of so many (ember/feed.h)"
    yield f"#define {prefix}_INPUT_{index}_IMAGE_ROWS {rows}"


def _list(numbers: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"


def _float(value: float) -> str:
    text = f"{value:.9g}"
    return f"{text}f" if any(mark in text for mark in ".e") else f"{text}.0f"


def _labels(
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


def c_string(text: str) -> str:
    """Any text as a C string literal."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{plain}"'
