"""Options that several commands have, as Typer reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

KernelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--kernels",
        metavar="FOLDER",
        help="Kernels of your own: a folder with a kernels.yaml; repeatable.",
    ),
]
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project", metavar="FILE", help="Not ember.yaml of the current folder."
    ),
]
