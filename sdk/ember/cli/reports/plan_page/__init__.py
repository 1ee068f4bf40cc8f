"""An answer of `ember plan` becomes one HTML page: time across, addresses upwards.

The page needs no network and no other file, and follows the reader's light or dark
setting. A tensor is a rectangle: while it is alive, where it lies. Under the pointer it
says its name, size, offset and life.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ember.plan import copies

_WIDTH, _HEIGHT = 1000, 320  # of the area for tensors, in units of the picture
_LEFT, _TOP, _BOTTOM = 84, 12, 28
_GOLDEN = 137.5  # degrees: neighbours get unlike hues
_LARGEST = 20  # rows

_FOLDER = Path(__file__).parent


def of(facts: Mapping[str, Any], names: str) -> str:
    """The page for models with these names."""
    title = f"{names} on {facts['board']}"
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    body = [f"<h1>{_text(title)}: {_verdict(facts)}</h1>", *_refusal(facts)]
    if "memories" in facts:
        body.append(_memories(facts["memories"]))
    body += _copies(facts.get("copies", ()))
    for method in facts["methods"]:
        body += _method(method)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
            " style-src 'unsafe-inline'; script-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width">',
            f"<title>{_text(title)}</title><style>{style}</style></head><body>",
            *body,
            f'<div id="tip" hidden></div><script>{script}</script></body></html>',
            "",
        ]
    )


def _text(words: object) -> str:
    """Any text, safe in a page."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in str(words)))


def _verdict(facts: Mapping[str, Any]) -> str:
    if not facts["fits"]:
        return f'<span class="bad">{facts["over"]:,} bytes too many</span>'
    return "fits" if facts["resolved"] else "fits, as far as known"


def _refusal(facts: Mapping[str, Any]) -> Iterator[str]:
    if not facts["resolved"]:
        yield f'<p class="bad">{_text(facts["reason"])}</p>'
    for shortage in facts.get("shortages", ()):
        yield (
            f'<p class="bad">Memory {_text(shortage["memory"])} needs'
            f" {shortage['needed']:,} bytes, {shortage['over']:,} more than it has:"
            f" {_pieces(shortage['pieces'])}.</p>"
        )
    if facts.get("assumed"):
        stack, reason = facts["assumed"]["stack"], facts["assumed"]["reason"]
        yield (
            f'<p class="bad">Without code, and with an assumed stack of {stack:,}'
            f" bytes: {_text(reason)}</p>"
        )
    if "boards_that_fit" in facts:
        fitting = ", ".join(facts["boards_that_fit"]) or "none"
        yield f"<p>Boards with enough memory: {_text(fitting)}.</p>"


def _pieces(pieces: Mapping[str, int]) -> str:
    return ", ".join(f"{_text(name)} {size:,}" for name, size in pieces.items())


def _memories(memories: Iterable[Mapping[str, Any]]) -> str:
    rows = (
        (
            memory["name"],
            memory["used"],
            memory["capacity"],
            f"{memory['used'] / memory['capacity']:.1%}",
        )
        for memory in memories
    )
    return _table("Memories of the board", ("memory", "used", "capacity", "full"), rows)


