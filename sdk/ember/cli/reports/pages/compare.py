"""Two profiles, or the sizes of two builds, become one HTML page for a review.

Nodes are compared one by one only if both programs have the same instructions; passes
may change them in different ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ember.cli.reports import pages
from ember.cli.reports.pages import Html, Number, nodes, text
from ember.toolchain import footprint

Facts = Mapping[str, Any]
_MOST_NODES = 500  # with a row: what changed most
_Pair = tuple[int, int]
_COLUMNS = (">A", ">B", ">change", ">B/A", "change in the larger")


def of_profiles(files: tuple[str, str], before: Facts, after: Facts) -> str:
    """The page for two results of profile.to_json(), from these files."""
    names = [f"{side['model']} on {side['board']}" for side in (before, after)]
    title = " and ".join(dict.fromkeys(names))
    unit = nodes.unit(before)
    body = [
        f"<h1>{text(title)}: two profiles</h1>",
        pages.facts(
            {mark: f"{f}: {n}" for mark, f, n in zip("AB", files, names, strict=True)}
        ),
    ]
    if unit != nodes.unit(after):
        body.append(
            f'<p class="bad">A counts {text(unit)}, B {text(nodes.unit(after))}:'
            " instructions are compared.</p>"
        )
        unit = "instructions"
    body += [
        *_options(footprint.options(before.get("options"), after.get("options"))),
        *_changes("The whole", "", _totals(before, after)),
        *_changes("Operators", "operator", _operators(before, after), unit),
        *_nodes(before, after, unit),
        *_memory(before, after),
        *_code(before, after),
    ]
    return pages.page(f"{title}: two profiles", body)


def of_sizes(
    names: tuple[str, str],
    changes: Mapping[str, Any],
    options: Mapping[str, list[str]],
) -> str:
    """The page for footprint.changes() and options() of two builds."""
    body = [
        "<h1>Sizes of two builds</h1>",
        pages.facts({"A": names[0], "B": names[1]}),
        *_options(options),
    ]
    for group, rows in changes.items():
        pairs = {name: (old, new) for name, (old, new) in rows.items()}
        body += _changes(group.capitalize(), "", pairs, "bytes")
    if not any(changes.values()):
        body.append("<p>The two builds have the same sizes.</p>")
    return pages.page("Sizes of two builds", body)


def _options(differ: Mapping[str, list[str]]) -> Iterator[str]:
    """The options that differ, shown above all figures."""
    if differ:
        rows = ((name, *pair) for name, pair in differ.items())
        yield pages.table("What differs between A and B", ("", "A", "B"), rows)


# ---- what is compared ----------------------------------------------------------------


def _cost(before: Facts, after: Facts, profile: Facts, row: Facts) -> int:
    """The cost in a unit that both profiles have."""
    same = nodes.unit(before) == nodes.unit(after)
    return nodes.cost(profile, row) if same else int(row["instructions"])


def _totals(before: Facts, after: Facts) -> dict[str, _Pair]:
    named = {
        f"{before['unit']}, execute": "execute",
        f"{before['unit']}, load": "load",
        "cycles, estimated, zero wait states": "execute_cycles",
        "cycles, estimated, with the boards' memories": "execute_board_cycles",
    }
    totals = {name: (before[key], after[key]) for name, key in named.items()}
    return {name: pair for name, pair in totals.items() if None not in pair}


def _operators(before: Facts, after: Facts) -> dict[str, _Pair]:
    sides = [
        {row["name"]: _cost(before, after, side, row) for row in side["operators"]}
        for side in (before, after)
    ]
    return _joined(*sides)


def _joined(old: Mapping[str, int], new: Mapping[str, int]) -> dict[str, _Pair]:
    """Rows of both; what one of them lacks costs it nothing."""
    names = dict.fromkeys([*old, *new])
    return {name: (old.get(name, 0), new.get(name, 0)) for name in names}


def _nodes(before: Facts, after: Facts, unit: str) -> Iterator[str]:
    if before["model"] != after["model"]:
        return
    sides = [_by_origin(before, after, side) for side in (before, after)]
    pairs = _joined(*sides)
    if not pairs:
        return
    yield from _changes("Nodes, by their place in the program", "node", pairs, unit)


def _by_origin(before: Facts, after: Facts, side: Facts) -> dict[str, int]:
    """The cost of each instruction of the original program, whatever it became."""
    costs: dict[str, int] = {}
    details = side.get("details")
    if details is None:
        return costs
    for row in sorted(side["nodes"], key=nodes.order):
        place = str(details["origins"][row["nodes"][0]])
        if row["inside"] is not None:
            place += f".{row['inside']}"
        name = f"{place} {row['name']}"
        costs[name] = costs.get(name, 0) + _cost(before, after, side, row)
    return costs


def _memory(before: Facts, after: Facts) -> Iterator[str]:
    pairs: dict[str, _Pair] = {}
    sides = [
        (side.get("details") or {}).get("memories", ()) for side in (before, after)
    ]
    for what in ("bytes", "peak"):
        rows = [{f"planned memory {m['id']}": _size(m, what) for m in s} for s in sides]
        label = "" if what == "bytes" else ", most in use"
        pairs |= {f"{n}{label}": pair for n, pair in _joined(*rows).items()}
    yield from _changes("Memory", "", pairs, "bytes")


def _size(memory: Facts, what: str) -> int:
    return int(memory["bytes"] if what == "bytes" else memory["peak"]["bytes"])


def _code(before: Facts, after: Facts) -> Iterator[str]:
    captions = {"operators": "Code of operators", "engines": "Code that kernels share"}
    for group, caption in captions.items():
        sides = [
            ((side.get("details") or {}).get("code") or {}).get(group, {})
            for side in (before, after)
        ]
        yield from _changes(caption, "", _joined(*sides), "bytes")


# ---- tables --------------------------------------------------------------------------


def _changes(
    title: str, what: str, pairs: Mapping[str, _Pair], unit: str = ""
) -> Iterator[str]:
    """The largest changes first; what did not change is only counted."""
    changed = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if not pairs:
        return
    yield f"<h2>{text(title)}</h2>"
    ordered = sorted(changed.items(), key=lambda row: -abs(row[1][1] - row[1][0]))
    shown = ordered[:_MOST_NODES]
    if shown:
        yield pages.table(
            f"{unit.capitalize() or 'All'}, what changed most first",
            (what, *_COLUMNS),
            (_row(name, *pair) for name, pair in shown),
        )
    yield from _rest(len(pairs) - len(changed), len(ordered) - len(shown))


def _rest(same: int, left: int) -> Iterator[str]:
    if same:
        yield f'<p class="faint">{same:,} did not change.</p>'
    if left:
        yield f'<p class="faint">{left:,} that changed less are not listed.</p>'


def _row(name: str, old: int, new: int) -> Iterable[object]:
    change = new - old
    kind = "bad" if change > 0 else "good"
    ratio = Number(new / old, f"{new / old:.3f}") if old else None
    bar = (
        f'<i class="bar {kind}" style="width:{abs(change) / max(old, new, 1):.2%}"></i>'
    )
    mark = Number(change, f"{change:+,}", kind)
    return name, old, new, mark, ratio, Html(f'<span class="track">{bar}</span>')
