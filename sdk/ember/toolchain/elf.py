"""ELF files, objects and archives become sections, symbols and relocations."""

from __future__ import annotations

import bisect
import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ember import files
from ember.errors import SdkError

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 2, 4, 8, 9
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
SHN_ABS, SHN_RESERVED = 0xFFF1, 0xFF00
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION = 0, 1, 2, 3
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
EM_ARM, EM_HEXAGON, EM_AARCH64 = 40, 164, 183


@dataclass(frozen=True)
class Section:
    name: str
    kind: int  # SHT_*
    flags: int  # SHF_*
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int

    @property
    def in_memory(self) -> bool:
        return bool(self.flags & SHF_ALLOC)

    @property
    def in_file(self) -> bool:
        return self.kind != SHT_NOBITS


@dataclass(frozen=True)
class Symbol:
    name: str
    address: int
    size: int
    kind: int  # STT_*
    section: int  # SHN_*; 0: undefined
    binding: int = STB_GLOBAL


@dataclass(frozen=True)
class Elf:
    """A linked program, or an object; little endian, 32 or 64 bits."""

    path: Path
    kind: int  # ET_*
    machine: int  # EM_*
    bits: int
    entry: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    @functools.cached_property
    def _by_name(self) -> dict[str, Symbol]:
        return {symbol.name: symbol for symbol in self.symbols}

    @functools.cached_property
    def _code(self) -> list[tuple[int, str]]:
        """Function starts by address; bit 0 of Thumb addresses cleared."""
        names: dict[int, str] = {}
        for symbol in self.symbols:
            section = self.sections[symbol.section] if symbol.section else None
            if section is None or not section.flags & SHF_EXECINSTR:
                continue
            mapping = symbol.name.startswith(("$", ".L")) or not symbol.name
            if symbol.kind in (STT_NOTYPE, STT_FUNC) and not mapping:
                address = symbol.address & ~1 if self.bits == 32 else symbol.address
                if symbol.kind == STT_FUNC or address not in names:
                    names[address] = symbol.name
        return sorted(names.items())

    def symbol(self, name: str) -> Symbol | None:
        return self._by_name.get(name)

    def address(self, name: str) -> int:
        """The address of symbol `name`; an SdkError when it is not there."""
        symbol = self.symbol(name)
        if symbol is None:
            raise SdkError(f"{self.path} has no symbol '{name}'")
        return symbol.address

    def function_at(self, address: int) -> str | None:
        """The name of the function that holds the code at `address`."""
        code = self._code
        index = bisect.bisect_right(code, (address, "\U0010ffff")) - 1
        inside = any(
            section.flags & SHF_EXECINSTR
            and section.address <= address < section.address + section.size
            for section in self.sections
        )
        return code[index][1] if index >= 0 and inside else None


def read(path: Path) -> Elf:
    """The ELF file at `path`; an SdkError when it is none or is broken."""
    return parse(path, files.read(path, what="the firmware"))


def parse(path: Path, data: bytes) -> Elf:
    """The ELF file with the content `data`; `path` is for messages."""
    if data[:4] != b"\x7fELF" or data[5:6] != b"\x01":
        raise SdkError(f"{path} is not a little-endian ELF file")
    try:
        return _read(path, data)
    except (struct.error, IndexError, ValueError) as error:  # of offsets and strings
        raise SdkError(f"{path} is a broken ELF file") from error


def _read(path: Path, data: bytes) -> Elf:
    wide = data[4] == 2
    head = struct.unpack_from("<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", data, 16)
    entry, table, item, count, names_index = (head[i] for i in (3, 5, 10, 11, 12))
    layout = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    raw = [struct.unpack_from(layout, data, table + i * item) for i in range(count)]
    names = raw[names_index][4] if raw else 0
    sections = tuple(Section(_text(data, names + row[0]), *row[1:9]) for row in raw)
    symbols: list[Symbol] = []
    for section in sections:
        if section.kind == SHT_SYMTAB:
            symbols_of_table = symbol_table(
                data, section, sections[section.link].offset, wide
            )
            symbols += [
                _linked(symbol) for symbol in symbols_of_table if _is_linked(symbol)
            ]
    bits = 64 if wide else 32
    return Elf(path, head[0], head[1], bits, entry, sections, tuple(symbols))


def symbol_table(data: bytes, table: Section, names: int, wide: bool) -> list[Symbol]:
    """Every entry of a symbol table, in its order; `names` is where its strings lie."""
    layout = struct.Struct("<IBBHQQ" if wide else "<IIIBBH")
    symbols: list[Symbol] = []
    for row in layout.iter_unpack(data[table.offset : table.offset + table.size]):
        if wide:
            name, info, _, section, address, size = row
        else:
            name, address, size, info, _, section = row
        text = _text(data, names + name)
        symbols.append(Symbol(text, address, size, info & 15, section, info >> 4))
    return symbols


def _is_linked(symbol: Symbol) -> bool:
    return 0 < symbol.section < SHN_RESERVED or symbol.section == SHN_ABS


def _linked(symbol: Symbol) -> Symbol:
    """Absolute ones, as linker scripts make them, are in no section."""
    return replace(symbol, section=0) if symbol.section == SHN_ABS else symbol


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


# ---- objects and archives ------------------------------------------------------------


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
    file: Elf
    symbols: list[Symbol]
    relocations: dict[int, dict[int, Relocation]]  # section -> offset
    labels: dict[int, list[tuple[int, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for symbol in self.symbols:
            if symbol.kind != STT_SECTION and symbol.name:
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
            if symbol.binding != STB_LOCAL
            and (0 < symbol.section < SHN_RESERVED or symbol.section == SHN_ABS)
        }

    @functools.cached_property
    def functions(self) -> dict[tuple[int, int], str]:
        """Names by (section, offset); those of the compiler before aliases."""
        names: dict[tuple[int, int], str] = {}
        for symbol in self.symbols:
            if symbol.kind == STT_FUNC and 0 < symbol.section < SHN_RESERVED:
                names.setdefault((symbol.section, offset_of(symbol, self)), symbol.name)
        return names

    def needed(self) -> Iterator[str]:
        """Symbols that another file must define; not weak ones."""
        for symbol in self.symbols:
            if symbol.section == 0 and symbol.name and symbol.binding == STB_GLOBAL:
                yield symbol.name

    def label_before(self, section: int, offset: int) -> int:
        """The offset of the last label below `offset`."""
        places = [at for at, _ in self.labels.get(section, [])]
        index = bisect.bisect_left(places, offset) - 1
        return places[index] if index >= 0 else 0


def offset_of(symbol: Symbol, source: Object) -> int:
    """The offset of a symbol in its section; bit 0 of Thumb functions cleared."""
    thumb = symbol.kind == STT_FUNC and source.file.machine == EM_ARM
    return symbol.address & ~1 if thumb else symbol.address


def read_object(path: Path) -> Object:
    return parse_object(path.read_bytes(), path.name)


def parse_object(data: bytes, name: str, archive: str | None = None) -> Object:
    file = parse(Path(f"{archive}({name})" if archive else name), data)
    wide = file.bits == 64
    symbols: list[Symbol] = []
    relocations: dict[int, dict[int, Relocation]] = {}
    for section in file.sections:
        if section.kind == SHT_SYMTAB:
            names = file.sections[section.link].offset
            symbols = symbol_table(data, section, names, wide)
    for section in file.sections:
        if section.kind in (SHT_REL, SHT_RELA):
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
    if section.kind == SHT_RELA:
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
        return parse_object(content, name.removesuffix("/"), self.name)
