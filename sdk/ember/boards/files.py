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
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ember import files, paths
from ember.boards.boot import Boot
from ember.boards.keys import (
    Flasher,
    Identity,
    Memory,
    RegisterStep,
    Strict,
    UartLine,
    unknown_key,
)
from ember.errors import SdkError, problem_list

Table = dict[str, Any]
Port = Literal["cortexm", "a64", "linux_user", "host", "library"]
Console = Literal["semihosting", "stderr", "uart"]

_MISSPELT = 4  # characters of two names that are in only one of them

_NO_CORTEX_R = (
    "Cortex-R is not supported: its start-up, exceptions and MPU are not those of"
    " Cortex-M, and there is no port for them in runtime_c/port"
)


class Throughput(Strict):
    """The most that a core does: multiply-accumulates by the type of what is
    multiplied, in one instruction, or in one cycle; bytes that it reads or writes in
    one cycle."""

    macs: dict[Literal["int8", "float16", "float32"], Annotated[float, Field(gt=0)]]
    bytes: float | None = Field(default=None, gt=0)


class Peak(Strict):
    """The limits of a core, of which a profile shows how far a kernel is."""

    instruction: Throughput | None = None
    cycle: Throughput | None = None


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
    detects: bool = False  # firmware finds out which of `isa` its core has
    peak: Peak | None = None

    @field_validator("arch", mode="before")
    @classmethod
    def _no_other_profile(cls, arch: Any) -> Any:
        if re.match(r"armv\d+(\.\d+)?-r", str(arch)):
            raise ValueError(_NO_CORTEX_R)
        return arch


class CoreFile(Core):
    title: str
    port: Port
    isa: tuple[str, ...]
    toolchains: tuple[str, ...] = Field(min_length=1)
    console: Console

    @model_validator(mode="after")
    def _cortex_m_has_flags(self) -> CoreFile:
        if self.port != "cortexm":
            return self
        if not re.search(r"-m(cpu|arch)=\S", self.flags):
            raise ValueError(
                "`flags` must name the core and its FPU, such as -mcpu=cortex-m4"
                " -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
            )
        if re.search(r"-mcpu=cortex-r|-march=\S*-r\b", self.flags):
            raise ValueError(_NO_CORTEX_R)
        return self


class Preemption(Strict):
    """What may interrupt every application of a board or chip."""

    # Functions that an application may link, and their priorities, if known.
    handlers: dict[str, Annotated[int, Field(ge=0)] | None] = Field(
        default_factory=dict
    )
    levels: int | None = Field(default=None, gt=0)  # at most so many nest


class WithCore(Strict):
    """A core that a board's or a chip's file describes."""

    core: CoreFile


class ChipFile(Strict):
    title: str
    cpu: str
    core: Table | None = None  # of `cpu`, when it has no file of its own
    isa: tuple[str, ...] | None = None
    toolchains: tuple[str, ...] | None = None
    memories: tuple[Memory, ...] = ()
    start: tuple[RegisterStep, ...] = ()  # what every board does first
    boot: Boot | None = None
    interrupts: Preemption = Preemption()
    uarts: dict[str, UartLine] = Field(default_factory=dict)
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


# ---- files ---------------------------------------------------------------------------


def layer_of(path: Path) -> Layer:
    """The keys of the file, in today's spelling, with files by their whole path."""
    table = _today(content(path))
    boot = table.get("boot")
    for file in _with_files(boot) if isinstance(boot, dict) else ():
        file["file"] = str(path.parent.absolute() / file["file"])
    return Layer(path, table)


def content(path: Path) -> Table:
    data = files.read_yaml(path)
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise SdkError(
            f"{path} is not a YAML mapping of keys such as `name: my-board`",
            hint="see docs/boards.md",
        )
    return data


def _today(table: Table) -> Table:
    """Keys as they were once called, as they are called now."""
    renamed = dict(table)
    if isinstance(renamed.get("chip"), dict):
        renamed.setdefault("identity", renamed.pop("chip"))
    boot: Table = {}
    if "boot_words" in renamed:
        boot["words"] = renamed.pop("boot_words")
    if renamed.get("boot_stage") is not None:
        stage = renamed["boot_stage"]
        part = {"what": f"the second stage of {stage}", "at": 0, "size": 256}
        boot |= {"code": 256, "parts": {"second_stage": {**part, "made": stage}}}
    renamed.pop("boot_stage", None)
    if boot and isinstance(renamed.get("boot", {}), dict):
        renamed["boot"] = {**boot, **renamed.get("boot", {})}
    return renamed


def _with_files(boot: Table) -> Iterator[Table]:
    parts = boot.get("parts")
    named = [boot, *(parts.values() if isinstance(parts, dict) else ())]
    for entry in named:
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            yield entry


def is_name(text: str) -> bool:
    """Whether it can be that of a file, and of nothing outside of the folder."""
    return re.fullmatch(r"[\w.-]+", text) is not None


def name_of(layer: Layer, key: str) -> str | None:
    """A key whose value names a file; an SdkError when it can be none."""
    value = layer.table.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not is_name(value):
        raise SdkError(f"{layer.path}: {key}: '{value}' is not a name")
    return value


def find(layers: Iterable[Layer], folder: str, name: str) -> Path | None:
    """The file called `name` in the `folder` beside one of `layers`, or in Ember's."""
    places = [layer.path.parent / folder for layer in layers]
    places.append(paths.boards() / folder)
    return next(
        (p for place in places if (p := place / f"{name}.yaml").is_file()), None
    )


def known(layer: Layer, folder: str) -> list[str]:
    places = {layer.path.parent / folder, paths.boards() / folder}
    return sorted({path.stem for place in places for path in place.glob("*.yaml")})


def near(name: str, known: Iterable[str]) -> str:
    """A suggestion for what may be misspelt by two characters, as "did you mean ..? ";
    more of them make another name, such as that of a part with another number."""
    for match in difflib.get_close_matches(name, list(known), n=1, cutoff=0.6):
        same = difflib.SequenceMatcher(None, match, name).ratio()
        if (1 - same) * (len(name) + len(match)) <= _MISSPELT:
            return f"did you mean {match}? "
    return ""


def check(layer: Layer, model: type[BaseModel]) -> None:
    try:
        model.model_validate(layer.table)
    except ValidationError as error:
        raise SdkError(
            problem_list(str(layer.path), problems(layer.path, error, model, {}, {})),
            hint="compare with the boards that `ember boards` lists",
        ) from error


def problems(
    path: Path,
    error: ValidationError,
    model: type[BaseModel],
    places: dict[str, Path],
    shifts: dict[str, int],
) -> list[str]:
    """Every mistake with its key, and its file where that is not `path`."""
    texts = []
    for item in error.errors():
        keys = list(item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            message = unknown_key(model, keys, ("like",))
        if len(keys) > 1 and isinstance(keys[1], int):
            keys[1] -= shifts.get(str(keys[0]), 0)
        place = places.get(str(keys[0]), path) if keys else path
        words = [] if place == path else [str(place)]
        words += [".".join(map(str, keys))] if keys else []
        texts += [": ".join([*words, line]) for line in message.splitlines()]
    return texts
