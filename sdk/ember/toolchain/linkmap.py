"""A linker's map file becomes the bytes that each archive brought into a firmware.

GNU ld and lld both list every input section with address, size and where it is from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# By the start of a section's name. .data is in flash and in RAM.
_KINDS = {
    ".text": "code",
    ".rodata": "constants",
    ".ARM.ex": "constants",
    ".data": "data",
    ".bss": "bss",
    ".ember_vectors": "constants",
}
FLASH = ("code", "constants", "data")
_PADDING = 8  # bytes; a larger hole between two sections is no padding of the first

# ` .text.f  0x00000040  0x24  /a/libc.a(f.o)`; a long name stands on a line of its own.
_GNU = re.compile(
    r"^ (?P<section>\.\S+)\s+0x(?P<address>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)"
    r" (?P<source>\S.*)$",
    re.MULTILINE,
)
# `  40  40  24  4  /a/libc.a(f.o):(.text.f)`
_LLD = re.compile(
    r"^ *(?P<address>[0-9a-f]+) +[0-9a-f]+ +(?P<size>[0-9a-f]+) +\d+"
    r" +(?P<source>\S.*):\((?P<section>\.[^)]+)\)$",
    re.MULTILINE,
)
# `/a/libc.a(f.o)` and what needed it; a short name leaves both on one line.
_INCLUDED = re.compile(r"^(?P<member>\S.*?\.a\([^)]*\))\s+(?=\S)", re.MULTILINE)
_MEMORY_MAP = "Linker script and memory map"
_MEMBER = re.compile(r"(?P<archive>[^/\\]+)\.a\((?P<member>[^)]+)\)$")


@dataclass(frozen=True)
class MapPiece:
    """An input section as it was linked."""

    section: str
    address: int
    size: int
    archive: str | None  # "libember_core"; None: an object of its own
    member: str
    file: str = ""  # the archive or object, as the map names it

    @property
    def kind(self) -> str | None:
        """code, constants, data or bss; None for what is no part of the code."""
        return next(
            (kind for start, kind in _KINDS.items() if self.section.startswith(start)),
            None,
        )


def pieces(map_file: Path) -> list[MapPiece]:
    """Every input section with bytes in the firmware, by address, as it is linked."""
    text = map_file.read_text(encoding="utf-8", errors="surrogateescape")
    _, gnu, rest = text.partition(_MEMORY_MAP)
    if gnu:
        rest = re.sub(r"(?m)^( \.\S+)\n\s+", r"\1 ", rest)
    listed = []
    for match in (_GNU if gnu else _LLD).finditer(rest if gnu else text):
        source = _MEMBER.search(match["source"])
        named = match["source"]
        listed.append(
            MapPiece(
                section=match["section"],
                address=int(match["address"], 16),
                size=int(match["size"], 16),
                archive=source["archive"] if source else None,
                member=source["member"] if source else Path(named).name,
                file=named.removesuffix(f"({source['member']})") if source else named,
            )
        )
    kept = [piece for piece in listed if piece.kind and piece.size > 0]
    return sorted(kept, key=lambda piece: piece.address)


def archive_bytes(map_file: Path) -> dict[str, int]:
    """Bytes by archive, what aligns the next section included; "" for objects."""
    in_flash = [piece for piece in pieces(map_file) if piece.kind in FLASH]
    total: dict[str, int] = {}
    for piece, following in zip(in_flash, [*in_flash[1:], None], strict=True):
        size = piece.size
        if following is not None:
            hole = following.address - piece.address - piece.size
            size += hole if 0 < hole < _PADDING else 0
        total[piece.archive or ""] = total.get(piece.archive or "", 0) + size
    return total


def make_portable(map_file: Path, names: Mapping[Path, str]) -> None:
    """Rewrite a map so that it is the same wherever a firmware was made: each folder of
    `names` gets its name there, and columns do not depend on its length."""
    text = map_file.read_text(encoding="utf-8", errors="surrogateescape")
    for folder in sorted(names, key=lambda path: -len(str(path))):
        text = text.replace(f"{folder}/", f"{names[folder]}/")
    included, gnu, rest = text.partition(_MEMORY_MAP)
    if gnu:
        included = _INCLUDED.sub(lambda match: f"{match['member']}\n  ", included)
    text = included + gnu + rest
    map_file.write_text(text, encoding="utf-8", errors="surrogateescape")
