"""An answer of `ember plan` becomes one HTML page: time across, addresses upwards.

The page needs no network and no other file, and follows the reader's light or dark
setting. A tensor is a rectangle at its addresses, as wide as its lifetime. Under the
pointer it shows its name, size, offset and lifetime.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import Html, text
from ember.plan import placements


def of(facts: Mapping[str, Any], names: str) -> str:
    """The page for models with these names."""
    title = f"{names} on {facts['board']}"
    body = [f"<h1>{text(title)}: {_verdict(facts)}</h1>", *_refusal(facts)]
    if "memories" in facts:
        body.append(_memories(facts["memories"]))
    body += _copies(facts.get("copies", ()))
    for number, method in enumerate(facts["methods"]):
        body += _method(number, method)
    return pages.page(title, body)


def _verdict(facts: Mapping[str, Any]) -> str:
    if not facts["fits"]:
        return f'<span class="bad">{facts["over"]:,} bytes too many</span>'
    return "fits" if facts["resolved"] else "fits, as far as known"


def _refusal(facts: Mapping[str, Any]) -> Iterator[str]:
    if not facts["resolved"]:
        yield f'<p class="bad">{text(facts["reason"])}</p>'
    for shortage in facts.get("shortages", ()):
        yield (
            f'<p class="bad">Memory {text(shortage["memory"])} needs'
            f" {shortage['needed']:,} bytes, {shortage['over']:,} more than it has:"
            f" {_pieces(shortage['pieces'])}.</p>"
        )
    if facts.get("assumed"):
        stack, reason = facts["assumed"]["stack"], facts["assumed"]["reason"]
        yield (
            f'<p class="bad">Without code, and with an assumed stack of {stack:,}'
            f" bytes: {text(reason)}</p>"
        )
    if "boards_that_fit" in facts:
        fitting = ", ".join(facts["boards_that_fit"]) or "none"
        yield f"<p>Boards with enough memory: {text(fitting)}.</p>"


def _pieces(pieces: Mapping[str, int]) -> str:
    return ", ".join(f"{text(name)} {size:,}" for name, size in pieces.items())


def _memories(memories: Iterable[Mapping[str, Any]]) -> str:
    rows = (
        (
            memory["name"],
            memory["used"],
            memory["capacity"],
            pages.share(memory["used"] / memory["capacity"]),
        )
        for memory in memories
    )
    return pages.table(
        "Memories of the board", ("memory", ">used", ">capacity", ">full"), rows
    )


def _copies(copied: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if copied:
        summary, remedy = (
            placements.copy_summary(copied),
            placements.copy_remedy(copied),
        )
        yield f"<p>{text(summary)}; {text(remedy)}</p>"
        yield pages.table(
            "Copies of constants", placements.COPY_COLUMNS, placements.copy_rows(copied)
        )


# ---- pictures ------------------------------------------------------------------------


def _method(number: int, method: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{text(method['model'])}, {text(method['method'])}</h2>"
    for memory in method["memories"]:
        if inside(method, memory):
            peak = memory["peak"]
            peak_moment = moment(method, peak["instruction"])
            yield (
                f"<p>{text(named(memory, 'Planned'))}: {memory['bytes']:,} bytes."
                f" Most are in use at {text(peak_moment)}: {peak['bytes']:,}.</p>"
            )
            yield from picture(method, memory, number)
            yield tensor_rows(method, memory, number)


# ---- the picture of a planned memory -------------------------------------------------


_WIDTH, _HEIGHT = 1000, 320  # of the area for tensors, in units of the picture
_LEFT, _TOP, _BOTTOM = 84, 12, 40
_LOW = _TOP + _HEIGHT
_MOST_ROWS = 200
_MOST_TIMES = 4  # the planned bytes: a capacity that is drawn
_LINE = 13  # units: the least height of a label
Facts = Mapping[str, Any]


def inside(method: Facts, memory: Facts) -> list[Facts]:
    """The tensors of a planned memory that have bytes."""
    return [
        tensor
        for tensor in method["tensors"]
        if tensor["memory"] == memory["id"] and tensor["bytes"] > 0
    ]


def named(memory: Facts, planned: str = "planned") -> str:
    """A planned memory by its number and, if known, the board's memory."""
    where = memory.get("memory")
    return f"{planned} memory {memory['id']}{f' in {where}' if where else ''}"


