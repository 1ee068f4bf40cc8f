"""Options that several commands share, for Typer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ember import boards
from ember.errors import UsageError
from ember.plan import passes

if TYPE_CHECKING:
    from ember.hil.places import PlaceOrder


def board_names() -> list[str]:
    """The names that shells offer for --board."""
    return boards.names()


ModelsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="MODEL...", help="Models: .pte or .bpte files, or case folders."
    ),
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
        "--project",
        metavar="FILE",
        help="Project file. Default: ember.yaml in the current folder.",
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
        help="Run layers row by row to save memory. off: never; fit: only if the model"
        " does not fit otherwise (the default); smallest: wherever it saves memory;"
        " fed: with an input that arrives row by row.",
    ),
]
NoPassOption = Annotated[
    list[str] | None,
    typer.Option("--no-pass", metavar="NAME", help="Skip this pass; repeatable."),
]


# ---- boards that a labgrid coordinator lends -----------------------------------------


BOARDS_PANEL = "Real boards"  # of the help

PlaceOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Use a board of a labgrid lab: acquire, use and release it.",
        rich_help_panel=BOARDS_PANEL,
    ),
]
WaitOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0,
        help="How long to wait while others hold the place. Default: 0.",
        rich_help_panel=BOARDS_PANEL,
    ),
]
AcquiredOption = Annotated[
    bool,
    typer.Option(
        "--acquired",
        help="Use the place as it is: you hold it already (`labgrid-client acquire`).",
        rich_help_panel=BOARDS_PANEL,
    ),
]


def order_of(
    place: str | None, wait: float | None, acquired: bool
) -> PlaceOrder | None:
    """What --place, --wait and --acquired ask for, if anything."""
    from ember.hil.places import PlaceOrder  # most commands have no place

    if place is None:
        for option, given in (("--wait", wait is not None), ("--acquired", acquired)):
            if given:
                raise UsageError(f"{option} needs --place")
        return None
    if acquired and wait is not None:
        raise UsageError("give --wait or --acquired, not both")
    if not place or place.startswith("-"):
        raise UsageError(f"'{place}' is not the name of a place")
    return PlaceOrder(place, wait or 0.0, acquired)
