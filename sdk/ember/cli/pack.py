"""`ember pack`: models for a board, ready to be linked by your own project."""

from __future__ import annotations

from dataclasses import replace

from ember import output
from ember.cli.build import (
    BoardOption,
    MessagesOption,
    OptimizeOption,
    StackOption,
    ToolchainOption,
    note_header,
)
from ember.cli.options import (
    CallerIoOption,
    FolderOption,
    KernelsOption,
    MethodsOption,
    ModelsArgument,
    NoPassOption,
    PassesOption,
    ProjectOption,
    RowsOption,
)
from ember.firmware import package
from ember.firmware import project as projects
from ember.firmware.jobs import options_of
from ember.packaging import cmake_files


def command(
    out: FolderOption,
    model: ModelsArgument = None,
    board: BoardOption = None,
    method: MethodsOption = None,
    caller_io: CallerIoOption = False,
    messages: MessagesOption = False,
    stack: StackOption = None,
    optimize: OptimizeOption = None,
    only_passes: PassesOption = None,
    no_pass: NoPassOption = None,
    rows: RowsOption = None,
    toolchain: ToolchainOption = None,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
) -> None:
    plans = projects.load(project, kernels)
    options = replace(
        options_of(plans, optimize, only_passes, no_pass, rows),
        methods=tuple(method or ()),
        caller_io=caller_io,
        messages=messages,
        stack=stack or plans.stack,
        toolchain=toolchain,
    )
    models = plans.models_or(model or [])
    target = plans.board_or(board)
    packed = package(models, target, out.absolute(), options)
    text = cmake_files.link(
        packed.libs,
        objects=packed.objects,
        script=packed.script,
        includes=[packed.folder],
    )
    output.write_text(text, out / "package.cmake")
    note_header(packed.libs.board)
    output.console().print(output.plain(str(out / "package.cmake")), soft_wrap=True)
