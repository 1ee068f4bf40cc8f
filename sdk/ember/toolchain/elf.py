"""ELF files: the bytes of a firmware become its symbols, sections and segments."""

from __future__ import annotations

import bisect
import functools
import struct
from dataclasses import dataclass, replace
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
