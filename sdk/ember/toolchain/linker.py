"""Linker scripts: a board and its placement become the text that ld and lld read.

A script defines, beside the usual sections:
  .ember_model[.<memory>]   the model; without a name, in the memory of `weights`
  .ember_arena.<memory>     zero-cost memory for activations and states, not cleared
  __ember_work_<memory>_start, _end   what a writable memory has left over
  __ember_work_start, _end            the same of the largest memory with role batch
  .ember_code.<memory>                code of kernels that a project moves there
  __ember_copies_start, _end          what start-up copies: from, to, the end there
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ember.boards import ROLES_NEEDED, Board, Memory, Role
from ember.boards.boot import BootBlock
from ember.boards.keys import script_lines
from ember.quoted import comment

DEFAULT_STACK = 8 * 1024  # where nothing is known of what code needs
LEAST_STACK = 512
_STACK_ALIGN = 32
_ROOM = 256 * 1024 * 1024
_ADDRESSES = 1 << 32  # of 32 bits
_PAGE = 64 * 1024  # of the emulated processes: segments must not share one
_PLACED: tuple[Role, ...] = (*ROLES_NEEDED, "weights")

Placement = Mapping[Role, str]


def place(board: Board, sizes: Mapping[Role, int] | None = None) -> dict[Role, str]:
    """The memory of each linked role: the first of the board that has the room.

    `sizes` are the bytes of the roles that are known; the others count as nothing. A
    role that fits nowhere goes to its roomiest memory: the link then says by how much
    it overflows.
    """
    sizes = sizes or {}
    free = {memory.name: memory.size for memory in board.memories}
    for memory in board.memories_for("vectors")[:1]:
        free[memory.name] -= board.boot.code
    placement: dict[Role, str] = {}
    for role in _PLACED:
        candidates = board.memories_for(role)
        if not candidates:
            continue
        need = sizes.get(role, 0)
        fitting = [memory for memory in candidates if free[memory.name] >= need]
        roomiest = max(candidates, key=lambda memory: free[memory.name])
        chosen = fitting[0] if fitting else roomiest
        free[chosen.name] -= need
        placement[role] = chosen.name
    return placement


def header_bytes(board: Board) -> int:
    """Bytes in front of the vectors, or kept free for them; Ember's own code for
    it is counted with the vectors."""
    counted = board.port == "cortexm" and not board.boot.made
    return board.boot.code if counted else 0


def is_loaded_whole(board: Board) -> bool:
    """Whether a loader writes all of an image into RAM before each start: then the
    initial values of variables, which a run changes, exist nowhere else."""
    if board.port not in ("a64", "cortexm"):
        return False
    where = place(board)
    return all(board.memory(where[role]).writable for role in ("rodata", "weights"))


@dataclass(frozen=True)
class Overlap:
    """A region whose first bytes are the last ones of the model in the same memory."""

    name: str
    inside: int  # bytes
    rest: str | None  # what holds the others, right behind the model


def script(
    board: Board,
    *,
    stack_bytes: int = DEFAULT_STACK,
    placement: Placement | None = None,
    serial: bool = False,
    overlap: Overlap | None = None,
    moved: Sequence[str] = (),
) -> str:
    """The linker script of `board`; roles not in `placement` go where place() says.
    With `serial` the firmware speaks over the serial port, be it the console or not.
    `moved` are memories with code of kernels: with_code() says which.
    """
    where = {**place(board, {"stack": stack_bytes}), **(placement or {})}
    speaks = serial or board.console == "uart"
    return _Script(board, stack_bytes, where, speaks, overlap, moved).text()


def with_stack(text: str, size: int) -> str:
    """The script `text` with a stack of `size` bytes."""
    pattern = r"(__ember_stack_start = \.;\s+\. \+= )\d+;"
    return re.sub(pattern, rf"\g<1>{stack_bytes(size)};", text)


def code_section(memory: str) -> str:
    """The output section of code that is moved to `memory`."""
    return f".ember_code.{memory}"


def with_code(text: str, memory: str, patterns: Iterable[str]) -> str:
    """The script `text`, which moves code to `memory`, with these input sections."""
    head = f"  {code_section(memory)} : "
    before, head, rest = text.partition(head)
    assert head, memory
    first, _, end = rest.partition("\n")
    lines = "".join(f"    {pattern}\n" for pattern in patterns)
    return f"{before}{head}{first}\n{lines}{end}"


def with_room(text: str) -> str:
    """The script `text` with memories in which far more fits, at the same addresses;
    they may overlap."""

    def roomy(match: re.Match[str]) -> str:
        base, size = int(match["base"], 16), int(match["size"], 16)
        end = _ADDRESSES if base < _ADDRESSES else base + size + _ROOM
        return f"{match['start']}{min(size + _ROOM, end - base):#x}"

    pattern = r"(?P<start>ORIGIN = (?P<base>0x\w+), LENGTH = )(?P<size>0x\w+)"
    return re.sub(pattern, roomy, text)


def stack_bytes(wanted: int) -> int:
    """The stack that a script reserves."""
    return -(-wanted // _STACK_ALIGN) * _STACK_ALIGN


def model_memories(
    board: Board, where: Mapping[Role, str] | None = None
) -> list[tuple[str, str]]:
    """Memories of models; with the first, the name of sections without a memory's."""
    default = (where or place(board)).get("weights")
    names = [memory.name for memory in board.memories_for("weights")]
    ordered = sorted(names, key=lambda name: name != default)
    return [
        (name, "" if index else ".ember_model ") for index, name in enumerate(ordered)
    ]


