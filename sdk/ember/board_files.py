"""A board's YAML and those that it names (its core, its chip, the board that it is
`like:`) become one table of fields, with the file that gave each.

boards/cores/<cpu>.yaml    what a core executes, and how it is compiled for
boards/chips/<chip>.yaml   memories, registers, serial ports, tools that program it
boards/<board>.yaml        what is soldered around the chip

What is nearer to the board goes before. Folders `cores` and `chips` beside a board's
file are looked at first.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

from ember import paths
from ember.board_memory import Memory
from ember.boot_facts import Boot
from ember.errors import SdkError, problem_list
from ember.flash_facts import Flasher, Identity
from ember.steps import Step
from ember.strict import Strict
from ember.uart import Line

Table = dict[str, Any]
Note = tuple[str, str]  # what, and the remedy
Port = Literal["cortexm", "a64", "linux_user", "host", "library"]
Console = Literal["semihosting", "stderr", "uart"]

# What another chip with the same core shares, and nothing else.
_OF_CORES = ("cpu", "isa", "toolchains", "port", "svl")
# A board that gives one of them itself may have another chip than the board it is like.
_OF_CHIPS = ("cpu", "memories", "identity", "boot")
# What a memory says that is described whole.
_WHOLE = {"name", "base", "size", "access", "kind", "holds"}
# What a core decides unless a chip or board does.
_BY_CORE = ("port", "isa", "toolchains", "console")
# Lists that a board adds to those of its chip.
_JOINED = ("start", "sources")
_NAME = r"[\w.-]+"


class Core(Strict):
    """What the SDK asks of a core."""

    arch: Literal[
        "armv6-m",
        "armv7-m",
        "armv8-m",
        "armv7-a",
        "armv8-a",
        "armv9-a",
        "hexagon",
        "native",
    ]
    flags: str = ""  # of the compilers; toolchains that know one core need none


class CoreFile(Core):
    title: str
    port: Port
    isa: tuple[str, ...]
    toolchains: tuple[str, ...] = Field(min_length=1)
    console: Console

    @model_validator(mode="after")
    def _cortex_m_has_flags(self) -> CoreFile:
        if self.port == "cortexm" and not self.flags:
            raise ValueError("flags: what compilers are told, -mcpu=.. and the FPU")
        return self


class ChipFile(Strict):
    title: str
    cpu: str
    isa: tuple[str, ...] | None = None
    toolchains: tuple[str, ...] | None = None
    memories: tuple[Memory, ...] = ()
    start: tuple[Step, ...] = ()  # what every board does first
    boot: Boot | None = None
    uarts: dict[str, Line] = Field(default_factory=dict)
    identity: Identity | None = None
    flashers: tuple[Flasher, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layer:
    """One file's keys."""

    path: Path
    table: Table

    @property
    def chip(self) -> str:
        """A board whose file names no chip is described whole: the name is its own."""
        return str(self.table.get("chip") or self.table.get("name") or self.path.stem)


@dataclass(frozen=True)
class Fields:
    """A board's table, and what its user should be told."""

    table: Table
    places: dict[str, Path]  # the file that gave each key
    shifts: dict[str, int]  # items of the chip in front of a list
    notes: tuple[Note, ...] = ()

    def refusal(self, path: Path, error: ValidationError) -> SdkError:
        return _problems(path, error, self.places, self.shifts)


@dataclass(frozen=True)
class Taken:
    """What a board has of the one that it is like, and the name of its chip."""

    table: Table
    chip: str | None
    notes: tuple[Note, ...] = ()


def read(path: Path) -> Fields:
    """What the board's file says, over what those that it names say."""
    own = _layer(path)
    like = own.table.pop("like", None)
    base = None if like is None else _like(own, like)
    taken = _taken(own, base) if base else Taken({}, _word(own, "chip"))
    others = [one for one in (base,) if one]
    chip = _chip(own, taken.chip, others)
    notes = [*taken.notes, *_unknown(own, taken.chip, chip, others)]
    lower = Layer(base.path if base else path, taken.table)
    cpu = {**(chip.table if chip else {}), **lower.table, **own.table}.get("cpu")
    given = {**lower.table, **own.table}
    core = _core(own, cpu, given)
    made = _merged(core, chip, lower, own)
    named = {"chip": taken.chip} if taken.chip else {}
    return Fields({**made.table, **named}, made.places, made.shifts, tuple(notes))


