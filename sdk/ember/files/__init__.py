"""A path becomes bytes and their kind of file; YAML and JSON of others become data.

A YAML or JSON file is untrusted: it becomes data, or a sentence that says why not. A
small file can expand to more than the host's memory: lists nested to any depth, aliases
of aliases. So a file is measured before objects are created from it; the limits are far
above what Ember's files need, and docs/security.md lists them.
"""

from __future__ import annotations

import enum
import hashlib
import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

from ember.errors import SdkError
from ember.files import schema
from ember.kept import kept


class Kind(enum.Enum):
    PROGRAM = "program"
    BUNDLE = "bundled program"
    DATA = "tensor data"


@dataclass(frozen=True)
class _Format:
    identifier: bytes
    suffix: str
    hint: str


_FORMATS = {
    Kind.PROGRAM: _Format(
        schema.PROGRAM_ID, ".pte", "give the .pte that to_executorch() wrote"
    ),
    Kind.BUNDLE: _Format(
        schema.BUNDLE_ID, ".bpte", "give the .bpte that holds the program and its tests"
    ),
    Kind.DATA: _Format(
        schema.DATA_ID, ".ptd", "give the .ptd that was exported beside the program"
    ),
}
_SHORTEST = 8  # root offset and identifier


def read(path: Path, most: int | None = None, what: str = "") -> bytes:
    """The bytes of a file, at most `most`; raises an SdkError if it cannot be read."""
    with opened(path, what=what) as file:
        size = path.stat().st_size
        if most is not None and size > most:
            raise SdkError(f"{what} {path}".strip() + f" has more than {most:,} bytes")
        try:
            return file.read()
        except OSError as error:
            raise _unreadable(path, error) from error


def opened(
    path: Path, wanted: str = "a .pte, .bpte or .ptd file", what: str = ""
) -> IO[bytes]:
    """The file, open for reading. Folders, pipes and devices are refused."""
    name = f"{what} {path}".strip()
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SdkError(f"{name} is a folder", hint=f"give {what or wanted}")
        if not stat.S_ISREG(mode):
            raise SdkError(
                f"{name} is a pipe or a device, not a file",
                hint=f"give {what or wanted}",
            )
        return path.open("rb")
    except FileNotFoundError:
        raise SdkError(
            f"{name} does not exist", hint="check the path and the current folder"
        ) from None
    except ValueError as error:  # the path contains a null byte
        raise SdkError(f"{str(path)!r} is not a path: {error}") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> SdkError:
    return SdkError(
        f"cannot read {path}: {error.strerror or error}",
        hint="check the permissions of the file"
        if isinstance(error, PermissionError)
        else None,
    )


def kind_of(data: bytes) -> Kind | None:
    """The kind of file that the identifier in the bytes stands for."""
    for kind, form in _FORMATS.items():
        if data[4:8] == form.identifier:
            return kind
    return None


def expect(data: bytes, kind: Kind, what: str) -> None:
    """Raise an SdkError unless the bytes are of that kind and version."""
    form = _FORMATS[kind]
    actual = kind_of(data)
    if actual is kind:
        return
    refuse_native(data, what)
    if len(data) < _SHORTEST:
        raise SdkError(
            f"{what} is not an ExecuTorch {kind.value}: it has {len(data)} bytes",
            hint="the file is empty or truncated: export or copy it again",
        )
    if actual is not None:
        other = _FORMATS[actual].suffix
        raise SdkError(
            f"{what} is {_article(actual)} ({other}), not {_article(kind)} "
            f"({form.suffix})",
            hint=form.hint,
        )
    _expect_version(data, form, what)
    raise SdkError(
        f"{what} is not an ExecuTorch {kind.value}: its bytes 4 to 8 are "
        f"{data[4:8]!r}, not {form.identifier!r}",
        hint=form.hint,
    )


# What users of files with other names are likely to want.
_MEANT = {
    ".c": "an application goes with a model: MODEL.pte --app FILE.c",
    ".py": "make a program of it first: ember export FILE.py",
    ".pt2": "make a program of it first: ember export FILE.pt2",
    ".pt": "export the model to a .pte: see `ember export --help`",
    ".pth": "export the model to a .pte: see `ember export --help`",
    ".tflite": "Ember runs ExecuTorch's .pte: export the model from PyTorch",
    ".onnx": "Ember runs ExecuTorch's .pte: export the model from PyTorch",
}


def expect_known(data: bytes, what: str) -> Kind:
    """The kind of the bytes; raises an SdkError if it is unknown."""
    kind = kind_of(data)
    if kind is not None:
        return kind
    refuse_native(data, what)
    for form in _FORMATS.values():
        _expect_version(data, form, what)
    raise SdkError(
        f"{what} is not an ExecuTorch file (.pte, .bpte, .ptd)",
        hint=_MEANT.get(Path(what).suffix, "give the .pte that to_executorch() wrote"),
    )


