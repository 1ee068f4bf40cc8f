"""What a board's file says, over what those say that it names: the board that it is
`like:`, its chip and its core.

A chip's facts go to boards that name this chip; to others, what its core is and no
more, and their users are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ember import paths
from ember.boards import files as board_files
from ember.boards import isa
from ember.boards.files import ChipFile, Layer, Table
from ember.errors import SdkError

Note = tuple[str, str]  # what, and the remedy

# What another chip with the same core shares, and nothing else.
_OF_CORES = ("cpu", "isa", "toolchains", "port", "svl")
# A board that gives one of them itself may have another chip than the board it is like.
_OF_CHIPS = ("cpu", "memories", "identity", "boot")
# What a memory says that is described whole.
_WHOLE = {"name", "base", "size", "access", "kind", "holds"}
# Lists that a board adds to those of its chip.
_JOINED = ("start", "sources")


@dataclass(frozen=True)
class Fields:
    """A board's table, and what its user should be told."""

    table: Table
    places: dict[str, Path]  # the file that gave each key
    shifts: dict[str, int]  # items of the chip in front of a list
    notes: tuple[Note, ...] = ()
    problems: tuple[str, ...] = ()  # known before the table is looked at
    hint: str | None = None  # what to do about them

    def told(
        self, path: Path, error: ValidationError, model: type[BaseModel]
    ) -> list[str]:
        return board_files.problems(path, error, model, self.places, self.shifts)


@dataclass(frozen=True)
class Taken:
    """What a board has of the one that it is like, and the name of its chip."""

    table: Table
    chip: str | None
    notes: tuple[Note, ...] = ()


def read(path: Path) -> Fields:
    """What the board's file says, over what those that it names say."""
    upper = board_files.layer_of(path)
    like = upper.table.pop("like", None)
    base = None if like is None else _like(upper, like)
    taken = (
        _taken(upper, base) if base else Taken({}, board_files.name_of(upper, "chip"))
    )
    others = [layer for layer in (base,) if layer]
    chip = _chip(upper, taken.chip, others)
    notes = [*taken.notes, *_unknown(upper, taken.chip, chip, others)]
    lower = Layer(base.path if base else path, taken.table)
    cpu = {**(chip.table if chip else {}), **lower.table, **upper.table}.get("cpu")
    given = {**lower.table, **upper.table}
    described = isa.taken_out(upper, lower, *([chip] if chip else ()))
    unknown = None
    try:
        core = isa.layer(upper, lower, cpu, given, described)
    except isa.UnknownCoreError as error:
        core, unknown = Layer(path, isa.STAND_IN), error
    merged = _merged(core, chip, lower, upper)
    named = {"chip": taken.chip} if taken.chip else {}
    return replace(
        merged,
        table={"title": path.stem, **merged.table, **named},
        notes=tuple(notes),
        problems=(unknown.problem,) if unknown else (),
        hint=unknown.hint if unknown else None,
    )


# ---- the board that it is like -------------------------------------------------------


def _like(upper: Layer, like: Any) -> Layer:
    """The board that is called so, or is in a file, by its path from this one."""
    name, here = str(like), upper.path.parent
    if name.endswith(".yaml"):
        files = [here / name]
    else:
        places = [here, paths.boards()] if board_files.is_name(name) else []
        files = [place / f"{name}.yaml" for place in places]
    like_file = next((file for file in files if file.is_file()), None)
    if like_file is None:
        known = [path.stem for path in paths.boards().glob("*.yaml")]
        raise SdkError(
            f"{upper.path}: like: there is no board '{name}'",
            hint=f"{board_files.near(name.removesuffix('.yaml'), known)}name one that"
            " `ember boards` lists, or a file by its path from this one",
        )
    base = board_files.layer_of(like_file)
    if "like" in base.table:
        raise SdkError(
            f"{upper.path}: like: {name} is itself like another board",
            hint=f"name the board that {like_file} is based on",
        )
    return base


def _taken(upper: Layer, base: Layer) -> Taken:
    """All that `base` says for a board with its chip, else what its core is."""
    chip = board_files.name_of(upper, "chip")
    named = board_files.name_of(base, "chip")
    described = _chip(base, named, [base])
    table = {key: value for key, value in base.table.items() if key != "name"}
    whole = {**(described.table if described else {}), **table}
    table.pop("verified", None)  # whoever checked the other board did not see this one
    if chip is None and not any(key in upper.table for key in _OF_CHIPS):
        return Taken(table, named, (_same_chip(upper, base),))
    if chip == base.chip:
        if upper.table.get("cpu") not in (None, whole.get("cpu")):
            table = {key: table[key] for key in table if key not in _OF_CORES}
        return Taken(table, chip)
    return _of_core(upper, base, chip, whole)


def _of_core(upper: Layer, base: Layer, chip: str | None, whole: Table) -> Taken:
    """What a board with another chip has of `base`, which says `whole`."""
    known = chip is not None and board_files.find([upper], "chips", chip)
    mine = _chip(upper, chip, []) if known else None
    given = {**(mine.table if mine else {}), **upper.table}
    _need_memories(upper, base, given)
    kept = {key: whole[key] for key in _OF_CORES if key in whole}
    if given.get("cpu") not in (None, kept.get("cpu")):
        kept = {}
    skipped = (*_OF_CORES, "title", "chip", "uarts", *given)
    lost = [key for key, value in whole.items() if value and key not in skipped]
    notes = (_other_chip(upper, base, kept, lost),) if lost else ()
    return Taken(kept, chip, notes)