# ---- files ---------------------------------------------------------------------------


def _layer(path: Path) -> Layer:
    """The keys of the file, in today's spelling, with files by their whole path."""
    table = _today(_yaml(path))
    boot = table.get("boot")
    for one in _with_files(boot) if isinstance(boot, dict) else ():
        one["file"] = str(path.parent.absolute() / one["file"])
    return Layer(path, table)


def _yaml(path: Path) -> Table:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise SdkError(f"{path}{line}: this is not YAML") from error
    except UnicodeDecodeError as error:
        raise SdkError(f"{path}: this is not text in UTF-8") from error
    except OSError as error:
        raise SdkError(f"cannot read {path}: {error.strerror}") from error
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise SdkError(
            f"{path}: it is not a table of keys, such as `name: my-board`",
            hint="see docs/boards.md",
        )
    return data


def _today(table: Table) -> Table:
    """Keys as they were once called, as they are called now."""
    made = dict(table)
    if isinstance(made.get("chip"), dict):
        made.setdefault("identity", made.pop("chip"))
    boot: Table = {}
    if "boot_words" in made:
        boot["words"] = made.pop("boot_words")
    if made.get("boot_stage") is not None:
        stage = made["boot_stage"]
        part = {"what": f"the second stage of {stage}", "at": 0, "size": 256}
        boot |= {"code": 256, "parts": {"second_stage": {**part, "made": stage}}}
    made.pop("boot_stage", None)
    if boot and isinstance(made.get("boot", {}), dict):
        made["boot"] = {**boot, **made.get("boot", {})}
    return made


def _with_files(boot: Table) -> Iterator[Table]:
    parts = boot.get("parts")
    named = [boot, *(parts.values() if isinstance(parts, dict) else ())]
    for one in named:
        if isinstance(one, dict) and isinstance(one.get("file"), str):
            yield one


def _word(layer: Layer, key: str) -> str | None:
    """A key whose value names a file; an SdkError when it can be none."""
    value = layer.table.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(_NAME, value):
        raise SdkError(f"{layer.path}: {key}: '{value}' is not a name")
    return value


def _find(layer: Layer, folder: str, name: str) -> Path | None:
    """The file called `name` in the `folder` beside the board, or in Ember's."""
    places = [layer.path.parent / folder, paths.boards() / folder]
    return next((p for one in places if (p := one / f"{name}.yaml").is_file()), None)


def _known(layer: Layer, folder: str) -> list[str]:
    places = {layer.path.parent / folder, paths.boards() / folder}
    return sorted({one.stem for place in places for one in place.glob("*.yaml")})


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]}? " if near else ""


def _check(layer: Layer, model: type[BaseModel]) -> None:
    try:
        model.model_validate(layer.table)
    except ValidationError as error:
        raise _problems(layer.path, error, {}, {}) from error


