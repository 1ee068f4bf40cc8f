"""Nodes of a profile become a roofline: work against bytes, under the core's limits.

Across: multiply-accumulates for each byte of the node's tensors. Upwards: multiply-
accumulates in a cycle, or in an instruction, which has no limit by bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import nodes, text

Facts = Mapping[str, Any]
_LEFT, _TOP, _WIDTH, _HEIGHT = 84, 16, 1000, 320
_LOW = _TOP + _HEIGHT
_LARGEST = 16  # the radius of a node that is the whole


def of(
    profile: Facts, rows: Sequence[Facts], colors: Mapping[str, int]
) -> Iterator[str]:
    """Nothing, where no limits of the core are known or no node multiplies."""
    details = profile.get("details")
    per = "cycle" if nodes.unit(profile) == "cycles" else "instruction"
    rates = ((details or {}).get("roof") or {}).get(per)
    dots = [row for row in rows if row["macs"] and row["moved"]]
    dots = [row for row in dots if nodes.cost(profile, row)]
    if not rates or not dots:
        return
    chart = _Chart(profile, dots, rates)
    yield "<h2>Roofline of the core</h2>"
    yield (
        f"<p>Nodes that multiply: as far right as they have multiply-accumulates for a"
        f" byte of their tensors, as high as they have in {_one(per)} {per}. The lines"
        " are what the core does at best; the area of a node is its cost.</p>"
    )
    yield (
        f'<div class="wide"><svg viewBox="0 0 {_LEFT + _WIDTH + 24} {_LOW + 40}"'
        f' role="group" aria-label="Roofline: multiply-accumulates in {_one(per)} {per}'
        ' by multiply-accumulates for a byte">'
    )
    yield from chart.axes(per)
    yield from chart.roofs()
    for row in dots:
        yield chart.dot(row, colors)
    yield "</svg></div>"


def _one(per: str) -> str:
    return "an" if per == "instruction" else "a"


class _Chart:
    """Both axes are logarithmic."""

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
        return _LEFT + across * _WIDTH, _LOW - upwards * _HEIGHT

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
                f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:g}"'
                f' y2="{y:g}"/><text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">'
                f"{10.0**power:g}</text>"
            )
        yield (
            f'<text x="{_LEFT + _WIDTH / 2}" y="{_LOW + 34}" text-anchor="middle">MACs'
            f' per byte</text><text x="4" y="{_TOP - 4}">MACs per {per}'
            "</text>"
        )

    def roofs(self) -> Iterator[str]:
        """A roof for each type; the slopes of the memories that are slower as well."""
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
        """Memories with tensors that let the core wait."""
        slower: dict[float, list[str]] = {}
        values = self.profile["details"]["values"].values()
        used = {value["memory"] for value in values}
        for name, rate in self.rates["memories"].items():
            if name in used and rate < self.rates["bytes"]:
                slower.setdefault(rate, []).append(name)
        return slower

    def _slope(self, rate: float, name: str, kind: str) -> str:
        """Bytes in a cycle as a line, within the picture."""
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
