"""Options that several commands have, as Typer reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ember.plan import passes

ModelsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="MODEL...", help=".pte, .bpte, or case folders."),
]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Method to pack; repeatable."),
]
CallerIoOption = Annotated[
    bool,
    typer.Option(
        "--caller-io", help="The application provides memory for unplanned tensors."
    ),
]
FolderOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", help="Output folder.")
]
KernelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--kernels",
        metavar="FOLDER",
        help="Your own kernels: a folder with a kernels.yaml; repeatable.",
    ),
]
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project", metavar="FILE", help="Default: ember.yaml in the current folder."
    ),
]
PassesOption = Annotated[
    str | None,
    typer.Option(
        "--passes",
        metavar="NAME,...",
        help=f"Only these passes: {', '.join(passes.NAMES)}; '' for none.",
    ),
]
RowsOption = Annotated[
    passes.Rows | None,
    typer.Option(
        metavar="off|fit|smallest|fed",
        help="Run layers row by row, which needs less memory: never, only if the model"
        " does not fit otherwise (the default), wherever it saves memory, or with an"
        " input that comes row by row.",
    ),
]
NoPassOption = Annotated[
    list[str] | None,
    typer.Option("--no-pass", metavar="NAME", help="Skip this pass; repeatable."),
]
