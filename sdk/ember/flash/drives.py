"""UF2 boot loaders show a drive: where it is mounted, and copying a file to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ember.boards.flash_facts import Uf2
from ember.errors import SdkError, UsageError

_FACTS = "INFO_UF2.TXT"


@dataclass(frozen=True)
class Drive:
    place: Path
    model: str
    board_id: str


def mounted() -> list[Drive]:
    """Every drive of a UF2 boot loader."""
    return [drive for place in _places() if (drive := at(place)) is not None]


def at(place: Path) -> Drive | None:
    """The boot loader's drive at `place`; None when it is none."""
    try:
        text = (place / _FACTS).read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    facts = dict(re.findall(r"^([\w-]+):\s*(.*?)\s*$", text, re.MULTILINE))
    return Drive(place, facts.get("Model", "?"), facts.get("Board-ID", "?"))


def choose(facts: Uf2, probe: str | None) -> Drive:
    """The drive to copy to: the folder `probe`, or the only one for this chip."""
    if probe:
        drive = at(Path(probe))
        if drive is None:
            raise SdkError(
                f"{probe} is not the drive of a UF2 boot loader: it has no {_FACTS}"
            )
        if not _is_for(drive, facts):
            raise SdkError(
                f"wrong chip: {probe} is a {drive.board_id}, not a {facts.board_id}"
            )
        return drive
    drives = mounted()
    fitting = [drive for drive in drives if _is_for(drive, facts)]
    if not fitting:
        others = ", ".join(
            f"{candidate.place} ({candidate.board_id})" for candidate in drives
        )
        raise SdkError(
            f"no drive {facts.volume} is mounted"
            + (f", only drives of other chips: {others}" if others else ""),
            hint="hold the BOOTSEL or reset button while plugging the board in",
        )
    if len(fitting) > 1:
        places = ", ".join(str(candidate.place) for candidate in fitting)
        raise UsageError(
            f"{len(fitting)} boards are waiting for a file: {places}",
            hint="choose one with --probe FOLDER",
        )
    return fitting[0]


def copy(data: bytes, name: str, drive: Drive) -> None:
    """Write the file; the boot loader takes the drive away when it has all of it."""
    try:
        with (drive.place / name).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise SdkError(
            f"copying to {drive.place} failed: {error.strerror or error}",
            hint="plug the board in again with the button held, and retry",
        ) from error


def _is_for(drive: Drive, facts: Uf2) -> bool:
    return facts.board_id is None or drive.board_id == facts.board_id


def _places() -> Iterator[Path]:
    mounts = Path("/proc/mounts")
    if mounts.is_file():
        yield from _of_linux(mounts.read_text(encoding="utf-8").splitlines())
    yield from Path("/Volumes").glob("*")  # macOS
    if os.name == "nt":
        yield from (Path(f"{letter}:/") for letter in "DEFGHIJKLMNOPQRSTUVWXYZ")


def _of_linux(lines: Iterable[str]) -> Iterator[Path]:
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[2] in ("vfat", "msdos"):
            yield Path(words[1].encode().decode("unicode_escape"))
