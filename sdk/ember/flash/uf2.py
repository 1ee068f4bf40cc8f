"""Blocks become a UF2 file, which is copied to the drive that a boot loader shows.

A UF2 file has numbered pieces of 256 bytes in blocks of 512. The drive cannot be read
back.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.boards.keys import Uf2
from ember.errors import SdkError, UsageError
from ember.flash.plans import FlashOrder, FlashPlan, ToolRun
from ember.toolchain.image import ImageSegment

IMAGE = "firmware.uf2"


def plan(order: FlashOrder, facts: Uf2) -> FlashPlan:
    if not order.program:
        raise UsageError(
            "uf2 cannot read flash back, so it cannot verify",
            hint="verify with a debug probe: --method pyocd",
        )
    data = pack(order.image.blocks, facts.family)
    words = ("copy", IMAGE, order.probe or facts.volume)
    return FlashPlan(
        "uf2", (ToolRun("program and start", words),), {IMAGE: data}, False
    )


# ---- the file ------------------------------------------------------------------------


_HEAD = struct.Struct("<8I")  # magic, magic, flags, address, size, index, count, family
_MAGIC_0, _MAGIC_1, _MAGIC_END = 0x0A32_4655, 0x9E5D_5157, 0x0AB1_6F30
_FAMILY_GIVEN = 0x2000
_NOT_FOR_FLASH = 0x0001
_BLOCK, _PAYLOAD = 512, 256


def pack(blocks: Sequence[ImageSegment], family: int, erased: int = 0xFF) -> bytes:
    """The file for a chip of `family`. Its boot loader writes whole pages."""
    pages = [page for block in blocks for page in _pages(block, erased)]
    return b"".join(
        _HEAD.pack(
            _MAGIC_0,
            _MAGIC_1,
            _FAMILY_GIVEN,
            page.address,
            _PAYLOAD,
            index,
            len(pages),
            family,
        )
        + page.data.ljust(_BLOCK - _HEAD.size - 4, b"\0")
        + struct.pack("<I", _MAGIC_END)
        for index, page in enumerate(pages)
    )


def unpack(data: bytes) -> tuple[tuple[ImageSegment, ...], int]:
    """The blocks and the family. Raises SdkError if the file is broken."""
    if not data or len(data) % _BLOCK:
        raise SdkError(f"a UF2 file of {len(data)} bytes is not a multiple of 512")
    segments: list[ImageSegment] = []
    families = set()
    for index, at in enumerate(range(0, len(data), _BLOCK)):
        head = _HEAD.unpack_from(data, at)
        (end,) = struct.unpack_from("<I", data, at + _BLOCK - 4)
        magic = (_MAGIC_0, _MAGIC_1, _MAGIC_END)
        if (head[0], head[1], end) != magic or head[4] > _BLOCK - _HEAD.size - 4:
            raise SdkError(f"block {index} of the UF2 file is broken")
        if head[2] & _NOT_FOR_FLASH:
            continue
        if (head[5], head[6]) != (index, len(data) // _BLOCK):
            raise SdkError(f"block {index} of the UF2 file is out of order")
        families.add(head[7] if head[2] & _FAMILY_GIVEN else 0)
        start = at + _HEAD.size
        _append(segments, ImageSegment(head[3], data[start : start + head[4]]))
    if len(families) != 1:
        raise SdkError("the UF2 file is for several chips")
    return tuple(segments), families.pop()


def _pages(block: ImageSegment, erased: int) -> Iterator[ImageSegment]:
    fill = bytes([erased])
    before = block.address % _PAYLOAD
    data = fill * before + block.data
    data += fill * (-len(data) % _PAYLOAD)
    for at in range(0, len(data), _PAYLOAD):
        yield ImageSegment(block.address - before + at, data[at : at + _PAYLOAD])


def _append(segments: list[ImageSegment], page: ImageSegment) -> None:
    if segments and segments[-1].address + len(segments[-1].data) == page.address:
        page = ImageSegment(segments[-1].address, segments.pop().data + page.data)
    segments.append(page)


# ---- the drive -----------------------------------------------------------------------


_FACTS = "INFO_UF2.TXT"


@dataclass(frozen=True)
class Drive:
    place: Path
    model: str
    board_id: str


def mounted() -> list[Drive]:
    """Every drive of a UF2 boot loader."""
    return [
        drive for place in _mount_points() if (drive := drive_at(place)) is not None
    ]


def drive_at(place: Path) -> Drive | None:
    """The boot loader's drive at `place`, or None."""
    try:
        text = (place / _FACTS).read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    facts = dict(re.findall(r"^([\w-]+):\s*(.*?)\s*$", text, re.MULTILINE))
    return Drive(place, facts.get("Model", "?"), facts.get("Board-ID", "?"))


def choose(facts: Uf2, probe: str | None) -> Drive:
    """The drive to copy to: the folder `probe`, or the only one for this chip."""
    if probe:
        drive = drive_at(Path(probe))
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
    """Writes the file; the boot loader unmounts the drive when the file is complete."""
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


def _mount_points() -> Iterator[Path]:
    mounts = Path("/proc/mounts")
    if mounts.is_file():
        yield from _fat_mounts(mounts.read_text(encoding="utf-8").splitlines())
    yield from Path("/Volumes").glob("*")  # macOS
    if os.name == "nt":
        yield from (Path(f"{letter}:/") for letter in "DEFGHIJKLMNOPQRSTUVWXYZ")


def _fat_mounts(lines: Iterable[str]) -> Iterator[Path]:
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[2] in ("vfat", "msdos"):
            yield Path(words[1].encode().decode("unicode_escape"))
