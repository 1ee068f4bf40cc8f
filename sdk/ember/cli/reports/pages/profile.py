"""A profile as JSON becomes one HTML page: where the time, the memory and the code go.

Every number is one of `ember profile --json`. Each node has a section with the places
of its tensors, which a click on the node shows and which paper has at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import Html, Number, nodes, occupancy, roofline, text

Facts = Mapping[str, Any]
_WIDTH, _HEIGHT = 1088, 60  # of the strip, in units of the picture
_MOST_NODES = 500  # with a row and a section; the costliest
_SLOW, _MATTERS = 0.1, 0.02  # of the core's limit; of the whole


def of(profile: Facts) -> str:
    """The page of what profile.to_json() returned."""
    title = f"{profile['model']} on {profile['board']}"
    kept = profile["nodes"][:_MOST_NODES]
    sections = {nodes.identity(row) for row in kept}
    colors = nodes.colors(profile)
    body = [
        f'<h1 id="top">{text(title)}: profile</h1>',
        pages.facts(nodes.totals(profile)),
        *_strip(profile, colors, sections),
        "<h2>Operators</h2>",
        _operators(profile, colors),
        "<h2>Nodes</h2>",
        *_nodes(profile, kept),
        *roofline.of(profile, kept, colors),
        *_memory(profile, sections),
        *_code(profile),
        *nodes.sections(profile, kept),
    ]
    return pages.page(f"{title}: profile", body)


def _strip(
    profile: Facts, colors: Mapping[str, int], sections: Collection[str]
) -> Iterator[str]:
    """Nodes in the order of the program, as wide as they are costly."""
    whole = sum(nodes.cost(profile, row) for row in profile["nodes"]) or 1
    yield f"<h2>Where the {nodes.unit(profile)} go</h2>"
    yield (
        f'<div class="wide"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group"'
        ' aria-label="Nodes in the order of the program, as wide as they are costly">'
    )
    at = 0.0
    ordered = sorted(profile["nodes"], key=nodes.order)
    for row in ordered:
        cost = nodes.cost(profile, row)
        width = cost / whole * _WIDTH
        name = (
            row["name"].rpartition(" ")[2] if row["inside"] is not None else row["name"]
        )
        label = pages.fitting(pages.short(name), width)
        node = nodes.identity(row)
        tip = pages.tip(
            f"node {nodes.place(row)}: {row['name']}",
            f"{cost:,} {nodes.unit(profile)}, {cost / whole:.1%}",
        )
        block = (
            f'<rect class="block" data-node="{node}" data-key="{node}"'
            f' data-group="{text(row["name"])}"'
            f' style="{pages.hue(colors[row["name"]])}"'
            f' x="{at:.2f}" y="2" width="{width:.2f}" height="36" {tip}/>'
        )
        if label:
            block += (
                f'<text class="label" x="{at + width / 2:.2f}" y="24"'
                f' text-anchor="middle">{text(label)}</text>'
            )
        yield nodes.linked(profile, row, block) if node in sections else block
        at += width
    yield f'<text x="0" y="54">first node</text><text x="{_WIDTH}" y="54"'
    yield ' text-anchor="end">last node</text></svg></div>'


def _operators(profile: Facts, colors: Mapping[str, int]) -> str:
    code = (profile.get("details") or {}).get("code", {}).get("operators", {})
    columns = ["operator", ">nodes", *nodes.columns(profile), ">code, bytes", ""]
    rows = (
        (
            Html(_swatch(row["name"], colors)),
            len(row["nodes"]),
            *nodes.costs(profile, row),
            code.get(row["name"]),
            Html(_bar(row["share"])),
        )
        for row in profile["operators"]
    )
    keys = (f'data-key="{text(row["name"])}"' for row in profile["operators"])
    return pages.table("The costliest first", columns, rows, keys)


def _swatch(name: str, colors: Mapping[str, int]) -> str:
    swatch = f'<i class="swatch" style="{pages.hue(colors[name])}"></i>'
    return f'<span class="named">{swatch}{text(name)}</span>'


def _bar(share: float) -> str:
    return f'<span class="track"><i class="bar" style="width:{share:.1%}"></i></span>'


def _nodes(profile: Facts, kept: Sequence[Facts]) -> Iterator[str]:
    columns = ["node", "operator", "kernel", *nodes.columns(profile)]
    limits = nodes.least(profile)[: len(kept)]
    limited = any(limit is not None for limit in limits)
    if profile.get("details") is not None:
        yield "<p>A click on a node shows where its tensors lie.</p>"
    if limited:
        columns.append(">of the limit")
        yield (
            "<p><i>Of the limit</i>: how near a node comes to what the core can do at"
            " best, by multiply-accumulates or by bytes, whichever takes longer.</p>"
        )
    rows = (
        (
            Html(nodes.linked(profile, row, nodes.place(row))),
            row["name"],
            ", ".join(row["kernels"]),
            *nodes.costs(profile, row),
            *([_reached(row, nodes.reached(profile, row, limit))] if limited else []),
        )
        for row, limit in zip(kept, limits, strict=True)
    )
    keys = (
        f'data-key="{(i := nodes.identity(row))}" data-node="{i}"'
        f' data-group="{text(row["name"])}"'
        for row in kept
    )
    yield pages.table("The costliest first", columns, rows, keys)
    left = len(profile["nodes"]) - len(kept)
    if left:
        yield f"<p>{left:,} cheaper nodes are not listed.</p>"


def _reached(row: Facts, share: float | None) -> Number | None:
    if share is None:
        return None
    shown = f"{share:.1%}"
    if share < _SLOW and row["share"] >= _MATTERS:
        return Number(share, f"slow: {shown}", "bad")
    return Number(share, shown)


# ---- memory, code --------------------------------------------------------------------


def _memory(profile: Facts, sections: Collection[str]) -> Iterator[str]:
    details = profile.get("details")
    if not details:
        return
    if any(value["kind"] == "planned" for value in details["values"].values()) and (
        not details["memories"]
    ):
        yield (
            "<h2>Memory over time</h2><p>Not drawn: layers run row by row, and rows of"
            " outputs lie over those of inputs.</p>"
        )
    for memory in details["memories"]:
        if not occupancy.inside(details, memory):
            continue
        peak = memory["peak"]
        moment = occupancy.moment(details, peak["instruction"])
        where = f" in {memory['memory']}" if memory["memory"] else ""
        start = f" from {memory['address']:#x}" if memory["address"] else ""
        yield (
            f"<h2>Memory over time: planned memory {memory['id']}{text(where)}</h2>"
            f"<p>{memory['bytes']:,} bytes{text(start)}. Most are in use at"
            f" {text(moment)}: {peak['bytes']:,}.</p>"
        )
        yield from occupancy.picture(details, memory, 0, sections)
        yield occupancy.rows(details, memory)


def _code(profile: Facts) -> Iterator[str]:
    code = (profile.get("details") or {}).get("code") or {}
    captions = {
        "operators": "Kernels of operators",
        "engines": "What several kernels share",
        "libraries": "The whole firmware but the model",
    }
    if code:
        yield "<h2>Code</h2>"
    for group, caption in captions.items():
        parts = code.get(group, {})
        largest = max(parts.values(), default=0) or 1
        if parts:
            yield pages.table(
                f"{caption}: {sum(parts.values()):,} bytes of flash",
                ("", ">bytes", ""),
                (
                    (name, size, Html(_bar(size / largest)))
                    for name, size in parts.items()
                ),
                (f'data-key="{text(name)}"' for name in parts),
            )
