#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A name -> kernels in C, their entry in kernels.yaml, and cases without PyTorch; or
a variant of a kernel for an instruction set.

tools/new_kernel.py twice --formula "a + a"
tools/new_kernel.py mix --schema "(Tensor x, Tensor y, *, Tensor(a!) z) -> Tensor(a!)"
tools/new_kernel.py add_f32 --isa neon     # starts as a copy of the portable kernel
tools/new_kernel.py twice --into FOLDER    # a library of your own, for --kernels FOLDER

What it writes compiles and passes: go on from there. The formula is for C and NumPy, of
operands a, b, c and d. For a tensor, two, or a tensor and a number there is also a
smaller kernel for float32, twice_f32.
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sdk"))

from ember import errors, kernels  # noqa: E402
from ember.boards import isa  # noqa: E402
from ember.kernels import library  # noqa: E402

SCHEMA = "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
OPERANDS = "abcd"
SOURCE = """\
// SPDX-License-Identifier: Apache-2.0
// y = {formula}.
#include "kernels/engine/map.h"

EMBER_ROW{inputs}(f32, float, {expression})
EMBER_ROW{inputs}(f64, double, {expression})

static const ember_map_ops_t ops = {{
    {{f32, f64, NULL}}, .inputs = {inputs}, .flags = EMBER_MAP_SAME}};
EMBER_MAP_KERNEL({kernel}, {inputs});
"""
FLOATS_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// y = {formula}, float32 in one layout.
#include "kernels/engine/map_f32.h"

"""
FLOATS_PREPARE = """\
static ember_status_t prepare(ember_node_t *node, void *state) {{
    return ember_map_f32_{form}_prepare(node, state);
}}

"""
FLOATS_KERNEL = "EMBER_MAP_F32_{macro}({kernel}_f32, {expression});\n"
# By the types of operands, those kernels for float32 that one macro writes.
FLOATS = {("Tensor",): "1", ("Tensor", "Tensor"): "2", ("Tensor", "Scalar"): "scalar"}
ENTRY = """\
- op: {op}
  schema: "{schema}"
{place}  kernels: [{kernels}]
  dtypes: [f32, f64, f16, bf16]
  tolerance: {{rtol: 1.0e-5, atol: 1.0e-6}}
"""
CASE = '''\
"""{op}, called once for each type; running this file writes the cases."""

from pathlib import Path

import numpy as np

from ember.cases import one_call

random = np.random.default_rng(1)
for dtype in (np.float32, np.float64):
{arguments}
    one_call.write(
        {place_of_case} / f"{kernel}_{{dtype.__name__}}",
        "{op}",
        "{schema}",
        [{operands}],
        [np.asarray({formula}, dtype)],  # what PyTorch gives, too
        rtol=1e-5,
        atol=1e-6,
    )
'''


@dataclass(frozen=True)
class Wanted:
    kernel: str
    op: str
    schema: str
    formula: str
    family: str  # a folder below kernels/; "" in a library of the user's
    folder: Path  # with kernels.yaml
    cases: Path

    @property
    def expression(self) -> str:
        """The formula in C; clang-format takes the first `a * b` for a declaration."""
        return f"({self.formula})" if "*" in self.formula else self.formula

    @property
    def operands(self) -> tuple[str, ...]:
        """Their types."""
        given = (line for line in library.arguments(self.schema) if "!" not in line)
        return tuple(line.split()[0] for line in given)

    @property
    def inputs(self) -> int:
        return len(self.operands)

    @property
    def source(self) -> Path:
        return self.folder / self.family / f"{self.kernel}.c"

    @property
    def floats(self) -> Path | None:
        """The source of a kernel for float32, where the operands have one."""
        if not self.family or self.operands not in FLOATS or "f32" in self.kernel:
            return None
        return self.source.with_name(f"{self.kernel}_f32.c")

    @property
    def script(self) -> Path:
        """What writes the case; that of a library of the user's is beside it."""
        if self.family:
            return self.cases / f"{self.kernel}.py"
        return self.cases / self.kernel / "make.py"


