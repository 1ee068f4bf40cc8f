"""Tensors of a planned memory become a picture: time across, addresses upwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages

_WIDTH, _HEIGHT = 1000, 320  # of the area for tensors, in units of the picture
_LEFT, _TOP, _BOTTOM = 84, 12, 40
_LOW = _TOP + _HEIGHT
_MOST_ROWS = 200
_LINE = 13  # units: the least height of a label
Facts = Mapping[str, Any]


def inside(method: Facts, memory: Facts) -> list[Facts]:
    """The tensors of a planned memory that have bytes."""
    return [
        tensor
        for tensor in method["tensors"]
        if tensor["memory"] == memory["id"] and tensor["bytes"] > 0
    ]


def moment(method: Facts, index: int) -> str:
    if index < 0:
        return "the entry"
    if index >= len(method["instructions"]):
        return "the exit"
    return f"instruction {index}, {method['instructions'][index]}"


def key(number: int, tensor: Facts) -> str:
    """What a tensor of the page's number-th method is called in it."""
    return f"t{number}-{tensor['memory']}-{'-'.join(map(str, tensor['values']))}"


def picture(
    method: Facts, memory: Facts, number: int = 0, sections: Collection[str] = ()
) -> Iterator[str]:
    """As HTML. A click on an instruction shows its section `n<index>`, if it is one of
    `sections`."""
    tensors = inside(method, memory)
    steps = len(method["instructions"]) + 2  # with entry and exit
    across, upwards = _WIDTH / steps, _HEIGHT / max(memory["bytes"], 1)
    yield (
        f'<div class="wide"><svg viewBox="0 0 {_LEFT + _WIDTH + 4} {_LOW + _BOTTOM}"'
        f' role="group" aria-label="Planned memory {memory["id"]}: tensors by time and'
        ' address">'
    )
    yield from _axes(memory["bytes"], steps, upwards, across)
    yield from _columns(method, across, sections)
    for index, tensor in enumerate(tensors):
        for first, last in tensor["alive"]:
            life, scale = (first, last), (across, upwards)
            block = _block(method, tensor, life, scale, index, number)
            linked = f"n{first}" in sections  # what made it
            yield f'<a href="#n{first}">{block}</a>' if linked else block
    yield _curve(memory["alive"], across, upwards)
    yield "</svg></div>"


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
    """What is clicked between the tensors: one column an instruction."""
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
    """In the middle of a block: in one line, or the instruction below the operator."""
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


def rows(method: Facts, memory: Facts, number: int = 0) -> str:
    """The tensors as a table, the largest first."""
    ordered = sorted(inside(method, memory), key=lambda tensor: -tensor["bytes"])
    shown = ordered[:_MOST_ROWS]
    left = len(ordered) - len(shown)
    return pages.table(
        f"Tensors of planned memory {memory['id']}, the largest first"
        + (f"; {left:,} smaller ones are not listed" if left else ""),
        ("tensor", "type", ">bytes", ">offset", "in use"),
        (
            (
                tensor["name"],
                tensor["type"],
                tensor["bytes"],
                tensor["offset"],
                ", ".join(_life(method, *life) for life in tensor["alive"]),
            )
            for tensor in shown
        ),
        (f'data-key="{key(number, tensor)}"' for tensor in shown),
    )


def _life(method: Facts, first: int, last: int) -> str:
    count = len(method["instructions"])
    names = {-1: "entry", count: "exit"}
    ends = dict.fromkeys(names.get(at, str(at)) for at in (first, last))
    return " to ".join(ends)