def _copies(copied: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if copied:
        yield f"<p>{_text(copies.summary(copied))}; {_text(copies.remedy(copied))}</p>"
        yield _table("Copies of constants", copies.COLUMNS, copies.rows(copied))


def _table(
    caption: str, columns: Iterable[str], rows: Iterable[Iterable[object]]
) -> str:
    head = "".join(f"<th>{column}</th>" for column in columns)
    lines = [f"<table><caption>{caption}</caption><tr>{head}</tr>"]
    for row in rows:
        cells = (
            f'<td class="number">{cell:,}</td>'
            if isinstance(cell, int)
            else f"<td>{_text(cell)}</td>"
            for cell in row
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


# ---- pictures ------------------------------------------------------------------------


def _method(method: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{_text(method['model'])}, {_text(method['method'])}</h2>"
    for memory in method["memories"]:
        inside = [
            tensor
            for tensor in method["tensors"]
            if tensor["memory"] == memory["id"] and tensor["bytes"] > 0
        ]
        if inside:
            peak = memory["peak"]
            yield (
                f"<p>Planned memory {memory['id']}: {memory['bytes']:,} bytes. Most"
                f" are in use at {_text(_moment(method, peak['instruction']))}:"
                f" {peak['bytes']:,}.</p>"
            )
            yield from _picture(method, memory, inside)
            yield _largest(inside)


def _moment(method: Mapping[str, Any], index: int) -> str:
    if index < 0:
        return "the entry"
    if index >= len(method["instructions"]):
        return "the exit"
    return f"instruction {index}, {method['instructions'][index]}"


def _picture(
    method: Mapping[str, Any],
    memory: Mapping[str, Any],
    inside: list[Mapping[str, Any]],
) -> Iterator[str]:
    steps = len(method["instructions"]) + 2  # with entry and exit
    across = _WIDTH / steps
    upwards = _HEIGHT / max(memory["bytes"], 1)
    low = _TOP + _HEIGHT
    yield (
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + 4} {low + _BOTTOM}" role="img"'
        f' aria-label="Planned memory {memory["id"]}: tensors by time and address">'
    )
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = low - share * _HEIGHT
        yield (
            f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:g}"'
            f' y2="{y:g}"/><text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">'
            f"{round(share * memory['bytes']):,}</text>"
        )
    for number, tensor in enumerate(inside):
        kind = "tensor state" if tensor["state"] else "tensor"
        for first, last in tensor["alive"]:
            yield (
                f'<rect class="{kind}" style="--hue:{number * _GOLDEN % 360:g}"'
                f' x="{_LEFT + (first + 1) * across:.2f}"'
                f' y="{low - (tensor["offset"] + tensor["bytes"]) * upwards:.2f}"'
                f' width="{(last - first + 1) * across:.2f}"'
                f' height="{tensor["bytes"] * upwards:.2f}"'
                f' data-tip="{_tip(method, tensor, first, last)}"/>'
            )
    yield _curve(inside, steps, across, upwards, low)
    yield (
        f'<text x="{_LEFT}" y="{low + 18}">entry</text>'
        f'<text x="{_LEFT + _WIDTH}" y="{low + 18}" text-anchor="end">exit, after'
        f" {steps - 2} instructions</text></svg>"
    )


def _tip(
    method: Mapping[str, Any], tensor: Mapping[str, Any], first: int, last: int
) -> str:
    life = f"from {_moment(method, first)}\nto {_moment(method, last)}"
    lines = (
        tensor["name"],
        tensor["type"],
        f"{tensor['bytes']:,} bytes at {tensor['offset']:,}",
    )
    return "&#10;".join(_text(line) for line in (*lines, *life.split("\n")))


def _curve(
    inside: Iterable[Mapping[str, Any]],
    steps: int,
    across: float,
    upwards: float,
    low: float,
) -> str:
    """Bytes that are alive, over time."""
    alive = [0] * (steps + 1)
    for tensor in inside:
        for first, last in tensor["alive"]:
            alive[first + 1] += tensor["bytes"]
            alive[last + 2] -= tensor["bytes"]
    points = []
    total = 0
    for step, change in enumerate(alive[:steps]):
        total += change
        y = low - total * upwards
        for x in (step, step + 1):
            points.append(f"{_LEFT + x * across:.2f},{y:.2f}")
    return f'<polyline class="alive" points="{" ".join(points)}"/>'


def _largest(inside: Iterable[Mapping[str, Any]]) -> str:
    ordered = sorted(inside, key=lambda tensor: -tensor["bytes"])[:_LARGEST]
    rows = (
        (tensor["name"], tensor["type"], tensor["bytes"], tensor["offset"])
        for tensor in ordered
    )
    return _table("Largest tensors", ("tensor", "type", "bytes", "offset"), rows)
