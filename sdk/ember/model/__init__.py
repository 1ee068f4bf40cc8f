"""What a user names on the command line becomes a model: program, data, methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ember import files, kernels, paths, quoted
from ember.errors import SdkError
from ember.files import tensor_data
from ember.program import Method, Program, bundle

# What follows ember_model_ in the names of ember/model.h.
_OF_RUNTIME = {
    *("attach", "count", "lend", "load", "load_of", "method", "method_t", "open"),
    *("open_of", "parts", "parts_t", "start", "t"),
}


@dataclass(frozen=True)
class Model:
    """A program with the files it needs, before anything is decided about a board."""

    name: str
    path: Path
    content: bytes  # the .pte of `program`
    data: tuple[bytes, ...]  # the .ptd files
    program: Program
    # The .pte as it was exported, if calls in it have the arguments of other versions.
    exported: bytes | None = None

    @property
    def given(self) -> bytes:
        """The .pte as it was exported."""
        return self.exported or self.content

    @property
    def identifier(self) -> str:
        """The name as a C identifier: behind `ember_model_`, none of the runtime's."""
        text = quoted.identifier(self.name).lower()
        fits = text[:1].isalpha() and text not in _OF_RUNTIME
        return text if fits else f"model_{text}"

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
    parsed, program_bytes = kernels.read_program(content, str(file))
    if not parsed.methods:
        raise SdkError(f"{file} has no methods", hint="export the program again")
    blobs = tensor_data.read_all(data) if data else ()
    exported = content if parsed.earlier else None
    return Model(paths.text(name), path, program_bytes, blobs, parsed, exported)


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
