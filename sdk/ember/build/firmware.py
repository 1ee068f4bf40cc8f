"""A package of generated C becomes objects, and these a linked firmware."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember import paths
from ember.build import pack
from ember.build.stack import ports
from ember.build.stack.bound import CallGraph
from ember.build.stack.members import Members
from ember.errors import SdkError
from ember.program import Method, Tensor
from ember.toolchain import elf, linker, parts
from ember.toolchain.libraries import Libraries


@dataclass(frozen=True)
class Sources:
    """What is compiled for one firmware, beside libraries."""

    package: Path
    methods: tuple[Method, ...]
    app: Path | None  # a main() of the user's own
    traced: bool = False
    prepared: bool = False

    @property
    def paths(self) -> list[Path]:
        folder = paths.runtime() / "app"
        names = ["model.c"] if self.prepared else ["model.c", "model_loaded.c"]
        if self.app is None:
            names += ["run_main.c", "values.c", _values_of(self.methods)]
            names.append("trace_on.c" if self.traced else "trace_off.c")
        files = [folder / name for name in names]
        files += pack.sources(self.package)
        return [*files, self.app] if self.app else files

    def digest(self) -> bytes:
        """A hash of everything in the package that the compiler reads."""
        digest = hashlib.sha256()
        for path in sorted(self.package.rglob("*.[chS]")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        return digest.digest()

    def compile(self, libs: Libraries, folder: Path) -> list[Path]:
        options = [f"-I{self.package}"]
        options += [f"-I{self.app.parent}"] if self.app else []
        given = [self.app] if self.app else []
        objects = libs.compile(self.paths, folder, options, given=given)
        if self.app:
            _need_main(self.app, objects[-1])
        return objects


def _need_main(app: Path, compiled: Path) -> None:
    symbol = elf.read(compiled).symbol("main")
    if symbol is None or symbol.binding == elf.STB_LOCAL:
        raise SdkError(
            f"the application {app} has no main()",
            hint="it starts in `int main(void)`: see examples/firmware/once.c",
        )


@dataclass(frozen=True)
class LinkInputs:
    """Everything that the linker is given, and the parts that it will use."""

    libs: Libraries
    files: tuple[Path, ...]  # compiled for this firmware, and the user's kernels
    members: Members | None  # None: on this computer
    graph: CallGraph | None  # calls; None: the port has no bound of its stack

    def link(
        self, firmware: Path, script: Path | None, *, overlap: bool = False
    ) -> None:
        """Link `firmware`, beside it its map; SdkError when it does not fit."""
        self.libs.link(
            list(self.files),
            firmware,
            script=script,
            map_file=firmware.with_suffix(".map"),
            overlap=overlap,
        )


def objects(libs: Libraries, files: Sequence[Path]) -> LinkInputs:
    """The objects to link `files` with the parts of libraries that they call."""
    libs = parts.of(libs, files)
    members = ports.members(libs, files)
    return LinkInputs(libs, tuple(files), members, ports.graph(libs, members))


def script_with_stack(package: Path, size: int) -> Path:
    """The package's linker script with another stack size, in a second file."""
    script = package / "linker-traced.ld"
    text = (package / "linker.ld").read_text(encoding="utf-8")
    script.write_text(linker.with_stack(text, size), encoding="utf-8")
    return script


def _values_of(methods: Iterable[Method]) -> str:
    """The application's source that reads the kinds of input that the methods take."""
    values = [method.values[index] for method in methods for index in method.inputs]
    fixed = all(isinstance(value, Tensor) and not value.is_dynamic for value in values)
    return "values_fixed.c" if fixed else "values_any.c"
