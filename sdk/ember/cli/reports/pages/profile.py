"""A profile as JSON becomes one HTML page: where time, memory and code go.

Every number is one of `ember profile --json`. Each node has a section with its tensors
and their addresses, which a click on the node shows and which paper has at the end.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import Html, Number, nodes, plan, text

Facts = Mapping[str, Any]
_WIDTH, _HEIGHT = 1088, 60  # of the strip, in units of the picture
_MOST_NODES = 500  # with a row and a section; the costliest
_SLOW, _MATTERS = 0.1, 0.02  # of the core's limit; of the whole


def of(profile: Facts) -> str:
    """The page of a result of profile.to_json()."""
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
        *roofline(profile, kept, colors),
        *_memory(profile, sections),
        *_code(profile),
        *nodes.sections(profile, kept),
    ]
    return pages.page(f"{title}: profile", body)


def _strip(
    profile: Facts, colors: Mapping[str, int], sections: Collection[str]
) -> Iterator[str]:
    """Nodes in the order of the program, as wide as their cost."""
    whole = sum(nodes.cost(profile, row) for row in profile["nodes"]) or 1
    yield f"<h2>Where the {text(nodes.unit(profile))} go</h2>"
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
            f"node {nodes.place(row)}: {row['name']}{nodes.of_module(row)}",
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
    yield pages.legend(list(colors))


def _operators(profile: Facts, colors: Mapping[str, int]) -> str:
    code = (profile.get("details") or {}).get("code", {}).get("operators", {})
    columns = ["operator", ">nodes", *nodes.columns(profile), ">code, bytes", ""]
    rows = (
        (
            Html(pages.swatch(colors[row["name"]], row["name"])),
            len(row["nodes"]),
            *nodes.costs(profile, row),
            code.get(row["name"]),
            Html(_bar(row["share"])),
        )
        for row in profile["operators"]
    )
    keys = (f'data-key="{text(row["name"])}"' for row in profile["operators"])
    return pages.table("The costliest first", columns, rows, keys)


def _bar(share: float) -> str:
    return f'<span class="track"><i class="bar" style="width:{share:.1%}"></i></span>'


def _nodes(profile: Facts, kept: Sequence[Facts]) -> Iterator[str]:
    heads = ["module"] if any(row.get("module") for row in kept) else []
    columns = ["node", "operator", *heads]
    limits = nodes.least(profile)[: len(kept)]
    limited = any(limit is not None for limit in limits)
    if profile.get("details") is not None:
        yield "<p>Click a node to see its tensors and their addresses.</p>"
    if limited:
        columns.append(">of the limit")
        yield (
            "<p><i>Of the limit</i>: how near a node comes to what the core can do at"
            " best, by multiply-accumulates or by bytes, whichever takes longer.</p>"
        )
    columns += [*nodes.columns(profile), "kernel"]
    rows = (
        (
            Html(nodes.linked(profile, row, nodes.place(row))),
            row["name"],
            *(row[head] or "" for head in heads),
            *([_reached(row, nodes.reached(profile, row, limit))] if limited else []),
            *nodes.costs(profile, row),
            ", ".join(row["kernels"]),
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
        if not plan.inside(details, memory):
            continue
        peak = memory["peak"]
        moment = plan.moment(details, peak["instruction"])
        start = f" from {memory['address']:#x}" if memory["address"] else ""
        yield (
            f"<h2>Memory over time: {text(plan.named(memory))}</h2>"
            f"<p>{memory['bytes']:,} bytes{text(start)}. Most are in use at"
            f" {text(moment)}: {peak['bytes']:,}.</p>"
        )
        yield from plan.picture(details, memory, 0, sections)
        yield plan.tensor_rows(details, memory)


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


# ---- the roofline: work against bytes, under the core's limits -----------------------
#
# Across: multiply-accumulates for each byte of the node's tensors. Upwards: multiply-
# accumulates in a cycle, or in an instruction, which has no limit by bytes.


_LEFT, _TOP, _ACROSS, _UP = 84, 16, 1000, 320
_LOW = _TOP + _UP
_LARGEST = 16  # the radius of a node that is the whole


def roofline(
    profile: Facts, rows: Sequence[Facts], colors: Mapping[str, int]
) -> Iterator[str]:
    """Nothing if the core has no known limits or no node multiplies."""
    details = profile.get("details")
    per = "cycle" if nodes.unit(profile) == "cycles" else "instruction"
    rates = ((details or {}).get("roof") or {}).get(per)
    dots = [row for row in rows if row["macs"] and row["moved"]]
    dots = [row for row in dots if nodes.cost(profile, row)]
    if not rates or not dots:
        return
    chart = _Chart(profile, dots, rates)
    article = "an" if per == "instruction" else "a"
    yield "<h2>Roofline of the core</h2>"
    yield (
        "<p>Nodes that multiply: across, multiply-accumulates for a byte of their"
        f" tensors; upwards, in {article} {per}. The lines are what the core does at"
        " best; the area of a node is its cost.</p>"
    )
    yield (
        f'<div class="wide"><svg viewBox="0 0 {_LEFT + _ACROSS + 24} {_LOW + 40}"'
        f' role="group" aria-label="Roofline: multiply-accumulates in {article} {per}'
        ' by multiply-accumulates for a byte">'
    )
    yield from chart.axes(per)
    yield from chart.roofs()
    for row in dots:
        yield chart.dot(row, colors)
    yield "</svg></div>"
    yield pages.legend(list(colors))


class _Chart:
    """The picture; both axes are logarithmic."""

    def __init__(self, profile: Facts, dots: Sequence[Facts], rates: Facts) -> None:
        self.profile, self.rates = profile, rates
        x = [row["macs"] / row["moved"] for row in dots]
        y = [row["macs"] / nodes.cost(profile, row) for row in dots]
        peaks = rates["macs"].values()
        self.x = _decades(min(x), max([*x, *self._knees()]))
        self.y = _decades(min(y), max([*y, *peaks]))

    def _knees(self) -> list[float]:
        if "bytes" not in self.rates:
            return []
        return [rate / self.rates["bytes"] for rate in self.rates["macs"].values()]

    def place(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = self.x, self.y
        across = (math.log10(x) - left) / (right - left)
        upwards = (math.log10(y) - low) / (high - low)
        return _LEFT + across * _ACROSS, _LOW - upwards * _UP

    def axes(self, per: str) -> Iterator[str]:
        for power in range(self.x[0], self.x[1] + 1):
            x, _ = self.place(10.0**power, 10.0 ** self.y[0])
            yield (
                f'<line class="axis" x1="{x:g}" x2="{x:g}" y1="{_TOP}" y2="{_LOW}"/>'
                f'<text x="{x:g}" y="{_LOW + 16}" text-anchor="middle">{10.0**power:g}'
                "</text>"
            )
        for power in range(self.y[0], self.y[1] + 1):
            _, y = self.place(10.0 ** self.x[0], 10.0**power)
            yield (
                f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _ACROSS}" y1="{y:g}"'
                f' y2="{y:g}"/><text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">'
                f"{10.0**power:g}</text>"
            )
        yield (
            f'<text x="{_LEFT + _ACROSS / 2}" y="{_LOW + 34}" text-anchor="middle">'
            "MACs per byte</text>"
            f'<text x="{_LEFT}" y="{_TOP - 4}">MACs per {per}</text>'
        )

    def roofs(self) -> Iterator[str]:
        """A roof for each type, and the slopes of the slower memories."""
        right = 10.0 ** self.x[1]
        for kind, peak in sorted(self.rates["macs"].items(), key=lambda item: item[1]):
            x, y = self.place(right, peak)
            start = 10.0 ** self.x[0]
            if "bytes" in self.rates:
                start = max(start, peak / self.rates["bytes"])
            begin, _ = self.place(start, peak)
            yield (
                f'<line class="roof" x1="{begin:.1f}" x2="{x:.1f}" y1="{y:.1f}"'
                f' y2="{y:.1f}"/><text x="{x:.1f}" y="{y - 4:.1f}" text-anchor="end">'
                f"{text(kind)}: {peak:g}</text>"
            )
        if "bytes" in self.rates:
            yield self._slope(self.rates["bytes"], "the core", "roof")
            for rate, names in sorted(self._slower().items(), reverse=True):
                yield self._slope(rate, ", ".join(names), "roof slow")

    def _slower(self) -> dict[float, list[str]]:
        """Memories with tensors that make the core wait."""
        slower: dict[float, list[str]] = {}
        values = self.profile["details"]["values"].values()
        used = {value["memory"] for value in values}
        for name, rate in self.rates["memories"].items():
            if name in used and rate < self.rates["bytes"]:
                slower.setdefault(rate, []).append(name)
        return slower

    def _slope(self, rate: float, name: str, kind: str) -> str:
        """Bytes per cycle as a line, within the picture."""
        low, high = 10.0 ** self.y[0], max(self.rates["macs"].values())
        first = max(10.0 ** self.x[0], low / rate)
        last = min(10.0 ** self.x[1], high / rate)
        if first >= last:
            return ""
        (x1, y1), (x2, y2) = (
            self.place(first, first * rate),
            self.place(last, last * rate),
        )
        return (
            f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}"'
            f' y2="{y2:.1f}"/><text x="{x1 + 6:.1f}" y="{y1 - 6:.1f}">{text(name)}:'
            f" {rate:.3g} bytes</text>"
        )

    def dot(self, row: Facts, colors: Mapping[str, int]) -> str:
        cost = nodes.cost(self.profile, row)
        x, y = self.place(row["macs"] / row["moved"], row["macs"] / cost)
        node = nodes.identity(row)
        tip = pages.tip(
            f"node {nodes.place(row)}: {row['name']}",
            f"{row['macs'] / cost:.3g} MACs per {nodes.one(nodes.unit(self.profile))}",
            f"{row['macs'] / row['moved']:.3g} MACs per byte",
        )
        radius = max(3.0, _LARGEST * math.sqrt(row["share"]))
        return (
            f'<a href="#{node}"><circle class="dot" data-node="{node}"'
            f' data-key="{node}" data-group="{text(row["name"])}"'
            f' style="{pages.hue(colors[row["name"]])}"'
            f' cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {tip}/></a>'
        )


def _decades(least: float, most: float) -> tuple[int, int]:
    """Powers of ten around two numbers."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return low, max(high, low + 1)