def moment(method: Facts, index: int) -> str:
    if index < 0:
        return "the entry"
    if index >= len(method["instructions"]):
        return "the exit"
    module = method.get("modules", [None] * (index + 1))[index]
    of = f" of {module}" if module else ""
    return f"instruction {index}, {method['instructions'][index]}{of}"


def key(number: int, tensor: Facts) -> str:
    """The key of a tensor of the page's number-th method."""
    return f"t{number}-{tensor['memory']}-{'-'.join(map(str, tensor['values']))}"


def picture(
    method: Facts, memory: Facts, number: int = 0, sections: Collection[str] = ()
) -> Iterator[str]:
    """The picture as HTML. A click on an instruction shows its section `n<index>`, if
    that is one of `sections`."""
    tensors = inside(method, memory)
    steps = len(method["instructions"]) + 2  # with entry and exit
    size, capacity = max(memory["bytes"], 1), memory.get("capacity")
    height = capacity if capacity and size < capacity <= _MOST_TIMES * size else size
    across, upwards = _WIDTH / steps, _HEIGHT / height
    yield (
        f'<div class="wide"><svg viewBox="0 -8 {_LEFT + _WIDTH + 4}'
        f' {_LOW + _BOTTOM + 8}" role="group"'
        f' aria-label="{pages.text(named(memory))}: tensors by time and address">'
    )
    yield from _axes(height, steps, upwards, across)
    yield from _columns(method, across, sections)
    for index, tensor in enumerate(tensors):
        for first, last in tensor["alive"]:
            life, scale = (first, last), (across, upwards)
            block = _block(method, tensor, life, scale, index, number)
            linked = f"n{first}" in sections  # what made it
            yield f'<a href="#n{first}">{block}</a>' if linked else block
    yield _curve(memory["alive"], across, upwards)
    if capacity:
        yield _capacity(memory["memory"], capacity, size, upwards)
    yield "</svg></div>"
    yield (
        '<p class="faint">Each tensor has the colour that it has in the table, state'
        " is grey; the line is what is in use.</p>"
    )


def _capacity(name: str, capacity: int, size: int, upwards: float) -> str:
    """A line at the end of the board's memory, or words if it is far above."""
    words = f"{name}: {capacity:,} bytes"
    y = _LOW - capacity * upwards
    if y < _TOP - 1:
        words += f", {capacity / size:,.0f} times as many as planned here"
    line = (
        f'<line class="capacity" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:g}"'
        f' y2="{y:g}"/>'
        if y >= _TOP - 1
        else ""
    )
    return (
        f'{line}<text x="{_LEFT + _WIDTH}" y="{max(y, _TOP) - 4:g}"'
        f' text-anchor="end">{pages.text(words)}</text>'
    )


def _axes(size: int, steps: int, upwards: float, across: float) -> Iterator[str]:
    counts = pages.ticks(size, binary=True)
    if (size - counts[-1]) * upwards > _LINE:
        counts.append(size)
    for count in counts:
        y = _LOW - count * upwards
        yield (
            f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:g}"'
            f' y2="{y:g}"/><text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">'
            f"{count:,}</text>"
        )
    for index in pages.ticks(steps - 3, 12):
        x = _LEFT + (index + 1.5) * across
        yield (
            f'<line class="axis" x1="{x:g}" x2="{x:g}" y1="{_LOW}" y2="{_LOW + 5}"/>'
            f'<text x="{x:g}" y="{_LOW + 17}" text-anchor="middle">{index}</text>'
        )
    yield (
        f'<text x="{_LEFT}" y="{_LOW + 33}">entry</text>'
        f'<text x="{_LEFT + _WIDTH / 2}" y="{_LOW + 33}" text-anchor="middle">'
        f'instruction</text><text x="{_LEFT + _WIDTH}" y="{_LOW + 33}"'
        ' text-anchor="end">exit</text>'
    )