def _need_memories(upper: Layer, base: Layer, given: Table) -> None:
    if "memories" in given:
        return
    chip = upper.table.get("chip")
    unknown = f"; Ember knows no chip '{chip}'" if chip else ""
    raise SdkError(
        f"{upper.path}: `memories` is missing: those of {base.path.stem} belong to its"
        f" chip, {base.chip}",
        hint=f"give `memories:`, or `chip: {base.chip}` if the board has that chip"
        f"{unknown}",
    )


def _same_chip(upper: Layer, base: Layer) -> tuple[str, str]:
    return (
        f"{upper.path} names no chip: assuming that of {base.path.stem}, with all its"
        " facts",
        f"confirm with `chip: {base.chip}`, or give its own `chip:` or `memories:`",
    )


def _other_chip(
    upper: Layer, base: Layer, kept: Table, lost: list[str]
) -> tuple[str, str]:
    shared = [key for key in _OF_CORES if key in kept]
    taken = f"only {', '.join(shared)}" if shared else "nothing"
    chip = upper.table.get("chip")
    return (
        f"{upper.path} {f'has the chip {chip}' if chip else 'names no chip'}, and"
        f" {base.path.stem} has {base.chip}: {taken} is inherited from it, not"
        f" {', '.join(lost)}",
        "describe what the board has; if the chip is the same, write"
        f" `chip: {base.chip}` to inherit everything",
    )


# ---- chips ---------------------------------------------------------------------------


def _chip(upper: Layer, name: str | None, others: Iterable[Layer]) -> Layer | None:
    """The file of the chip; None where the board's own file describes it."""
    if name is None:
        return None
    others = list(others)
    path = board_files.find([upper, *others], "chips", name)
    if path is not None:
        chip = board_files.layer_of(path)
        board_files.check(chip, ChipFile)
        return chip
    if any(name == layer.chip for layer in others) or "memories" in upper.table:
        return None
    known = board_files.known(upper, "chips")
    raise SdkError(
        f"{upper.path}: chip: there is no chip '{name}'",
        hint=f"{board_files.near(name, known)}chips are {', '.join(known)}; describe"
        f" another in {upper.path.parent / 'chips' / name}.yaml, or give `cpu` and"
        " `memories`",
    )


def _unknown(
    upper: Layer, name: str | None, chip: Layer | None, others: Iterable[Layer]
) -> list[Note]:
    """A name that is nearly one of a chip that Ember knows may be misspelt."""
    if name is None or chip or any(name == layer.chip for layer in others):
        return []
    near = board_files.near(name, board_files.known(upper, "chips"))
    if not near:
        return []
    told = f"{upper.path}: Ember knows no chip '{name}': only this file describes it"
    return [(told, f"{near}(in `chip:`)")]


# ---- one over the other --------------------------------------------------------------


def _merged(
    core: Layer | None, chip: Layer | None, lower: Layer, upper: Layer
) -> Fields:
    """The layers, the lowest first, as one table."""
    places: dict[str, Path] = {}
    for layer in (core, chip, lower, upper):
        places |= dict.fromkeys(layer.table, layer.path) if layer else {}
    board = _over(lower.table, upper.table)
    below = chip.table if chip else {}
    table = _over(_over(core.table if core else {}, below), board)
    shifts = {}
    for key in _JOINED:
        ours, theirs = board.get(key), below.get(key)
        if isinstance(ours, list) and theirs:
            table[key] = [*theirs, *ours]
            shifts[key] = len(theirs)
    table |= _memories(board.get("memories"), below.get("memories") or [])
    table |= _uart(board.get("uart"), below.get("uarts") or {}, upper)
    if "flashers" not in board and "flashers" in below:
        table["flashers"] = list(_flashers(below["flashers"], board.get("probe")))
    if "uarts" not in board:
        table.pop("uarts", None)
    return Fields(table, places, shifts)


def _over(base: Table, data: Table) -> Table:
    """`base` with the fields of `data`; those that are mappings field by field."""
    table = dict(base)
    for key, value in data.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        table[key] = _over(base[key], value) if both else value
    return table


def _memories(ours: Any, theirs: list[Table]) -> Table:
    """Memories that the board does not describe whole have the rest of the chip's."""
    if not isinstance(ours, list):
        return {}
    known = {table["name"]: table for table in theirs}
    memories = []
    for memory in ours:
        partial = isinstance(memory, dict) and not set(memory) >= _WHOLE
        below = known.get(str(memory.get("name"))) if partial else None
        memories.append({**below, **memory} if below else memory)
    return {"memories": memories}


def _uart(ours: Any, theirs: dict[str, Table], upper: Layer) -> Table:
    """The serial port that `line` names, with what the board adds to it."""
    if not isinstance(ours, dict) or "line" not in ours:
        return {}
    name = str(ours["line"])
    if name not in theirs:
        raise SdkError(
            f"{upper.path}: uart.line: Ember knows no '{name}' on this chip",
            hint=f"it has {', '.join(theirs)}" if theirs else "give `kind` and `base`",
        )
    rest = {key: value for key, value in ours.items() if key != "line"}
    return {"uart": {**theirs[name], **rest}}


def _flashers(theirs: list[Table], probe: Any) -> Iterator[Table]:
    """The chip's tools; OpenOCD needs to know the probe before."""
    for table in theirs:
        if table["tool"] != "openocd":
            yield table
        elif isinstance(probe, dict) and "openocd" in probe:
            config = [probe["openocd"], *table["config"]]
            more = {key: probe[key] for key in ("transport",) if key in probe}
            yield {**table, "config": config, **more}
