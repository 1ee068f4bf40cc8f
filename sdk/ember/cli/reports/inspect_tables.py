"""What `ember inspect` found in a file -> tables on the console."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ember import output
from ember.model.describe import Facts
from ember.output import counted, plain

_ENDS, _MOST_ENDS = ("inputs", "outputs"), 2  # of a node
_MOST_ROWS = 20  # of constants and tensors, unless every value was asked for


def show(console: Console, facts: Facts, *, all_rows: bool) -> None:
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
    """The table, unless it is empty, with an empty line before it."""
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
    """A node, and below it what runs it, if that is known."""
    table = output.table(">node", f"of delegate {index}")
    for number, node in enumerate(nodes):
        inputs, outputs = (" ".join(node[k][:_MOST_ENDS]) for k in _ENDS)  # no bias
        lines = [f"{node['kind']} {inputs} -> {outputs}"]
        if "kernel" in node:
            variant = f"{node['variant']}: " if node["variant"] else ""
            lines.append(f"  {variant}{node['kernel']} ({node['why']})")
        table.add_row(str(number), "\n".join(map(plain, lines)))
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
    table = output.table(">instruction", "kind", "name", "arguments")
    for item in facts["instructions"]:
        arguments = " ".join(str(index) for index in item["args"])
        if "target" in item:
            arguments += f" -> {item['target']}"
        name = plain(item.get("name", "-"))
        table.add_row(str(item["index"]), item["kind"], name, arguments)
    _print(console, table)


def _show_constants(console: Console, facts: Facts, all_rows: bool) -> None:
    constants = facts["constants"]
    console.print(
        f"\n[bold]constants[/]: {constants['count']},"
        f" {counted(constants['bytes'], 'byte')}"
        f"{' inside the FlatBuffer' if constants['inline'] else ''};"
        f" no instruction uses {constants['unused_count']} of them"
        f" ({counted(constants['unused_bytes'], 'byte')})"
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
    """Calls that Ember has no kernel for."""
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