def _columns(method: Facts, across: float, sections: Collection[str]) -> Iterator[str]:
    """What can be clicked between the tensors: one column per instruction."""
    for index in range(len(method["instructions"])):
        if f"n{index}" not in sections:
            continue
        yield (
            f'<a href="#n{index}"><rect class="column" data-node="n{index}"'
            f' x="{_LEFT + (index + 1) * across:.2f}" y="{_TOP}"'
            f' width="{across:.2f}" height="{_HEIGHT}"'
            f" {pages.tip(moment(method, index))}/></a>"
        )


def _block(
    method: Facts,
    tensor: Facts,
    life: tuple[int, int],
    scale: tuple[float, float],
    index: int,
    number: int,
) -> str:
    (first, last), (across, upwards) = life, scale
    x, width = _LEFT + (first + 1) * across, (last - first + 1) * across
    y = _LOW - (tensor["offset"] + tensor["bytes"]) * upwards
    height = tensor["bytes"] * upwards
    words = pages.tip(
        tensor["name"],
        tensor["type"],
        f"{tensor['bytes']:,} bytes at {tensor['offset']:,}",
        f"from {moment(method, first)}",
        f"to {moment(method, last)}",
    )
    kind = "block state" if tensor["state"] else "block"
    label = _label(pages.short(tensor["name"]), x, y, width, height)
    return (
        f'<rect class="{kind}" style="{pages.hue(index)}" x="{x:.2f}" y="{y:.2f}"'
        f' width="{width:.2f}" height="{height:.2f}"'
        f' data-key="{key(number, tensor)}" {words}/>{label}'
    )


def _label(name: str, x: float, y: float, width: float, height: float) -> str:
    """The label in a block: one line, or the instruction below the operator."""
    maker, _, index = name.rpartition(" ")
    lines = [pages.fitting(name, width)]
    if lines[0] != name and height >= 2 * _LINE and index.isdecimal():
        lines = [pages.fitting(maker, width), pages.fitting(index, width)]
    if height < _LINE * len(lines) or not lines[-1]:
        return ""
    middle = y + height / 2 + 4 - _LINE * (len(lines) - 1) / 2
    return "".join(
        f'<text class="label" x="{x + width / 2:.2f}" y="{middle + _LINE * line:.2f}"'
        f' text-anchor="middle">{pages.text(words)}</text>'
        for line, words in enumerate(lines)
    )


def _curve(alive: Sequence[int], across: float, upwards: float) -> str:
    points = [
        f"{_LEFT + x * across:.2f},{_LOW - total * upwards:.2f}"
        for step, total in enumerate(alive)
        for x in (step, step + 1)
    ]
    return f'<polyline class="alive" points="{" ".join(points)}"/>'


def tensor_rows(method: Facts, memory: Facts, number: int = 0) -> str:
    """The tensors as a table, largest first."""
    ordered = sorted(
        enumerate(inside(method, memory)), key=lambda pair: -pair[1]["bytes"]
    )
    shown = ordered[:_MOST_ROWS]
    heads = ["module"] if any(tensor.get("module") for _, tensor in shown) else []
    left = len(ordered) - len(shown)
    return pages.table(
        f"Tensors of {named(memory)}, the largest first"
        + (f"; {left:,} smaller ones are not listed" if left else ""),
        ("tensor", *heads, ">bytes", ">offset", "in use", "type"),
        (
            (
                _swatched(tensor, index),
                *(tensor[head] or "" for head in heads),
                tensor["bytes"],
                tensor["offset"],
                ", ".join(_life(method, *life) for life in tensor["alive"]),
                tensor["type"],
            )
            for index, tensor in shown
        ),
        (f'data-key="{key(number, tensor)}"' for _, tensor in shown),
    )


def _swatched(tensor: Facts, index: int) -> Html | str:
    name: str = tensor["name"]
    return name if tensor["state"] else Html(pages.swatch(index, name))


def _life(method: Facts, first: int, last: int) -> str:
    count = len(method["instructions"])
    names = {-1: "entry", count: "exit"}
    ends = dict.fromkeys(names.get(at, str(at)) for at in (first, last))
    return " to ".join(ends)
