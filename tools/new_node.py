#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A name -> an element-wise node of XNNPACK's graphs: its kind in the schema, a kernel
in C, its place in kernels.yaml, and a case without PyTorch.

tools/new_node.py thrice --formula "a + a + a"
tools/new_node.py minus --form binary --formula "a - b"

What it writes compiles and passes: go on from there. The formula is for C and NumPy, of
operands a and b. The kind gets the number after the last, as kinds of the schema have.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sdk"))

from ember import kernels  # noqa: E402
from ember.errors import SdkError  # noqa: E402
from ember.kernels import library  # noqa: E402

OPERANDS = {"unary": ("a",), "binary": ("a", "b")}
MOST_KINDS = 63  # bits of ember_xnnpack_kernel_t.kinds
SOURCES = {
    "unary": """\
// SPDX-License-Identifier: Apache-2.0
// {kind}: {formula}.
#include "elements.h"

static void compute(float *x, uint32_t count, float parameter) {{
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {{
        const float a = x[i];
        x[i] = {formula};
    }}
}}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {{
    return ember_xnn_unary_prepare(graph, node);
}}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {{
    (void)graph;
    ember_xnn_unary_run(node, compute);
}}

XNN_KERNEL({name}, NULL, ember_xnn_shape_same, XNN_KIND({macro}));
""",
    "binary": """\
// SPDX-License-Identifier: Apache-2.0
// {kind}: {formula}.
#include "broadcast.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {{
    (void)graph;
    return ember_xnn_is_plain(node->in[0]) && ember_xnn_is_plain(node->in[1]) &&
                   ember_xnn_is_plain(node->out[0])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {{
    (void)graph;
    ember_xnn_lines_t lines;
    float x[XNN_CHUNK];
    float y[XNN_CHUNK];
    if (!ember_xnn_lines_start(&lines, node, XNN_CHUNK)) {{
        return;
    }}
    do {{
        ember_xnn_load(node->in[0], lines.a, lines.a_step, lines.count, x);
        ember_xnn_load(node->in[1], lines.b, lines.b_step, lines.count, y);
        for (uint32_t i = 0; i < lines.count; i++) {{
            const float a = x[i];
            const float b = y[i];
            x[i] = {formula};
        }}
        ember_xnn_store(node, lines.y, lines.count, x);
    }} while (ember_xnn_lines_next(&lines));
}}

XNN_KERNEL({name}, NULL, ember_xnn_broadcast_shape, XNN_KIND({macro}));
""",
}
CASE = '''\
"""{kind} of an XNNPACK graph; running this file writes the case."""

from pathlib import Path

import numpy as np
from delegate_graphs import Delegate

random = np.random.default_rng(1)
{arrays}
result = {formula}

graph = Delegate()
graph.inputs = [graph.floats(*array.shape) for array in [{operands}]]
graph.outputs = [graph.floats(*result.shape)]
graph.node(
    "{kind}",
    {ids},
    output_id=graph.outputs[0],
)
graph.write_case(Path(), [{operands}], [result], rtol=1e-5, atol=1e-6)
'''


def replaced(path: Path, pattern: str, by: str) -> str:
    """The text of a file with its only match of a pattern changed."""
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(pattern, by, text, flags=re.MULTILINE)
    if count != 1:
        raise SdkError(f"{path} has {count} places like {pattern!r}")
    return changed


def with_kind(path: Path, macro: str, form: str) -> str:
    """schema.h with one more kind."""
    text = path.read_text(encoding="utf-8")
    kinds = dict(re.findall(r"XNN\((\w+), (\d+), ", text))
    last = max(map(int, kinds.values()))
    if macro in kinds:
        raise SdkError(f"{macro} is in {path} already", "see docs/kernels.md#backends")
    if last == MOST_KINDS:
        raise SdkError(f"a kernel's `kinds` has no bit for kind {last + 1}")
    entry = f"XNN({macro}, {last + 1}, XNN_{form.upper()})"
    text = replaced(path, rf"^    XNN\(\w+, {last}, .*\)$", rf"\g<0> \\\n    {entry}")
    return text.replace(f"XNN_KIND_MOST = {last} ", f"XNN_KIND_MOST = {last + 1} ")


def add(name: str, kind: str, form: str, formula: str) -> None:
    """Write all five."""
    source = ROOT / "backends" / "xnnpack" / "nodes" / f"{name}.c"
    maker = ROOT / "tests" / "ops" / "numpy" / f"{name}.py"
    listed = ROOT / "kernels" / library.FILE
    schema = ROOT / "backends" / "xnnpack" / "graph" / "schema.h"
    reader = ROOT / "sdk" / "ember" / "files" / "xnnpack.py"
    if not kernels.NAME.fullmatch(name):
        raise SdkError(f"{name!r} is not a name", "use lower-case letters and digits")
    for path in (source, maker):
        if path.exists():
            raise SdkError(f"{path} exists already")
    operands = OPERANDS[form]
    array = "random.standard_normal((2, 3, 35), dtype=np.float32)"
    ids = ("input_id",) if form == "unary" else ("input1_id", "input2_id")
    words = {"name": name, "kind": kind, "macro": name.upper(), "formula": formula}
    words |= {
        "operands": ", ".join(operands),
        "arrays": "\n".join(f"{operand} = {array}" for operand in operands),
        "ids": ",\n    ".join(f"{id}=graph.inputs[{at}]" for at, id in enumerate(ids)),
    }
    texts = {
        schema: with_kind(schema, name.upper(), form),
        source: SOURCES[form].format(**words),
        listed: replaced(
            listed, r"^  kernels: # of the nodes.*\n", rf"\g<0>  - {name}\n"
        ),
        maker: CASE.format(**words),
    }
    table = f'        Table("{kind}", _{form.upper()}),\n'
    texts[reader] = replaced(
        reader, r"^        Table\(.*\),\n(?=    \),\n\)\nNODE = )", rf"\g<0>{table}"
    )
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name", help="of the kernel, such as softsign")
    parser.add_argument("--kind", help="as the schema names it; Softsign")
    parser.add_argument("--form", choices=OPERANDS, default="unary")
    parser.add_argument("--formula", help="of operands a, b; their sum")
    given = parser.parse_args(words)
    kind = given.kind or "".join(part.capitalize() for part in given.name.split("_"))
    formula = given.formula or " + ".join(OPERANDS[given.form])
    try:
        add(given.name, kind, given.form, formula)
    except SdkError as error:
        print(f"new_node: {error}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        return 1
    print(f"tools/check.sh fix\ntools/cases {given.name} --board host")
    print("tools/cases --digests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
