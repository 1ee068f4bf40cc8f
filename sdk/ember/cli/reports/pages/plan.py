"""An answer of `ember plan` becomes one HTML page: time across, addresses upwards.

The page needs no network and no other file, and follows the reader's light or dark
setting. A tensor is a rectangle: while it is alive, where it lies. Under the pointer it
says its name, size, offset and life.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import occupancy, text
from ember.plan import copies


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
        yield f"<p>{text(copies.summary(copied))}; {text(copies.remedy(copied))}</p>"
        yield pages.table("Copies of constants", copies.COLUMNS, copies.rows(copied))


# ---- pictures ------------------------------------------------------------------------


def _method(number: int, method: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{text(method['model'])}, {text(method['method'])}</h2>"
    for memory in method["memories"]:
        if occupancy.inside(method, memory):
            peak = memory["peak"]
            moment = occupancy.moment(method, peak["instruction"])
            yield (
                f"<p>Planned memory {memory['id']}: {memory['bytes']:,} bytes. Most"
                f" are in use at {text(moment)}: {peak['bytes']:,}.</p>"
            )
            yield from occupancy.picture(method, memory, number)
            yield occupancy.rows(method, memory, number)
