"""`ember inspect`: show what a .pte, .bpte or .ptd file contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ember import boards, files, kernels, output, program
from ember.boards import Board, isa
from ember.cli.options import ProjectOption
from ember.errors import SdkError
from ember.files import tensor_data
from ember.firmware import project as projects
from ember.model import describe, program_in
from ember.model.describe import Facts
from ember.output import counted, plain
from ember.plan.check import dim_orders
from ember.program import bundle
from ember.select import resolve, selection
from ember.select.resolve import NodeKernel


def command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A .pte, .bpte or .ptd file, or a case folder."
        ),
    ],
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show only this method.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Show every value and instruction.")
    ] = False,
    board: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Also show this board's kernels for the nodes of delegates.",
        ),
    ] = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> None:
    rules = projects.load(project).rules
    target = (
        _Target(rules.narrowed(boards.load(board)), rules.forbid) if board else None
    )
    file = program_in(file) if file.is_dir() else file
    facts = {"file": str(file), **_facts(file, method, values, target)}
    if json_to != "-":
        _show(output.console(), facts, all_rows=values)
    output.write_json(facts, json_to)


@dataclass(frozen=True)
class _Target:
    """The board on which nodes of delegates would run."""

    board: Board  # without the sets of instructions that the project forbids
    forbidden: tuple[str, ...]

    def why(self, chosen: NodeKernel, backend: kernels.Backend) -> str:
        sets, kernel = self.board.isa, chosen.kernel
        reasons = backend.reasons(kernel, sets, self.forbidden, chosen.refused)
        if chosen.row and isa.of(kernel) == "sme":
            reasons.append(
                "it has one row, which vectors multiply faster than outer products"
            )
        return "; ".join(reasons)


def _facts(
    file: Path, method: str | None, values: bool, target: _Target | None
) -> Facts:
    data = files.read(file)
    kind = files.expect_known(data, str(file))
    if kind is files.Kind.DATA:
        return describe.tensor_data(tensor_data.parse(data, str(file)))
    if kind is files.Kind.BUNDLE:
        bundled = bundle.parse(data, str(file))
        inside = kernels.read_program(bundled.program, f"{file}, its program")
        shown = _program(file, *inside, method, values, target)
        return describe.bundle(bundled) | {"program": shown}
    read = kernels.read_program(data, str(file))
    return _program(file, *read, method, values, target)


def _program(
    file: Path,
    parsed: program.Program,
    content: bytes,
    method: str | None,
    values: bool,
    target: _Target | None,
) -> Facts:
    methods = _methods(parsed, method)
    dim_orders.warn(file.stem, parsed, kernels.load)
    facts = describe.program(parsed, methods, values=values)
    if target is not None and any(each.delegates for each in methods):
        needs = selection.look_at(parsed, content, methods, file, target.board)
        _add_kernels(facts, needs, target)
    gaps = selection.look(parsed, content, methods, file.stem)
    return facts | {"missing": [gap.to_json() for gap in gaps]}


def _add_kernels(
    facts: Facts, needs: Sequence[resolve.MethodNeeds], target: _Target
) -> None:
    """What runs each node of the delegates on the board, and why."""
    for method, need in zip(facts["methods"], needs, strict=bool(needs)):
        for index, delegate in need.delegates.items():
            shown = method["delegates"][index]
            backend = kernels.load().backends[shown["id"]]
            for node, chosen in zip(shown["nodes"], delegate.nodes, strict=True):
                why = {"why": target.why(chosen, backend)}
                node.update(chosen.to_json() | why)


def _methods(parsed: program.Program, name: str | None) -> tuple[program.Method, ...]:
    """The method of that name, or all methods."""
    if name is None:
        return parsed.methods
    method = parsed.method(name)
    if method is not None:
        return (method,)
    names = [each.name for each in parsed.methods]
    near = get_close_matches(name, names, n=1)
    raise SdkError(
        f"there is no method {name!r}",
        hint=f"did you mean {near[0]!r}?"
        if near
        else f"the methods are {', '.join(names)}",
    )


# ---- tables --------------------------------------------------------------------------


_ENDS, _MOST_ENDS = ("inputs", "outputs"), 2  # of a node
_MOST_ROWS = 20  # of constants and tensors, unless every value was asked for


def _show(console: Console, facts: Facts, *, all_rows: bool) -> None:
    kind = facts["kind"]
    if kind == "tensor data":
        _line(console, facts["file"], kind, facts["bytes"])
        _show_entries(console, facts["entries"])
        return
    if kind == "bundled program":
        inside = facts["program"]
        _line(console, facts["file"], kind, None)
        _show_suites(console, facts["suites"])
    else:
        inside = facts
    _line(console, facts["file"], "program", inside["bytes"])
    header = "with" if inside["extended_header"] else "without"
    size = counted(inside["flatbuffer_bytes"], "byte")
    console.print(
        f"  {size} FlatBuffer, {header} extended header; "
        f"segments aligned to {inside['segment_alignment']}, constants to "
        f"{inside['constant_alignment']}"
    )
    for method in inside["methods"]:
        _show_method(console, method)
    _show_missing(console, inside["missing"])
    _show_constants(console, inside, all_rows)
    _show_data(console, inside)


def _line(console: Console, file: str, kind: str, size: int | None) -> None:
    text = f"[bold]{plain(file)}[/]: {kind}"
    console.print(text if size is None else f"{text}, {counted(size, 'byte')}")


def _print(console: Console, table: Table) -> None:
    """Prints a table after an empty line, unless it is empty."""
    if table.row_count:
        console.print()
        console.print(table)


def _show_method(console: Console, facts: Facts) -> None:
    values = counted(facts["value_count"], "value")
    instructions = counted(facts["instruction_count"], "instruction")
    console.print(
        f"\n[bold]method {plain(facts['name'])}[/]: {values}, {instructions} "
        f"({_tally(facts)})"
    )
    table = output.table("", "kind", "type", "shape", "dim order", "memory", ">bytes")
    for what in ("inputs", "outputs"):
        for index, value in enumerate(facts[what]):
            table.add_row(f"{what[:-1]} {index}", *_cells(value))
    _print(console, table)
    _show_operators(console, facts["operators"])
    _show_delegates(console, facts["delegates"])
    _show_planned(console, facts["planned"])
    if "values" in facts:
        _show_values(console, facts)


def _tally(facts: Facts) -> str:
    kinds = facts["instruction_kinds"].items()
    return ", ".join(f"{count} {name}" for name, count in kinds) or "none"


def _shape(facts: Facts) -> str:
    if facts.get("shape") is None:
        return "-"
    bound = {"bounded": " at most", "unbounded": " any"}.get(facts.get("dynamism", ""))
    return _list(facts["shape"]) + (bound or "")


def _list(numbers: list[int]) -> str:
    return f"[{','.join(str(number) for number in numbers)}]"


def _cells(facts: Facts) -> tuple[str, ...]:
    if facts["kind"] != "Tensor":
        content = facts.get("content")
        return (facts["kind"], "-", _short(content), "-", "-", "-")
    return (
        "Tensor",
        facts["dtype"],
        _shape(facts),
        _list(facts["dim_order"]),
        _memory(facts),
        f"{facts['bytes']:,}",
    )


def _memory(facts: Facts) -> str:
    if facts.get("memory_id") is not None:
        return f"{facts['role']} {facts['memory_id']}:{facts['offset']}"
    if facts["role"] == "constant":
        return f"constant {facts['data_index']}"
    return str(facts["role"])


def _short(content: Any, most: int = 40) -> str:
    if content is None:
        return "-"
    text = str(content)
    return plain(text if len(text) <= most else text[: most - 3] + "...")


def _show_operators(console: Console, operators: list[Facts]) -> None:
    table = output.table("operator", ">calls", "types")
    for operator in operators:
        table.add_row(
            plain(operator["name"]),
            str(operator["calls"]),
            ", ".join(operator["dtypes"]),
        )
    _print(console, table)


def _show_delegates(console: Console, delegates: list[Facts]) -> None:
    table = output.table("delegate", ">calls", ">bytes", "stored", "compile specs")
    for delegate in delegates:
        specs = ", ".join(spec["key"] for spec in delegate["compile_specs"])
        table.add_row(
            plain(delegate["id"]),
            str(delegate["calls"]),
            f"{delegate['bytes']:,}",
            delegate["location"],
            plain(specs) or "-",
        )
    _print(console, table)
    for delegate in delegates:
        _show_nodes(console, delegate["index"], delegate.get("nodes", []))


def _show_nodes(console: Console, index: int, nodes: list[Facts]) -> None:
    """Shows each node, and below it the kernel that runs it, if known."""
    heads = ["module"] if any(node["module"] for node in nodes) else []
    table = output.table(">node", *heads, f"of delegate {index}")
    for number, node in enumerate(nodes):
        inputs, outputs = (" ".join(node[k][:_MOST_ENDS]) for k in _ENDS)  # no bias
        lines = [f"{node['kind']} {inputs} -> {outputs}"]
        if "kernel" in node:
            variant = f"{node['variant']}: " if node["variant"] else ""
            lines.append(f"  {variant}{node['kernel']} ({node['why']})")
        where = (plain(node[head] or "") for head in heads)
        table.add_row(str(number), *where, "\n".join(map(plain, lines)))
    _print(console, table)


def _show_planned(console: Console, planned: list[Facts]) -> None:
    table = output.table(">planned memory", ">tensors", ">bytes")
    for memory in planned:
        table.add_row(str(memory["id"]), str(memory["tensors"]), f"{memory['bytes']:,}")
    _print(console, table)


def _show_values(console: Console, facts: Facts) -> None:
    table = output.table(
        ">value", "kind", "type", "content", "order", "memory", ">bytes"
    )
    for item in facts["values"]:
        table.add_row(str(item["value"]), *_cells(item))
    _print(console, table)
    named = any(item["module"] or item["source"] for item in facts["instructions"])
    heads = ("module", "source") if named else ()
    table = output.table(">instruction", "kind", "name", *heads, "arguments")
    for item in facts["instructions"]:
        arguments = " ".join(str(index) for index in item["args"])
        if "target" in item:
            arguments += f" -> {item['target']}"
        name = plain(item.get("name", "-"))
        where = (plain(item[head] or "") for head in heads)
        table.add_row(str(item["index"]), item["kind"], name, *where, arguments)
    _print(console, table)


def _show_constants(console: Console, facts: Facts, all_rows: bool) -> None:
    constants = facts["constants"]
    unused = constants["unused_count"]
    console.print(
        f"\n[bold]constants[/]: {constants['count']},"
        f" {counted(constants['bytes'], 'byte')}"
        f"{' inside the FlatBuffer' if constants['inline'] else ''}"
        + f"; unused: {unused} ({counted(constants['unused_bytes'], 'byte')})"
        * bool(unused)
    )
    items = sorted(constants["items"], key=lambda constant: constant["used"])
    shown = items if all_rows else items[:_MOST_ROWS]
    if shown:
        table = output.table(">constant", "type", "shape", ">bytes", "", "name")
        for constant in shown:
            table.add_row(
                str(constant["index"]),
                constant["dtype"] or "-",
                _shape(constant),
                f"{constant['bytes']:,}",
                "" if constant["used"] else "unused",
                plain(constant["name"] or ""),
            )
        _print(console, table)
    if len(shown) < len(items):
        console.print(f"  and {len(items) - len(shown)} more, see --values")


def _show_missing(console: Console, items: list[Facts]) -> None:
    """Shows the calls for which Ember has no kernel."""
    table = output.table("missing", ">instruction", "types", "remedy")
    for gap in items:
        types = plain(", ".join(gap["dtypes"]))
        where = str(gap["instruction"])
        table.add_row(plain(gap["op"]), where, types, plain(gap["remedy"]))
    _print(console, table)


def _show_data(console: Console, facts: Facts) -> None:
    states = facts["initial_states"]
    if states:
        total = sum(state["bytes"] for state in states)
        console.print(
            f"[bold]initial states[/]: {len(states)}, {counted(total, 'byte')}"
        )
    if facts["external_constants"]:
        table = output.table("external constant", "type", "shape", ">bytes")
        for item in facts["external_constants"]:
            name = plain(item["name"] or "-")
            table.add_row(name, item["dtype"], _shape(item), f"{item['bytes']:,}")
        _print(console, table)
    if facts["segments"]:
        table = output.table(">segment", ">offset", ">bytes", "use")
        for index, item in enumerate(facts["segments"]):
            use = plain(item["use"])
            table.add_row(str(index), f"{item['offset']:,}", f"{item['bytes']:,}", use)
        _print(console, table)
    if facts["named_data"]:
        table = output.table("named data", ">bytes")
        for item in facts["named_data"]:
            table.add_row(plain(item["key"]), f"{item['bytes']:,}")
        _print(console, table)


def _show_suites(console: Console, suites: list[Facts]) -> None:
    table = output.table("suite", ">case", "inputs", "expected outputs")
    for suite in suites:
        for index, case in enumerate(suite["cases"]):
            table.add_row(
                plain(suite["method"]),
                str(index),
                _brief(case["inputs"]),
                _brief(case["outputs"]),
            )
    _print(console, table)


def _brief(values: list[Facts]) -> str:
    return ", ".join(
        f"{value['dtype']}{_list(value['shape'])}"
        if value["kind"] == "Tensor"
        else _short(value["content"])
        for value in values
    )


def _show_entries(console: Console, entries: list[Facts]) -> None:
    table = output.table("key", "type", "shape", "dim order", ">bytes")
    for entry in entries:
        table.add_row(
            plain(entry["key"]),
            entry["dtype"] or "-",
            _shape(entry),
            _list(entry["dim_order"]) if entry["dim_order"] is not None else "-",
            f"{entry['bytes']:,}",
        )
    _print(console, table)
