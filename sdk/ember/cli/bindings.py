"""`ember bindings`: the C table of the kernels that a list of operators asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ember import boards, kernels, writing
from ember.cli.build import MessagesOption, OptimizeOption, ToolchainOption
from ember.cli.options import FolderOption
from ember.errors import SdkError, problem_list
from ember.kernels import library as kernel_library
from ember.kernels import opinfo
from ember.kernels.opinfo import OpInfo
from ember.packaging import cmake_files
from ember.select import gaps, selection
from ember.toolchain import libraries, linker, parts


def command(
    selected: Annotated[
        Path,
        typer.Option(metavar="FILE", help="A selected_operators.yaml."),
    ],
    board: Annotated[
        str, typer.Option(metavar="NAME", help="Target board; see `ember boards`.")
    ],
    out: FolderOption,
    functions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Select only the operators in this functions.yaml."
        ),
    ] = None,
    custom_ops: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="YAML file of operators whose kernels you link yourself.",
        ),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Also link this backend; repeatable."),
    ] = None,
    dtypes: Annotated[
        bool,
        typer.Option("--dtypes", help="Leave out kernels for unused dtypes."),
    ] = False,
    messages: MessagesOption = False,
    optimize: OptimizeOption = None,
    toolchain: ToolchainOption = None,
) -> None:
    target = boards.load(board)
    info = opinfo.read(selected)
    own_libraries = [kernel_library.read(custom_ops)] if custom_ops else []
    known = kernels.extended(kernels.load(), own_libraries)
    offered = _offered(known, functions, own_libraries)
    if info.everything:
        info |= OpInfo({op: frozenset({opinfo.DEFAULT}) for op in offered})
    missing = gaps.of_names(info.sources, known)
    if missing:
        raise selection.missing(missing)
    _check(info, offered, functions)
    if not dtypes:
        info = replace(info, keys={op: frozenset() for op in info.keys})
    usable = known.all(target.isa, smallest=optimize == "size")
    chosen = selection.of_operators(info, usable)
    libs = libraries.build(
        target,
        messages=messages,
        toolchain=toolchain,
        optimize=optimize or libraries.DEFAULT_OPTIMIZE,
        whole=False,
    )
    files = {
        "operators.c": kernels.operator_table(chosen, known, known.earlier),
        "backends.c": kernels.backend_table(
            _backends(info, backend or (), known), target.isa
        ),
    }
    libs = parts.of_tables(libs, files.values(), engines=bool(own_libraries))
    script = None
    if target.port != "host":
        script = out.absolute() / "linker.ld"
        files["linker.ld"] = linker.script(target)
    files["libraries.cmake"] = cmake_files.link(libs, script=script)
    with writing.folder(out) as place:
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")


def _backends(
    info: OpInfo, wanted: Sequence[str], known: kernels.KernelList
) -> frozenset[str]:
    """Those that the programs of `info` delegate to, and those that are asked for."""
    unknown = [
        f"Ember has no backend {backend}" for backend in {*wanted} - {*known.backends}
    ]
    if unknown:
        raise SdkError(problem_list("backends", unknown))
    if info.everything:
        return frozenset(known.backends)
    return (info.backends | {*wanted}) & known.backends.keys()


def _offered(
    known: kernels.KernelList,
    functions: Path | None,
    own_libraries: list[kernel_library.Library],
) -> set[str]:
    """The operators that may be selected: ATen's where they are listed."""
    if functions is None:
        return set(known.operators)
    operators = {op for op in known.operators if not op.startswith("aten::")}
    operators |= set(opinfo.read(functions).operators) & set(known.operators)
    return operators | {
        entry.op for library in own_libraries for entry in library.entries
    }


def _check(info: OpInfo, offered: set[str], functions: Path | None) -> None:
    problems = [
        f"{functions} has no {op}" for op in info.operators if op not in offered
    ]
    if problems:
        raise SdkError(problem_list("selected operators are not available", problems))