class _Script:
    def __init__(
        self,
        board: Board,
        stack: int,
        where: Placement,
        serial: bool,
        overlap: Overlap | None,
        moved: Sequence[str],
    ) -> None:
        self.board = board
        self.moved = moved
        self.overlap = overlap
        self.uart = board.uart if serial else None
        self.stack_bytes = stack_bytes(stack)
        self.where = where
        self.process = board.port == "linux_user"
        # Data starts in the read-only memory and is copied at boot, unless one loader
        # (or one RAM) holds both.
        data = board.memory(where["data"])
        rodata = board.memory(where["rodata"])
        self.copied = not self.process and not rodata.writable
        self.data_load = rodata.name if self.copied else data.name

    def text(self) -> str:
        lines = [
            f"/* {comment(self.board.name)}:"
            " generated by sdk/ember/toolchain/linker.py. */",
            f"ENTRY({self._entry()})",
            "",
            "MEMORY",
            "{",
            *(_region(memory) for memory in self.board.memories),
            "}",
            "",
            "PHDRS",
            "{",
            *(f"  {line}" for line in self._headers()),
            "}",
            "",
            "SECTIONS",
            "{",
            *(f"  {line}".rstrip() for line in self._sections()),
            "}",
            *self._checks(),
            "",
        ]
        return "\n".join(lines)

    def _entry(self) -> str:
        return "ember_cortexm_reset" if self.board.port == "cortexm" else "_start"

    def _headers(self) -> list[str]:
        vectors = [] if self.process else [("vectors", 5)]
        read_only = [
            f"{name} PT_LOAD FLAGS({flags});"
            for name, flags in (*vectors, ("text", 5), ("rodata", 4))
        ]
        models = [name for name, _ in model_memories(self.board, self.where)]
        others = [
            f"model_{name} PT_LOAD FLAGS({6 if self.overlap else 4});"
            for name in models
            if self._model_header(name) != "rodata"
        ]
        code = [f"code_{name} PT_LOAD FLAGS(5);" for name in self.moved]
        written = ["stack", "data"] if self.process else ["data"]
        boot = [f"{name} PT_LOAD FLAGS(4);" for name, _ in self._boot_blocks()]
        return [
            *boot,
            *code,
            *read_only,
            *others,
            *(f"{name} PT_LOAD FLAGS(6);" for name in written),
        ]

    def _sections(self) -> list[str]:
        """Per memory: stack at the bottom, then what is loaded, then what is not."""
        lines = [
            "/DISCARD/ : { *(.ARM.exidx* .ARM.extab* .eh_frame* .note* .comment) }",
            "",
            *self._stack(),
            *self._boot(),
            *self._read_only(
                "vectors",
                ".ember_vectors",
                *self._vectors(),
                header="text" if self.process else "vectors",
            ),
            *(line for name in self.moved for line in self._moved(name)),
            *self._read_only("code", ".text", "*(.text .text.*)", header="text"),
            *self._read_only("rodata", ".rodata", *self._rodata(), header="rodata"),
        ]
        if self.overlap:  # nothing between a model and the arenas of its memory
            lines += [*self._data(), *self._bss(), *self._models()]
        elif self.process:  # in the order of the segments
            lines += [*self._models(), *self._data(), *self._bss()]
        else:
            lines += [*self._data(), *self._models(), *self._bss()]
        for memory in self.board.memories:
            if memory.writable:
                lines += self._arena(memory)
        return lines + self._symbols()

    def _stack(self) -> list[str]:
        return [
            ".ember_stack (NOLOAD) : {",
            "  __ember_stack_start = .;",
            f"  . += {self.stack_bytes};",
            "  __ember_stack_end = .;",
            f"}} > {self.where['stack']} :{'stack' if self.process else 'NONE'}",
            "",
        ]

    def _boot_blocks(self) -> list[tuple[str, BootBlock]]:
        blocks = self.board.boot_blocks if self.board.port == "cortexm" else []
        return [(f"boot{index}", block) for index, block in enumerate(blocks)]

    def _boot(self) -> list[str]:
        """What the boot ROM reads in front of the vectors."""
        place = self.where["vectors"]
        lines: list[str] = []
        for name, block in self._boot_blocks():
            words = struct.unpack(f"<{-(-len(block.data) // 4)}I", _whole(block.data))
            lines += [
                f".ember_{name} ORIGIN({place}) + {block.at:#x} : {{",
                *(f"  {line}" for line in _longs(words)),
                f"}} > {place} :{name}",
            ]
        return [*lines, ""] if lines else []

    def _vectors_at(self) -> str:
        """Their address, where a boot ROM wants one."""
        header = header_bytes(self.board)
        return f" ORIGIN({self.where['vectors']}) + {header:#x}" if header else ""

    def _read_only(
        self, role: Role, name: str, *content: str, header: str
    ) -> list[str]:
        label = name.removeprefix(".").removeprefix("ember_")
        at = self._vectors_at() if role == "vectors" else ""
        align = "" if at else f" ALIGN({self._align()})"
        return [
            f"{name}{at} :{align} {{",
            f"  __ember_{label}_start = .;",
            *(f"  {line}" for line in content),
            "  . = ALIGN(16);",
            f"  __ember_{label}_end = .;",
            f"}} > {self.where[role]} :{header}",
            "",
        ]

    def _vectors(self) -> list[str]:
        """The table of vectors with what a boot ROM wants before and behind it, and
        the steps of the board's start."""
        vectors = ["KEEP(*(.ember_vectors))"]
        if self.board.port != "cortexm":
            return vectors
        vectors.append("KEEP(*(.ember_vectors.external))")
        stage = self.board.boot.made
        first = [f"KEEP(*(.ember_boot_{stage}))"] if stage else []
        words = itertools.chain.from_iterable(step.words for step in self.board.start)
        return [
            *first,
            *vectors,
            *_longs(self.board.boot.words),
            "__ember_steps_start = .;",
            *_longs(words),
            "__ember_steps_end = .;",
            "__ember_copies_start = .;",
            *(line for name in self._copied() for line in _copy_of(name)),
            "__ember_copies_end = .;",
        ]

    def _copied(self) -> list[str]:
        """Sections that lie elsewhere until start-up copies them."""
        if not self.copied:
            return []
        code = [code_section(name) for name in self.moved if self._is_loaded(name)]
        return [*code, ".data"]

    def _is_loaded(self, memory: str) -> bool:
        """Whether code in `memory` comes out of the read-only one."""
        return self.copied and self.board.memory(memory).writable

    def _moved(self, memory: str) -> list[str]:
        place = f"> {memory}"
        if self._is_loaded(memory):
            place += f" AT > {self.data_load}"
        return [
            f"{code_section(memory)} : ALIGN({self._align()}) {{",
            "  . = ALIGN(16);",
            f"}} {place} :code_{memory}",
            f"__ember_code_{memory}_load = LOADADDR({code_section(memory)});",
            "",
        ]

    def _rodata(self) -> list[str]:
        lines = ["*(.rodata .rodata.*)"]
        if self.uart is not None:
            lines += script_lines(self.uart, self.board.pointer_bytes)
        return lines

    def _align(self) -> int:
        """Segments of a process have pages of their own."""
        return _PAGE if self.process else 16

    def _data(self) -> list[str]:
        place = f"> {self.where['data']}"
        if self.copied:
            place += f" AT > {self.data_load}"
        return [
            f".data : ALIGN({self._align()}) {{",
            "  __ember_data_start = .;",
            "  *(.data .data.* .sdata .sdata.* .got .got.plt)",
            "  . = ALIGN(16);",
            "  __ember_data_end = .;",
            f"}} {place} :data",
            "__ember_data_load = LOADADDR(.data);",
            "",
        ]

    def _models(self) -> list[str]:
        lines: list[str] = []
        for name, first in model_memories(self.board, self.where):
            plain = f"*({first.strip()}) " if first else ""
            header = self._model_header(name)
            filled = "BYTE(0) " if self.process and header != "rodata" else ""
            lines += [
                f".ember_model.{name} : ALIGN({self._align()}) {{",
                f"  {filled}{plain}*(.ember_model.{name} .ember_model.{name}.*)",
                f"}} > {name} :{header}",
            ]
        return [*lines, ""]

    def _model_header(self, memory: str) -> str:
        """The segment of a model. Emulators from QEMU 8.1 on refuse processes with an
        empty one, so a model, which may be none, shares it or has a byte in front."""
        shares = self.process and not self.overlap and memory == self.where["rodata"]
        return "rodata" if shares else f"model_{memory}"

    def _bss(self) -> list[str]:
        # The emulator counts from accesses to ember_marks, so start-up never clears it.
        return [
            f".ember_marks (NOLOAD) : ALIGN({self._align()}) {{",
            "  KEEP(*(.bss.ember_marks))",
            f"}} > {self.where['data']} :{self._cleared()}",
            ".bss (NOLOAD) : ALIGN(16) {",
            "  __ember_bss_start = .;",
            "  *(.bss .bss.* .sbss .sbss.* .scommon .scommon.* COMMON)",
            "  . = ALIGN(16);",
            "  __ember_bss_end = .;",
            f"}} > {self.where['data']} :{self._cleared()}",
            "",
        ]

    def _cleared(self) -> str:
        return "data" if self.process else "NONE"

    def _arena(self, memory: Memory) -> list[str]:
        name = memory.name
        end = f"(ORIGIN({name}) + LENGTH({name}))"
        rest = [f"  . += ABSOLUTE(.) < {end} ? {end} - ABSOLUTE(.) : 0;"]
        return [
            f".ember_arena.{name} (NOLOAD) : ALIGN(16) {{",
            f"  __ember_arena_{name}_start = .;",
            *([f"  *(.ember_arena.{name}.rest)"] if self.overlap else []),
            f"  *(.ember_arena.{name} .ember_arena.{name}.*)",
            "  . = ALIGN(16);",
            f"  __ember_arena_{name}_end = .;",
            f"  __ember_work_{name}_start = .;",
            *(rest if self.process else []),
            f"}} > {name} :{self._cleared()}",
            f"__ember_work_{name}_end = ORIGIN({name}) + LENGTH({name});",
            "",
        ]

    def _symbols(self) -> list[str]:
        batch = self.board.memories_for("batch")
        main = self.board.memory(self.where["data"])
        lines = [
            f"__ember_ram_start = ORIGIN({main.name});",
            f"__ember_ram_end = ORIGIN({main.name}) + LENGTH({main.name});",
            f"__ember_read_only_end = {self.board.read_only_end:#x};",
            # As the MPU before Armv8-M takes a size: the power of two, less 1.
            f"__ember_read_only_size = {self.board.read_only_end.bit_length() - 2};",
        ]
        if batch:
            largest = max(batch, key=lambda memory: memory.size).name
            lines += [
                f"__ember_work_{end} = __ember_work_{largest}_{end};"
                for end in ("start", "end")
            ]
        else:
            lines += [f"__ember_work_{end} = 0;" for end in ("start", "end")]
        return lines

    def _checks(self) -> list[str]:
        if self.overlap is None or self.overlap.rest is None:
            return []
        name, rest = self.overlap.name, self.overlap.rest
        return [f'ASSERT({name} + {self.overlap.inside} == {rest}, "{name} has a gap")']


def _copy_of(section: str) -> list[str]:
    start = f"ADDR({section})"
    ends = f"LOADADDR({section})", start, f"{start} + SIZEOF({section})"
    return [f"LONG({end});" for end in ends]


def _longs(words: Iterable[int]) -> list[str]:
    return [f"LONG({word:#010x})" for word in words]


def _whole(data: bytes) -> bytes:
    """Whole words, as `_longs` writes them."""
    return data + b"\0" * (-len(data) % 4)


def _region(memory: Memory) -> str:
    return (
        f"  {memory.name} ({memory.access}) : ORIGIN = {memory.base:#010x},"
        f" LENGTH = {memory.size:#x}"
    )
