"""SWEEP.yaml becomes settings: which programs, boards and options are multiplied.

programs: [cases/, "models/*.bpte"]  # folders of cases, .bpte, patterns of them
models: [{file: network.py, quantize: [float, int8], backends: [xnnpack]}]  # exported
graphs: {seeds: 0..1000, families: [core, xnnpack]}  # random ones, exported here
boards: [mps2-an386, my_board.yaml]
options: [{}, {optimize: size}, {rows: smallest}]  # of packing; each with each board
measure: true                        # cycles, RAM and flash too: firmware for each case
timeout: 60                          # seconds of one case; else the board's
batch: 64                            # cases of one start of an emulator

Files are relative to the folder of SWEEP.yaml.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from ember import cases, files
from ember.boards import keys
from ember.boards.keys import Strict
from ember.cases import Found
from ember.errors import SdkError, problem_list
from ember.export.flows import Backend, Quantize
from ember.toolchain.libraries import DEFAULT_OPTIMIZE, Optimize

Family = Literal["core", "half", "integer", "dynamic", "control", "xnnpack", "cortex_m"]
Format = Literal["float", Quantize]
_PATTERN = "*?["
_MOST_BATCH = 10_000


class Option(Strict):
    """How programs are packed and for what kernels are chosen."""

    optimize: Optimize = DEFAULT_OPTIMIZE
    rows: Literal["off", "smallest"] = "off"

    @field_validator("rows", mode="before")
    @classmethod
    def _off_is_a_word(cls, given: Any) -> Any:
        return "off" if given is False else given  # as YAML reads it

    @property
    def text(self) -> str:
        """The settings that are not the default, such as "optimize=size"."""
        said = self.model_dump(exclude_defaults=True)
        return ", ".join(f"{name}={value}" for name, value in said.items())


class Graphs(Strict):
    """Random graphs: one for each seed and family."""

    seeds: str  # "0..100" is 0 to 99
    families: tuple[Family, ...] = Field(default=("core",), min_length=1)

    @field_validator("seeds")
    @classmethod
    def _is_a_range(cls, given: str) -> str:
        match = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", given)
        if match is None or int(match[1]) >= int(match[2]):
            raise ValueError("give FIRST..END, such as 0..100 for 0 to 99")
        return given

    @property
    def numbers(self) -> range:
        first, _, end = self.seeds.partition("..")
        return range(int(first), int(end))


class ModelExports(Strict):
    """A model to export with each backend, in each format, for each of `samples`."""

    file: str  # .py or .pt2
    backends: tuple[Backend, ...] = Field(default=("portable",), min_length=1)
    quantize: tuple[Format, ...] = Field(default=("float",), min_length=1)
    samples: tuple[str, ...] = ()  # as for `--calibrate`; (): those of the file


class Sweep(Strict):
    """The content of the file."""

    programs: tuple[str, ...] = ()
    models: tuple[ModelExports, ...] = ()
    graphs: Graphs | None = None
    boards: tuple[str, ...] = Field(min_length=1)
    options: tuple[Option, ...] = Field(default=(Option(),), min_length=1)
    measure: bool = False
    timeout: float | None = Field(default=None, gt=0)
    batch: int = Field(default=64, ge=1, le=_MOST_BATCH)

    @model_validator(mode="after")
    def _runs_something(self) -> Sweep:
        if not self.programs and not self.models and self.graphs is None:
            raise ValueError("it needs programs, models or graphs")
        return self

    @property
    def text(self) -> str:
        return json.dumps(self.model_dump(mode="json"), sort_keys=True)


def read(path: Path) -> Sweep:
    """Reads the file. Raises SdkError with every problem in it."""
    data = files.read_yaml(path, "the sweep")
    try:
        return Sweep.model_validate(data if data is not None else {})
    except ValidationError as error:
        problems = [_problem(detail) for detail in error.errors()]
        raise SdkError(problem_list(f"{path} is wrong", problems)) from None


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    said = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        said = keys.unknown_key(Sweep, error["loc"])
    return f"{where}: {said}" if where else said


def programs(sweep: Sweep, folder: Path) -> list[Found]:
    """The cases of all programs. Raises UsageError if a path has none."""
    if not sweep.programs:
        return []
    return cases.find(
        [path for name in sweep.programs for path in _paths(name, folder)]
    )


def _paths(name: str, folder: Path) -> Iterator[Path]:
    if not any(sign in name for sign in _PATTERN):
        yield folder / name
        return
    base = Path(name)
    top = Path(base.anchor) if base.is_absolute() else folder
    matching = sorted(top.glob(str(base.relative_to(base.anchor))))
    if not matching:
        raise SdkError(f"programs: {name} matches no file below {top}")
    yield from matching
