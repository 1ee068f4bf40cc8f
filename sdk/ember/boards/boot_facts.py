"""The key `boot:` of a board: what its chip's boot ROM reads before any code runs.

Addresses are counted from the beginning of the memory that holds the vectors:

    0 .. code    parts: the flash's configuration, a table of the image, a second stage
    code ..      the vectors, then `words`
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from ember.boards.flexspi import FlexSpi
from ember.boards.steps import Word
from ember.boards.strict import Size, Strict

_LARGEST = 1 << 20  # bytes in front of the vectors
_VECTORS_ALIGN = 256
_SUM = 4  # bytes of a checksum


@dataclass(frozen=True)
class BootBlock:
    """Bytes of a file that lie in front of the vectors."""

    at: int
    data: bytes


class _Filled(Strict):
    """A range whose bytes a file may give; they are read with the board."""

    file: str | None = None
    content: str = Field(default="", pattern=r"^([0-9a-f]{2})*$")

    @model_validator(mode="before")
    @classmethod
    def _the_file_is_read(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("file"), str):
            return given
        if "content" in given:  # of a board that was read before
            return given
        path = Path(given["file"])
        if not path.is_file():
            raise ValueError(f"{path} does not exist")
        try:
            if path.stat().st_size > _LARGEST:
                raise ValueError(f"{path} has more than {_LARGEST} bytes")
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
        if not data:
            raise ValueError(f"{path} is empty")
        return {**given, "content": data.hex()}

    @property
    def data(self) -> bytes:
        return bytes.fromhex(self.content)


Made = Literal[
    "rp2040", "imxrt-flash-configuration", "imxrt-vector-table", "imxrt-boot-data"
]


class BootPart(_Filled):
    """One thing that the boot ROM looks for."""

    what: str = Field(min_length=1)  # for people
    at: int = Field(ge=0, lt=_LARGEST)
    size: Size = Field(le=_LARGEST)
    # Its last four bytes are the sum of the others, and a file may lack them.
    checksum: Literal["crc32-mpeg2"] | None = None
    # By Ember: code of runtime_c/port/cortexm, or data of boot_images.py.
    made: Made | None = None
    flexspi: FlexSpi | None = None  # of a flash configuration
    kept: bool = False  # somebody else has written it, and Ember leaves it alone

    @property
    def end(self) -> int:
        return self.at + self.size

    @property
    def is_missing(self) -> bool:
        return not (self.content or self.made or self.kept)

    @property
    def is_code(self) -> bool:
        """Whether Ember's code is the part."""
        return self.made == "rp2040" and not (self.content or self.kept)

    @property
    def is_data(self) -> bool:
        """Whether Ember makes its bytes from what it knows of the board."""
        return self.made not in (None, "rp2040") and not (self.content or self.kept)

    @property
    def bytes(self) -> bytes:
        """The file's, filled up to the size of the part."""
        room = self.size - (_SUM if self.checksum else 0)
        data = self.data[:room].ljust(room, b"\0")
        return data + (crc32_mpeg2(data) if self.checksum else b"")

    @model_validator(mode="after")
    def _only_a_flash_configuration_has_a_flash(self) -> BootPart:
        if self.flexspi and self.made != "imxrt-flash-configuration":
            raise ValueError("`flexspi` needs `made: imxrt-flash-configuration`")
        return self

    @model_validator(mode="after")
    def _the_file_fits(self) -> BootPart:
        room = self.size - (_SUM if self.checksum else 0)
        if len(self.data) > self.size or (
            len(self.data) > room and self.data != self.bytes
        ):
            least = " that end in a valid checksum" if self.checksum else ""
            raise ValueError(
                f"{self.file} has {len(self.data)} bytes; {self.what} takes"
                f" {room}{f', or {self.size}{least}' if least else ''}"
            )
        return self


class Boot(_Filled):
    """What lies in front of the vectors and right behind them. `file` is all that is
    in front, in one piece."""

    code: int = Field(default=0, ge=0, le=_LARGEST, multiple_of=_VECTORS_ALIGN)
    parts: dict[str, BootPart] = Field(default_factory=dict)
    words: tuple[Word, ...] = ()

    @property
    def missing(self) -> list[str]:
        """What the boot ROM wants and nobody gives."""
        if self.content:
            return []
        return [part.what for part in self.parts.values() if part.is_missing]

    @property
    def made(self) -> str | None:
        """The code of Ember that is everything in front of the vectors."""
        parts = self.parts.values() if not self.content else ()
        return next((part.made for part in parts if part.is_code), None)

    @model_validator(mode="after")
    def _parts_lie_before_the_code(self) -> Boot:
        ordered = sorted(self.parts.items(), key=lambda item: item[1].at)
        for (name, part), (other, following) in itertools.pairwise(ordered):
            if part.end > following.at:
                raise ValueError(f"the parts {name} and {other} overlap")
        for name, part in ordered:
            if part.end > self.code:
                raise ValueError(
                    f"{name} ends at {part.end:#x}, but the code begins at"
                    f" {self.code:#x}: set `code`"
                )
            if part.is_code and (part.at, part.end) != (0, self.code):
                raise ValueError(
                    f"{name} is generated by Ember and must fill"
                    " everything before `code`"
                )
        if len(self.data) > self.code:
            raise ValueError(
                f"{self.file} has {len(self.data)} bytes, but the code begins at"
                f" {self.code:#x}"
            )
        return self


def crc32_mpeg2(data: bytes) -> bytes:
    """The sum that RP2040's boot ROM computes of its second stage, little-endian."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C1_1DB7 if crc >> 31 else 0)) & 0xFFFF_FFFF
    return crc.to_bytes(4, "little")