def refuse_native(data: bytes, what: str) -> None:
    """Raises SdkError for a .ptn of ExecuTorch's native backend, a zip with a graph in
    program.ptg, and for such a graph without a zip."""
    packed = data.startswith(b"PK\3\4") and b"program.ptg" in data
    if packed or data[4:8] == b"NPTG":
        raise SdkError(
            f"{what} is a {'.ptn package' if packed else 'program.ptg'} of ExecuTorch's"
            " native backend, a graph and not a program",
            hint="give a .pte: call to_executorch() instead of to_native(), or use"
            " `ember export`",
        )


def _expect_version(data: bytes, form: _Format, what: str) -> None:
    """Raise an SdkError if the identifier differs only in its version."""
    mine, theirs = form.identifier, data[4:8]
    if len(theirs) < 4 or theirs[:2] != mine[:2] or not theirs[2:].isalnum():
        return
    newer = theirs > mine
    raise SdkError(
        f"{what} has the {'newer' if newer else 'older'} format {theirs.decode()}; "
        f"this Ember reads {mine.decode()}",
        hint="update Ember or export with executorch 1.5"
        if newer
        else "export the model again with executorch 1.5",
    )


def _article(kind: Kind) -> str:
    return f"{'' if kind is Kind.DATA else 'a '}{kind.value}"


# ---- YAML and JSON -------------------------------------------------------------------


MOST_YAML = 16 * 1024 * 1024  # bytes of a file
MOST_JSON = 256 * 1024 * 1024
_LONG = 32 * 1024  # characters of YAML from which on the parsed data is cached
MOST_DEPTH = 64  # nested lists and mappings
MOST_NODES = 2_000_000  # with every alias expanded

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast
_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
# What the constructors of dates, numbers and booleans raise for malformed text.
_WRONG_VALUE = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def read_yaml(path: Path, what: str = "") -> Any:
    """The content of a YAML file; an SdkError says where it is malformed."""
    name = f"{what} {path}".strip()
    text = _text(path, what)
    if len(text) < _LONG:
        return _parsed(text, name)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return kept(f"YAML of {path}", digest, lambda: _parsed(text, name))


def _parsed(text: str, name: str) -> Any:
    try:
        _measure(yaml.parse(text, _LOADER), name)
        return yaml.load(text, _LOADER)  # noqa: S506 - safe
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or "it is not text"
        raise SdkError(f"{name}{where}: not YAML: {reason}") from error
    except _WRONG_VALUE as error:
        raise SdkError(
            f"{name}: a value does not match its form or tag: {_line(error)}",
            hint="quote strings that look like dates or numbers",
        ) from error


def _measure(events: Iterator[Any], name: str) -> None:
    """Raise an SdkError if the document is nested too deeply or expands too far."""
    sizes: dict[str, int] = {}  # of nodes with an anchor
    open_: list[tuple[str | None, int]] = []  # anchor; nodes before it
    nodes = 0
    for event in events:
        if isinstance(event, _CLOSING):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = nodes - before
            continue
        nodes += 1
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_):
                raise SdkError(f"{name}: the alias *{event.anchor} contains itself")
            nodes += sizes.get(event.anchor or "", 1)
        elif isinstance(event, _OPENING):
            open_.append((event.anchor, nodes - 1))
            if len(open_) > MOST_DEPTH:
                raise _too_deep(name)
        elif isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            sizes[event.anchor] = 1
        if nodes > MOST_NODES:
            raise SdkError(
                f"{name}: it has more than {MOST_NODES:,} values once aliases are"
                " expanded"
            )


def read_json(path: Path, what: str = "", most: int = MOST_JSON) -> Any:
    """The content of a JSON file; an SdkError says where it is malformed."""
    name = f"{what} {path}".strip()
    return parse_json(read(path, most, what), name)


def parse_json(content: str | bytes, name: str) -> Any:
    """Data from the JSON in a file or message `name`."""
    try:
        data = json.loads(content)
    except RecursionError:
        raise _too_deep(name) from None
    except (
        ValueError
    ) as error:  # wrong syntax or encoding, or a number with too many digits
        raise SdkError(f"{name} is not JSON: {_line(error)}") from error
    if _depth_exceeds(data, MOST_DEPTH):
        raise _too_deep(name)
    return data


def _depth_exceeds(data: Any, most: int) -> bool:
    level = [data] if isinstance(data, dict | list) else []  # depth 1
    for _ in range(most):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    return bool(level)


def _text(path: Path, what: str) -> str:
    try:
        return read(path, MOST_YAML, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SdkError(f"{path} is not UTF-8 text") from error


def _too_deep(name: str) -> SdkError:
    return SdkError(
        f"{name}: lists and mappings are nested more than {MOST_DEPTH} deep",
        hint="Ember's files never are: is it damaged or malicious?",
    )


def _line(error: Exception) -> str:
    return str(error).split("\n")[0]
