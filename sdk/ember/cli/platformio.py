"""`ember platformio`: PlatformIO's platform `ember`, set up for this host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ember import output, writing
from ember.packaging import platformio


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Output folder.")
    ] = Path(".ember"),
) -> None:
    with writing.folder(folder, whole=platformio.OWN) as place:
        platformio.write(place)
    console = output.console()
    console.print(output.plain(str(folder)), soft_wrap=True)
    if not platformio.has_scons(folder):
        console.print(
            "no PlatformIO with SCons found: PlatformIO will download its own SCons;"
            " to work offline, pip install platformio scons and run this again"
        )