def fail(what: str, hint: str | None = None) -> None:
    raise errors.SdkError(what, hint=hint)


# ---- a new operator ------------------------------------------------------------------


def check(wanted: Wanted) -> None:
    """Refuse what would not build, and what would overwrite."""
    name = wanted.kernel
    if not kernels.NAME.fullmatch(name) or len(name) > kernels.NAME_LENGTH:
        fail(f"{name!r} is not a valid name for a kernel", "see docs/kernels.md")
    if isa.of(name):
        fail(f"{name} has the name of a variant", "use --isa with the portable kernel")
    if not 1 <= wanted.inputs <= len(OPERANDS):
        fail(f"the template has 1 to 4 operands, {wanted.schema} has {wanted.inputs}")
    unused = [
        name
        for name in OPERANDS[: wanted.inputs]
        if not re.search(rf"\b{name}\b", wanted.formula)
    ]
    if unused:
        fail(
            f"the formula lacks {' and '.join(unused)}",
            "it names each operand of --schema; a number is one, too",
        )
    for path in filter(None, (wanted.source, wanted.floats, wanted.script)):
        if path.exists():
            fail(f"{path} is there already")
    if not wanted.source.parent.is_dir() and wanted.family:
        fail(f"{wanted.source.parent} does not exist", "--family names a folder there")


def arguments_of(wanted: Wanted) -> str:
    """Lines of Python that make each operand: an array, or a number."""
    array = "random.standard_normal((2, 3, 5), dtype=dtype)"
    return "\n".join(
        f"    {operand} = {array if kind == 'Tensor' else '1.5'}"
        for operand, kind in zip(OPERANDS, wanted.operands, strict=False)
    )


def source_of_floats(wanted: Wanted) -> str:
    form = FLOATS[wanted.operands]
    words = {"kernel": wanted.kernel, "formula": wanted.formula}
    words |= {"expression": wanted.expression, "form": form, "macro": form.upper()}
    prepares = "" if form == "1" else FLOATS_PREPARE
    return (FLOATS_HEAD + prepares + FLOATS_KERNEL).format(**words)


def add_operator(wanted: Wanted) -> None:
    check(wanted)
    words = {
        **{"kernel": wanted.kernel, "op": wanted.op, "schema": wanted.schema},
        "kernels": f"{wanted.kernel}_f32, " * bool(wanted.floats) + wanted.kernel,
        **{"formula": wanted.formula, "expression": wanted.expression},
        "inputs": wanted.inputs,
        "place": f"  in: {wanted.family}\n" if wanted.family else "",
        "place_of_case": "Path()" if wanted.family else "Path(__file__).parent",
        "operands": ", ".join(OPERANDS[: wanted.inputs]),
        "arguments": arguments_of(wanted),
    }
    path = wanted.folder / library.FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(with_entry(text, wanted, ENTRY.format(**words)), encoding="utf-8")
    wanted.source.write_text(SOURCE.format(**words), encoding="utf-8")
    if wanted.floats:
        wanted.floats.write_text(source_of_floats(wanted), encoding="utf-8")
    wanted.script.parent.mkdir(parents=True, exist_ok=True)
    wanted.script.write_text(CASE.format(**words), encoding="utf-8")
    if not wanted.family:
        runpy.run_path(str(wanted.script))
    for written in filter(None, (wanted.source, wanted.floats, path, wanted.script)):
        print(f"wrote {written}")


def with_entry(text: str, wanted: Wanted, entry: str) -> str:
    """The list with the entry in its family's section, sorted by name."""
    if re.search(rf"^- op: {re.escape(wanted.op)}$", text, re.MULTILINE):
        fail(f"{wanted.op} is listed already", "add a variant, or edit the list")
    section = re.search(
        rf"^# --- {wanted.family} ---\n(?:(?!# ---).*\n)*", text, re.MULTILINE
    )
    if not wanted.family or section is None:
        return text.rstrip("\n") + "\n" * bool(text) + entry
    for later in re.finditer(r"^- op: (.*)$", section[0], re.MULTILINE):
        if later[1] > wanted.op:
            at = section.start() + later.start()
            return text[:at] + entry + text[at:]
    at = section.start() + len(section[0].rstrip("\n")) + 1
    return text[:at] + entry + text[at:]


