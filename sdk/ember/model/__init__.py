"""What a user names on the command line becomes a model: program, data, methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ember import files, paths, program
from ember.errors import SdkError
from ember.files import tensor_data
from ember.program import Method, Program, bundle


@dataclass(frozen=True)
class Model:
    """A program with the files it needs, before anything is decided about a board."""

    name: str
    path: Path
    content: bytes  # the .pte
    data: tuple[bytes, ...]  # the .ptd files
    program: Program

    @property
    def identifier(self) -> str:
        """The name as a C identifier."""
        text = re.sub(r"\W", "_", self.name, flags=re.ASCII).lower()
        return text if text[:1].isalpha() else f"model_{text}"

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods that compute; all methods if none does."""
        every = self.program.methods
        return tuple(method for method in every if not method.is_constant) or every

    def method(self, name: str | None) -> Method:
        """The method called `name`; by default the only method, or `forward`."""
        names = [method.name for method in self.methods]
        if name is None:
            name = names[0] if len(names) == 1 else "forward"
        named = self.program.method(name)
        if named is not None:
            return named
        near = get_close_matches(name, names, n=1)
        raise SdkError(
            f"{self.path} has no method '{name}'",
            hint=f"did you mean '{near[0]}'?" if near else f"it has {', '.join(names)}",
        )


def read(path: Path, data: Sequence[Path] = ()) -> Model:
    """The model in `path`: a .pte, a .bpte, or a folder (a case) with one of them.

    `data` are .ptd files; those in a case folder are added automatically.
    """
    if path.is_dir():
        data = [*data, *sorted(path.glob("*.ptd"))]
        file, name = program_in(path), path.resolve().name
    else:
        file, name = path, path.stem
    content = files.read(file)
    if files.expect_known(content, str(file)) is files.Kind.BUNDLE:
        content = bundle.parse(content, str(file)).program
    parsed = program.parse(content, str(file))
    if not parsed.methods:
        raise SdkError(f"{file} has no methods", hint="export the program again")
    blobs = []
    for data_file in data:
        blob = files.read(data_file)
        tensor_data.parse(blob, str(data_file))
        blobs.append(blob)
    return Model(paths.text(name), path, content, tuple(blobs), parsed)


def program_in(folder: Path) -> Path:
    """The program of a case's folder."""
    for name in ("model.pte", "model.bpte"):
        if (folder / name).is_file():
            return folder / name
    programs = sorted([*folder.glob("*.pte"), *folder.glob("*.bpte")])
    if len(programs) == 1:
        return programs[0]
    raise SdkError(
        f"{folder} has {len(programs)} programs, and one is needed"
        if programs
        else f"{folder} has no program",
        hint="give a .pte, a .bpte or a case folder with model.pte in it",
    )
