"""Nodes of a profile: how a page names, counts and describes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import plan, text

Facts = Mapping[str, Any]


def in_cycles(profile: Facts) -> bool:
    return profile["execute_board_cycles"] is not None


def unit(profile: Facts) -> str:
    """The unit of costs: cycles if they are estimated or counted, else instructions."""
    return "cycles" if in_cycles(profile) else str(profile["unit"])


def one(unit: str) -> str:
    """The unit in the singular."""
    return unit.removesuffix("s")


def cost(profile: Facts, row: Facts) -> int:
    """The cost of a node or an operator, in that unit."""
    cycles: int | None = row["board_cycles"] if in_cycles(profile) else None
    return int(row["instructions"]) if cycles is None else cycles


def least(profile: Facts) -> Sequence[float | None]:
    """For each node the least that the core can need."""
    details = profile.get("details")
    return details["least"] if details else [None] * len(profile["nodes"])


def reached(profile: Facts, row: Facts, limit: float | None) -> float | None:
    """How near a node comes to the limit; None: unknown, or without cost."""
    if limit is None or not cost(profile, row):
        return None
    return min(1.0, limit / cost(profile, row))


def colors(profile: Facts) -> dict[str, int]:
    """A number for each operator, which gives its colour."""
    return {row["name"]: number for number, row in enumerate(profile["operators"])}


def order(row: Facts) -> tuple[int, int]:
    """Sorts as the program does; nodes inside a delegate precede the rest of it."""
    inside = row["inside"]
    return row["nodes"][0], (1 << 30) if inside is None else inside


def place(row: Facts) -> str:
    """The place of a node: its instruction, and its index inside a delegate."""
    index, inside = row["nodes"][0], row["inside"]
    return str(index) if inside is None else f"{index}.{inside}"


def short(row: Facts) -> str:
    """The operator of a node; inside a delegate without the delegate's name."""
    name: str = row["name"]
    return name.rpartition(" ")[2] if row["inside"] is not None else pages.short(name)


def of_module(row: Facts) -> str:
    """Behind the operator: the module of the model that a node comes from."""
    return f" of {row['module']}" if row.get("module") else ""


def identity(row: Facts) -> str:
    """The id of its section."""
    return f"n{place(row).replace('.', '-')}"


def linked(profile: Facts, row: Facts, markup: str) -> str:
    """Markup that links to the section of a node, if there is one."""
    if profile.get("details") is None:
        return markup
    return f'<a href="#{identity(row)}">{markup}</a>'


def totals(profile: Facts) -> dict[str, str]:
    """The figures of the whole run, by name."""
    named = {
        "board": profile["board"],
        f"{profile['unit']}, execute": profile["execute"],
        f"{profile['unit']}, load": profile["load"],
        "cycles, estimated, zero wait states": profile["execute_cycles"],
        "cycles, estimated, with the board's memories": profile["execute_board_cycles"],
    }
    return {
        name: f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in named.items()
        if value is not None
    }


# ---- tables --------------------------------------------------------------------------


def columns(profile: Facts) -> list[str]:
    """The column heads of costs()."""
    rate = f">MACs per {one(profile['unit'])}"
    estimated = [">cycles", ">cycles here"] if in_cycles(profile) else []
    work = [">MACs", rate] if _multiplies(profile) else []
    return [">share", f">{profile['unit']}", *estimated, *work, ">bytes"]


def _multiplies(profile: Facts) -> bool:
    return any(row["macs"] for row in profile["operators"])


def costs(profile: Facts, row: Facts) -> list[object]:
    estimated = [row["cycles"], row["board_cycles"]] if in_cycles(profile) else []
    work = [row["macs"] or None, row["macs_per_instruction"]]
    return [
        pages.share(row["share"]),
        row["instructions"],
        *estimated,
        *(work if _multiplies(profile) else []),
        row["moved"],
    ]


# ---- one node ------------------------------------------------------------------------


def sections(profile: Facts, rows: Sequence[Facts]) -> Iterator[str]:
    """The sections that a click shows, in the order of the program."""
    details = profile.get("details")
    if details is None:
        return
    yield '<h2 class="paper">Nodes and the places of their tensors</h2>'
    keys = {
        str(value): plan.key(0, tensor)
        for tensor in details["tensors"]
        for value in tensor["values"]
    }
    limits = {identity(r): n for r, n in zip(rows, least(profile), strict=False)}
    for row in sorted(rows, key=order):
        kernel = f", {', '.join(row['kernels'])}" if row["kernels"] else ""
        yield (
            f'<section class="details" id="{identity(row)}">'
            '<a class="close" href="#">close</a>'
            f"<h3>Node {place(row)}: {text(row['name'])}{text(of_module(row))}"
            f"{text(kernel)}</h3>"
        )
        yield pages.facts(_costs(profile, row, limits[identity(row)]))
        yield _tensors(details, row, keys)
        yield "</section>"


def _costs(profile: Facts, row: Facts, limit: float | None) -> dict[str, str]:
    share = reached(profile, row, limit)
    figures = {
        str(profile["unit"]): row["instructions"],
        "cycles": row["cycles"],
        "cycles here": row["board_cycles"],
        f"{unit(profile)} at best": None if limit is None else round(limit),
        "MACs": row["macs"] or None,
        "bytes of tensors": row["moved"],
    }
    shown = {name: f"{n:,}" for name, n in figures.items() if n is not None}
    if share is not None:
        shown["of the limit"] = f"{share:.1%}"
    return shown


def _tensors(details: Facts, row: Facts, keys: Mapping[str, str]) -> str:
    """The tensors that a node reads and writes; `keys` name blocks of a picture."""
    node = details["nodes"][row["nodes"][0]]
    uses = [(v, "reads") for v in node["reads"] if v not in node["writes"]]
    uses += [(v, "updates" if v in node["reads"] else "writes") for v in node["writes"]]
    values = details["values"]
    known = [(v, u) for v, u in uses if str(v) in values and values[str(v)]["bytes"]]
    scratch = f"; {node['scratch']:,} bytes of scratch" if node["scratch"] else ""
    return pages.table(
        f"Tensors{' of the delegate' if row['inside'] is not None else ''}{scratch}",
        ("", "argument", ">bytes", "memory", ">offset", "address", "tensor", "type"),
        (_tensor(details, node, value, use) for value, use in known),
        (f'data-key="{keys.get(str(value), "")}"' for value, _ in known),
    )


def _tensor(details: Facts, node: Facts, value: int, use: str) -> tuple[object, ...]:
    tensor = details["values"][str(value)]
    memory = tensor["memory"] or "the caller's"
    if tensor["kind"] != "planned":
        memory += f", {tensor['kind']}"
    address = "" if tensor["address"] is None else f"{tensor['address']:#010x}"
    return (
        use,
        node["arguments"].get(str(value), ""),
        tensor["bytes"],
        memory,
        tensor["offset"],
        address,
        "" if tensor["name"] == f"value {value}" else tensor["name"],
        tensor["type"],
    )