# ---- a variant -----------------------------------------------------------------------


def add_variant(folder: Path, portable: str, name: str) -> None:
    """A copy of the portable kernel to write intrinsics into, and its place."""
    path = folder / library.FILE
    listed = library.read(folder)
    variant = f"{portable}_{name}"
    homes = [entry for entry in listed.entries if portable in entry.kernels]
    if name not in isa.load():
        fail(
            f"there is no instruction set '{name}'",
            f"known are {', '.join(isa.load())}",
        )
    if not homes:
        fail(f"no operator of {path} has a kernel {portable}")
    source = homes[0].source(variant)
    if source.exists():
        fail(f"{source} is there already")
    text = homes[0].source(portable).read_text(encoding="utf-8")
    text = re.sub(rf"(\bEMBER_\w+\(\s*){portable}\b", rf"\1{variant}", text)
    text = re.sub(rf"\bember_{portable}_", f"ember_{variant}_", text)
    head, what, rest = text.split("\n", 2)
    source.write_text(f"{head}\n{what} {isa.load()[name].title}.\n{rest}", "utf-8")
    marks = ["in_place"] if portable in listed.facts.in_place else []
    path.write_text(with_variant(path.read_text("utf-8"), portable, variant, marks))
    boards = {name: f"host-{name}" for name in ("mve", "dsp", "hvx", "neon")}
    print(f"wrote {source}: put the intrinsics into run\nwrote {path}")
    operator = portable.split("_", maxsplit=1)[0]
    board = boards.get(name, "...")
    print(f"tools/cases {operator} --board {board}\ntools/make_docs.py")


def with_variant(text: str, portable: str, variant: str, marks: list[str]) -> str:
    """The list with the variant before each mention of the portable kernel."""
    facts = f": {{{', '.join(f'{mark}: true' for mark in marks)}}}" if marks else ""
    lines = []
    for line in text.splitlines():
        if re.match(rf"  - {portable}(:|$| )", line):
            lines.append(f"  - {variant}{facts}")
            facts = ""  # once, at the first operator
        if line.startswith("  kernels: ["):
            both = f"{variant}, {portable}"
            lines.append(re.sub(rf"(?<=[\[ ]){portable}(?=[],])", both, line))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name", help="of the kernel, such as twice or twice_f32")
    parser.add_argument("--op", help="as programs name it; my_ops::NAME.out")
    parser.add_argument("--schema", default=SCHEMA)
    parser.add_argument("--family", default="elementwise", help="folder below kernels/")
    parser.add_argument("--formula", help="of operands a, b, c, d; their sum")
    parser.add_argument("--into", type=Path, help="a library of your own")
    parser.add_argument("--isa", help="a variant of the kernel NAME")
    told = parser.parse_args(words)
    try:
        if told.isa:
            add_variant(told.into or ROOT / "kernels", told.name, told.isa)
            return 0
        arguments = library.arguments(told.schema)
        inputs = sum("!" not in argument for argument in arguments)
        wanted = Wanted(
            kernel=told.name,
            op=told.op or f"my_ops::{told.name}.out",
            schema=told.schema,
            formula=told.formula or " + ".join(OPERANDS[:inputs]),
            family="" if told.into else told.family,
            folder=told.into or ROOT / "kernels",
            cases=(told.into or ROOT / "tests" / "ops") / "numpy",
        )
        add_operator(wanted)
        print(
            f"ember test {wanted.script.parent} --board host --kernels {told.into}"
            if told.into
            else f"tools/cases {wanted.kernel} --board host\ntools/cases --digests\n"
            "tools/make_docs.py"
        )
    except errors.SdkError as error:
        print(f"new_kernel: {error.what}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
