"""A build folder: its JSON, stamp and lock, and what it holds as a record."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from ember import files, program, writing
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware.jobs import Job, Options
from ember.model import Model
from ember.program import Method

_STAMP = "build.json"
CERTIFICATE = "certificate.json"  # in 5-firmware


def is_built(folder: Path, key: str) -> bool:
    return held(folder) == key


def held(folder: Path) -> str | None:
    """The key of what the folder holds; None: nothing whole."""
    try:
        stamp = files.read_json(folder / _STAMP)
    except SdkError:
        return None
    key = stamp.get("key") if isinstance(stamp, dict) else None
    return key if isinstance(key, str) else None


@contextlib.contextmanager
def filled(folder: Path, key: str) -> Iterator[Path]:
    """A temporary folder for artefacts, which then replace those of an older build.

    Other files in `folder` stay.
    """
    with writing.aside(folder) as place:
        yield place
        _clean(folder)
        for entry in sorted(place.iterdir()):
            target = folder / entry.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            entry.rename(target)
        write_json(folder / _STAMP, {"key": key})


@contextlib.contextmanager
def locked(folder: Path, key: str, before: str | None) -> Iterator[bool]:
    """Locks a folder for one build; yields whether it holds `key` already.

    `before` is what it held when the command began. SdkError when another command has
    put something else there since: one of the two would be lost.
    """
    with writing.locked(folder, wait=True):
        there = held(folder)
        if there not in (key, before, None):
            raise writing.busy(folder)
        yield there == key


def _clean(folder: Path) -> None:
    """Forget an older build."""
    (folder / _STAMP).unlink(missing_ok=True)
    names = ("[1-3]-*.json", "4-package", "5-firmware", "6-run")
    for path in (path for pattern in names for path in folder.glob(pattern)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def write_json(path: Path, facts: Any) -> None:
    text = f"{json_text(facts)}\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = files.read_json(path)
    return content


# ---- JSON ----------------------------------------------------------------------------


_INDENT = "  "


def json_text(data: Any, indent: str = "") -> str:
    """`data` as it stands behind `indent`."""
    if isinstance(data, str):
        return encode_basestring(data)
    inner = indent + _INDENT
    if isinstance(data, dict):
        items = [f"{inner}{_key(key)}: {json_text(data[key], inner)}" for key in data]
        return _closed("{", items, indent, "}")
    if isinstance(data, list | tuple):
        return _closed(
            "[", [inner + json_text(item, inner) for item in data], indent, "]"
        )
    return json.dumps(data, ensure_ascii=False)


def _closed(start: str, items: list[str], indent: str, end: str) -> str:
    if not items:
        return start + end
    return f"{start}\n" + ",\n".join(items) + f"\n{indent}{end}"


def _key(key: Any) -> str:
    if isinstance(key, str):
        return encode_basestring(key)
    entry: Mapping[Any, int] = {key: 0}
    return json.dumps(entry, ensure_ascii=False).removeprefix("{").removesuffix(": 0}")


# ---- what it holds -------------------------------------------------------------------


@dataclass(frozen=True)
class Built:
    """Firmware of one model, or of several, for one board."""

    models: tuple[Model, ...]
    board: Board
    all_methods: tuple[tuple[Method, ...], ...]  # methods of each model
    folder: Path
    selection: dict[str, Any]
    plan: dict[str, Any]
    certificate: dict[str, Any]
    sizes: dict[str, Any]  # size, memory
    images: tuple[Path, ...]  # flashable files
    options: Options = field(default_factory=Options)

    @property
    def model(self) -> Model:
        """The first one."""
        return self.models[0]

    @property
    def methods(self) -> tuple[Method, ...]:
        """Those of the first model."""
        return self.all_methods[0]

    @property
    def name(self) -> str:
        return "_".join(model.name for model in self.models)

    def packed(self, name: str) -> Method:
        """A method of the first model as the firmware has it."""
        folder = self.folder / "4-package"
        if len(self.models) > 1:
            folder /= self.model.identifier
        method = program.read(folder / "model.pte").method(name)
        assert method is not None
        return method

    @property
    def firmware(self) -> Path:
        return self.folder / "5-firmware" / "firmware.elf"

    @property
    def traced(self) -> Path:
        """The same firmware with a mark around each node; made by trace()."""
        return self.folder / "5-firmware" / "firmware-traced.elf"


def read(folder: Path, job: Job) -> Built:
    sizes = read_json(folder / "5-firmware" / "size.json")
    return Built(
        models=job.models,
        board=job.board,
        all_methods=job.methods,
        folder=folder,
        selection=read_json(folder / "2-selection.json"),
        plan=read_json(folder / "3-plan.json"),
        certificate=read_json(folder / "5-firmware" / CERTIFICATE),
        sizes=sizes,
        images=tuple(folder / "5-firmware" / name for name in sizes["images"]),
        options=job.options,
    )
