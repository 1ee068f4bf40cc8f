"""The options of boards that a labgrid coordinator lends, as Typer reads them."""

from __future__ import annotations

from typing import Annotated

import typer

from ember.errors import UsageError
from ember.hil.places import PlaceOrder

PlaceOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A board of a labgrid lab: acquired, used, released.",
    ),
]
WaitOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0,
        help="How long others may keep the place. Default: 0.",
    ),
]
AcquiredOption = Annotated[
    bool,
    typer.Option(
        "--acquired",
        help="The place is yours already (`labgrid-client acquire`): use it as it is.",
    ),
]


def order_of(
    place: str | None, wait: float | None, acquired: bool
) -> PlaceOrder | None:
    """What --place, --wait and --acquired ask for; None: no place."""
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
