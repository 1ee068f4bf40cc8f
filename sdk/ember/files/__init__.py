"""File path -> bytes, and bytes -> which of ExecuTorch's kinds of file they are."""

from __future__ import annotations

import enum
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ember.errors import SdkError
from ember.files import schema


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
    for form in _FORMATS.values():
        _expect_version(data, form, what)
    raise SdkError(
        f"{what} is not an ExecuTorch file (.pte, .bpte, .ptd)",
        hint=_MEANT.get(Path(what).suffix, "give the .pte that to_executorch() wrote"),
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
        hint="update Ember or export with executorch 1.4"
        if newer
        else "export the model again with executorch 1.4",
    )


def _article(kind: Kind) -> str:
    return f"{'' if kind is Kind.DATA else 'a '}{kind.value}"