def _problems(
    path: Path, error: ValidationError, places: dict[str, Path], shifts: dict[str, int]
) -> SdkError:
    """Every mistake with its key, and its file where that is not `path`."""
    found = []
    for item in error.errors():
        keys = list(item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            message = "there is no such key"
        if len(keys) > 1 and isinstance(keys[1], int):
            keys[1] -= shifts.get(str(keys[0]), 0)
        place = places.get(str(keys[0]), path) if keys else path
        words = [] if place == path else [str(place)]
        words += [".".join(map(str, keys))] if keys else []
        found.append(": ".join([*words, message]))
    return SdkError(
        problem_list(str(path), found),
        hint="compare with the boards that `ember boards` lists",
    )


# ---- the board that it is like -------------------------------------------------------


def _like(own: Layer, like: Any) -> Layer:
    name = str(like)
    places = [own.path.with_name(f"{name}.yaml"), paths.boards() / f"{name}.yaml"]
    found = next((one for one in places if one.is_file()), None)
    if found is None or not re.fullmatch(_NAME, name):
        known = [one.stem for one in paths.boards().glob("*.yaml")]
        raise SdkError(
            f"{own.path}: like: there is no board '{name}'",
            hint=f"{_near(name, known)}see `ember boards`",
        )
    base = _layer(found)
    if "like" in base.table:
        raise SdkError(
            f"{own.path}: like: {name} is itself like another board",
            hint=f"name the one that {found} is like",
        )
    return base


def _taken(own: Layer, base: Layer) -> Taken:
    """All that `base` says for a board with its chip, else what its core is."""
    chip = _word(own, "chip")
    guessed = chip is None and not any(key in own.table for key in _OF_CHIPS)
    table = {key: value for key, value in base.table.items() if key != "name"}
    if guessed or chip == base.chip:
        if own.table.get("cpu") not in (None, table.get("cpu")):
            table = {key: table[key] for key in table if key not in _OF_CORES}
        notes = (_same_chip(own, base),) if guessed else ()
        return Taken(table, chip or _word(base, "chip"), notes)
    described = _chip(base, _word(base, "chip"), [base])
    whole = {**(described.table if described else {}), **table}
    mine = _chip(own, chip, []) if chip and _find(own, "chips", chip) else None
    given = {**(mine.table if mine else {}), **own.table}
    _need_memories(own, base, given)
    kept = {key: whole[key] for key in _OF_CORES if key in whole}
    if given.get("cpu") not in (None, kept.get("cpu")):
        kept = {}
    skipped = (*_OF_CORES, "title", "chip", "uarts", *given)
    lost = [key for key, value in whole.items() if value and key not in skipped]
    note = _other_chip(own, base, kept, lost)
    kept |= {} if "title" in given else {"title": own.path.stem}
    return Taken(kept, chip, (note,))


def _need_memories(own: Layer, base: Layer, given: Table) -> None:
    if "memories" in given:
        return
    chip = own.table.get("chip")
    unknown = f"; Ember knows no chip '{chip}'" if chip else ""
    raise SdkError(
        f"{own.path}: memories: none are given, and those of {base.path.stem} are of"
        f" its chip, {base.chip}",
        hint=f"give `memories:`, or `chip: {base.chip}` if the board has that chip"
        f"{unknown}",
    )


def _same_chip(own: Layer, base: Layer) -> tuple[str, str]:
    return (
        f"{own.path} names no chip and is taken for another board with the"
        f" {base.chip} of {base.path.stem}: it has all that is said of that",
        f"say so: `chip: {base.chip}`; or give its own `chip:` or `memories:`",
    )


def _other_chip(
    own: Layer, base: Layer, kept: Table, lost: list[str]
) -> tuple[str, str]:
    shared = [key for key in _OF_CORES if key in kept]
    taken = f"only {', '.join(shared)} is taken" if shared else "nothing is taken"
    chip = own.table.get("chip")
    return (
        f"{own.path} {f'has the chip {chip}' if chip else 'names no chip'}, and"
        f" {base.path.stem} has {base.chip}: {taken} from there, and not"
        f" {', '.join(lost)}",
        "give those that the board has; if it is the same chip, say"
        f" `chip: {base.chip}`, and all of them are taken",
    )


# ---- chips and cores -----------------------------------------------------------------


def _chip(own: Layer, name: str | None, others: Iterable[Layer]) -> Layer | None:
    """The file of the chip; None where the board's own file describes it."""
    if name is None:
        return None
    path = _find(own, "chips", name)
    if path is not None:
        chip = _layer(path)
        _check(chip, ChipFile)
        return chip
    if any(name == one.chip for one in others) or "memories" in own.table:
        return None
    known = _known(own, "chips")
    raise SdkError(
        f"{own.path}: chip: there is no chip '{name}'",
        hint=f"{_near(name, known)}chips are {', '.join(known)}; describe another in"
        f" {own.path.parent / 'chips' / name}.yaml, or give `cpu` and `memories`",
    )


def _unknown(
    own: Layer, name: str | None, chip: Layer | None, others: Iterable[Layer]
) -> list[Note]:
    """A name that is nearly one of a chip that Ember knows may be misspelt."""
    if name is None or chip or any(name == one.chip for one in others):
        return []
    near = _near(name, _known(own, "chips"))
    if not near:
        return []
    told = f"{own.path}: Ember knows no chip '{name}': it has what this file says alone"
    return [(told, f"{near}(as `chip:`)")]


def _core(own: Layer, cpu: Any, given: Table) -> Layer | None:
    """The file of the core; None where the board says all that is needed of it."""
    if cpu is None:
        return None  # Board says that it is missing
    name = _word(Layer(own.path, {"cpu": cpu}), "cpu")
    assert name is not None
    path = _find(own, "cores", name)
    if path is None:
        if {"isa", "toolchains"} <= set(given) and given.get("port") != "cortexm":
            return None
        known = _known(own, "cores")
        raise SdkError(
            f"{own.path}: cpu: there is no core '{name}'",
            hint=f"{_near(name, known)}cores are {', '.join(known)}; describe another"
            f" in {own.path.parent / 'cores' / name}.yaml",
        )
    core = _layer(path)
    _check(core, CoreFile)
    table = {key: core.table[key] for key in _BY_CORE}
    facts = {key: core.table[key] for key in Core.model_fields if key in core.table}
    return Layer(path, {**table, "core": facts})


# ---- one over the other --------------------------------------------------------------


def _merged(core: Layer | None, chip: Layer | None, lower: Layer, own: Layer) -> Fields:
    """The layers, the lowest first, as one table."""
    places: dict[str, Path] = {}
    for layer in (core, chip, lower, own):
        places |= dict.fromkeys(layer.table, layer.path) if layer else {}
    board = _over(lower.table, own.table)
    below = chip.table if chip else {}
    table = _over(_over(core.table if core else {}, below), board)
    shifts = {}
    for key in _JOINED:
        ours, theirs = board.get(key), below.get(key)
        if isinstance(ours, list) and theirs:
            table[key] = [*theirs, *ours]
            shifts[key] = len(theirs)
    table |= _memories(board.get("memories"), below.get("memories") or [])
    table |= _uart(board.get("uart"), below.get("uarts") or {}, own)
    if "flashers" not in board and "flashers" in below:
        table["flashers"] = list(_flashers(below["flashers"], board.get("probe")))
    if "uarts" not in board:
        table.pop("uarts", None)
    if not {"runner", "verified"} & set(table):
        table["verified"] = "nobody"
    return Fields(table, places, shifts)


def _over(base: Table, data: Table) -> Table:
    """`base` with the fields of `data`; those that are mappings field by field."""
    found = dict(base)
    for key, value in data.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        found[key] = _over(base[key], value) if both else value
    return found


def _memories(ours: Any, theirs: list[Table]) -> Table:
    """Memories that the board does not describe whole have the rest of the chip's."""
    if not isinstance(ours, list):
        return {}
    known = {one["name"]: one for one in theirs}
    found = []
    for one in ours:
        partial = isinstance(one, dict) and not set(one) >= _WHOLE
        below = known.get(str(one.get("name"))) if partial else None
        found.append({**below, **one} if below else one)
    return {"memories": found}


def _uart(ours: Any, theirs: dict[str, Table], own: Layer) -> Table:
    """The serial port that `line` names, with what the board adds to it."""
    if not isinstance(ours, dict) or "line" not in ours:
        return {}
    name = str(ours["line"])
    if name not in theirs:
        raise SdkError(
            f"{own.path}: uart.line: the chip has no '{name}' that Ember knows",
            hint=f"it has {', '.join(theirs)}" if theirs else "give `kind` and `base`",
        )
    rest = {key: value for key, value in ours.items() if key != "line"}
    return {"uart": {**theirs[name], **rest}}


def _flashers(theirs: list[Table], probe: Any) -> Iterator[Table]:
    """The chip's tools; OpenOCD needs to know the probe before."""
    for one in theirs:
        if one["tool"] != "openocd":
            yield one
        elif isinstance(probe, dict) and "openocd" in probe:
            config = [probe["openocd"], *one["config"]]
            more = {key: probe[key] for key in ("transport",) if key in probe}
            yield {**one, "config": config, **more}
