"""Object files and archives become sections, symbols and relocations."""

from __future__ import annotations

import bisect
import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ember.errors import SdkError
from ember.toolchain import elf
from ember.toolchain.elf import Section, Symbol

_ARCHIVE = b"!<arch>\n"
_HEAD = struct.Struct("<16s12s6s6s8s10s2s")


@dataclass(frozen=True)
class Relocation:
    kind: int  # R_*
    symbol: Symbol
    addend: int | None  # None: it is in the bytes (REL)


@dataclass(eq=False)
class Object:
    """A relocatable file; `archive` is the name of the one that it came out of."""

    name: str
    archive: str | None
    data: bytes
    file: elf.Elf
    symbols: list[Symbol]
    relocations: dict[int, dict[int, Relocation]]  # section -> offset
    labels: dict[int, list[tuple[int, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for symbol in self.symbols:
            if symbol.kind != elf.STT_SECTION and symbol.name:
                named = self.labels.setdefault(symbol.section, [])
                named.append((offset_of(symbol, self), symbol.name))
        for named in self.labels.values():
            named.sort()

    def section(self, index: int) -> Section:
        return self.file.sections[index]

    def content(self, index: int) -> bytes:
        section = self.section(index)
        return self.data[section.offset : section.offset + section.size]

    @functools.cached_property
    def defined(self) -> dict[str, Symbol]:
        """Symbols that other files see."""
        return {
            symbol.name: symbol
            for symbol in self.symbols
            if symbol.binding != elf.STB_LOCAL
            and (0 < symbol.section < elf.SHN_RESERVED or symbol.section == elf.SHN_ABS)
        }

    @functools.cached_property
    def functions(self) -> dict[tuple[int, int], str]:
        """Names by (section, offset); those of the compiler before aliases."""
        names: dict[tuple[int, int], str] = {}
        for symbol in self.symbols:
            if symbol.kind == elf.STT_FUNC and 0 < symbol.section < elf.SHN_RESERVED:
                names.setdefault((symbol.section, offset_of(symbol, self)), symbol.name)
        return names

    def needed(self) -> Iterator[str]:
        """Symbols that another file must define; not weak ones."""
        for symbol in self.symbols:
            if symbol.section == 0 and symbol.name and symbol.binding == elf.STB_GLOBAL:
                yield symbol.name

    def label_before(self, section: int, offset: int) -> int:
        """The offset of the last label below `offset`."""
        places = [at for at, _ in self.labels.get(section, [])]
        index = bisect.bisect_left(places, offset) - 1
        return places[index] if index >= 0 else 0


def offset_of(symbol: Symbol, source: Object) -> int:
    """Where a symbol lies in its section; bit 0 of Thumb functions cleared."""
    thumb = symbol.kind == elf.STT_FUNC and source.file.machine == elf.EM_ARM
    return symbol.address & ~1 if thumb else symbol.address


def read(path: Path) -> Object:
    return parse(path.read_bytes(), path.name)


def parse(data: bytes, name: str, archive: str | None = None) -> Object:
    file = elf.parse(Path(f"{archive}({name})" if archive else name), data)
    wide = file.bits == 64
    symbols: list[Symbol] = []
    relocations: dict[int, dict[int, Relocation]] = {}
    for section in file.sections:
        if section.kind == elf.SHT_SYMTAB:
            names = file.sections[section.link].offset
            symbols = elf.symbol_table(data, section, names, wide)
    for section in file.sections:
        if section.kind in (elf.SHT_REL, elf.SHT_RELA):
            of_section = relocations.setdefault(section.info, {})
            for at, info, addend in _entries(data, section, wide):
                kind = info & (0xFFFFFFFF if wide else 0xFF)
                symbol = symbols[info >> (32 if wide else 8)]
                of_section[at] = Relocation(kind, symbol, addend)
    return Object(name, archive, data, file, symbols, relocations)


def _entries(
    data: bytes, section: Section, wide: bool
) -> Iterator[tuple[int, int, int | None]]:
    content = data[section.offset : section.offset + section.size]
    if section.kind == elf.SHT_RELA:
        yield from struct.iter_unpack("<QQq" if wide else "<IIi", content)
    else:
        for at, info in struct.iter_unpack("<QQ" if wide else "<II", content):
            yield at, info, None


class Archive:
    """A library of objects, as `ar` writes it with an index of symbols."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self._data = path.read_bytes()
        if self._data[: len(_ARCHIVE)] != _ARCHIVE:
            raise SdkError(f"{path} is not an archive of objects")
        self.index: list[tuple[str, int]] = []  # symbol, place of its member
        self._long_names = b""
        self.places: list[int] = []  # of members, in their order
        self._read_heads()

    def _read_heads(self) -> None:
        at = len(_ARCHIVE)
        while at + _HEAD.size <= len(self._data):
            name, start, size = self._member(at)
            if name == "/":
                self._read_index(self._data[start : start + size])
            elif name == "//":
                self._long_names = self._data[start : start + size]
            else:
                self.places.append(at)
            at = start + size + size % 2

    def _read_index(self, content: bytes) -> None:
        (count,) = struct.unpack_from(">I", content)
        places = struct.unpack_from(f">{count}I", content, 4)
        names = content[4 + 4 * count :].split(b"\0")
        self.index = [(n.decode(), p) for n, p in zip(names, places, strict=False)]

    def _member(self, at: int) -> tuple[str, int, int]:
        fields = _HEAD.unpack_from(self._data, at)
        return fields[0].decode().rstrip(), at + _HEAD.size, int(fields[5])

    def member(self, place: int) -> Object:
        name, start, size = self._member(place)
        if name[1:].isdigit():
            text = self._long_names[int(name[1:]) :]
            name = text[: text.index(b"\n")].decode()
        content = self._data[start : start + size]
        return parse(content, name.removesuffix("/"), self.name)
