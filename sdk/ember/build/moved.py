"""Kernels that `memory: {code: ..}` of ember.yaml names become code in a memory.

What moves is all that a kernel can execute in a run: its function, those whose address
the kernel takes, and everything that they call, be it the runtime's or the C library's.
So nothing there calls back into slower memory. Constants of code stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from ember.build.packing import Packed
from ember.build.stack.members import Members, size_of
from ember.errors import SdkError
from ember.model.steering import Steering
from ember.toolchain import elf, linker
from ember.toolchain.objects import Object

_Section = tuple[Object, int]
_ALIGN = 16  # bytes; of the section that has the code
_RUN, _NODE = "ember_run_", "ember_xnnpack_"


@dataclass(frozen=True)
class Moved:
    """Sections of code that one memory gets, in the order in which they are linked,
    and what of them each kernel brought."""

    memory: str
    sections: tuple[_Section, ...]
    kernels: Mapping[str, int]  # bytes, without what an earlier one brought

    @property
    def patterns(self) -> list[str]:
        """Lines of a linker script."""
        lines = (
            f"*/{f'{source.archive}.a:' if source.archive else ''}{source.name}"
            f"({source.section(index).name})"
            for source, index in self.sections
        )
        return list(dict.fromkeys(lines))


def size(members: Members, kernels: Iterable[str]) -> int:
    """Bytes of all that these kernels bring to a memory, as it is linked."""
    sections = (section for kernel in kernels for section in below(members, kernel))
    return size_of(members.in_order(dict.fromkeys(sections)), _ALIGN)


def of(members: Members | None, packed: Packed, steering: Steering) -> list[Moved]:
    """SdkError when a word of `code` is no kernel of the firmware."""
    if members is None or not steering.code:
        return []
    taken: dict[_Section, None] = {}
    moved = []
    for memory, words in steering.code.items():
        before, brought = len(taken), {}
        for kernel in _kernels(words, packed):
            new = [
                section for section in below(members, kernel) if section not in taken
            ]
            taken |= dict.fromkeys(new)
            brought[kernel] = sum(source.section(index).size for source, index in new)
        sections = dict.fromkeys(list(taken)[before:])
        moved.append(Moved(memory, tuple(members.in_order(sections)), brought))
    return moved


def write(script: Path, moved: Sequence[Moved]) -> None:
    """Puts the sections into a linker script that moves code to their memories."""
    if moved:
        text = script.read_text(encoding="utf-8")
        for code in moved:
            text = linker.with_code(text, code.memory, code.patterns)
        script.write_text(text, encoding="utf-8")


def _kernels(words: Iterable[str], packed: Packed) -> list[str]:
    """Those that the words name, by themselves or by their operator."""
    known = [
        (name, kernel) for name, kernels in packed.kernels.items() for kernel in kernels
    ]
    known += [(node, node) for node in sorted(packed.nodes)]
    chosen: dict[str, None] = {}
    problems = []
    for word in words:
        fits = [k for op, k in known if fnmatchcase(op, word) or fnmatchcase(k, word)]
        if not fits:
            near = get_close_matches(
                word, [name for pair in known for name in pair], n=1
            )
            problems.append(word + (f" (did you mean {near[0]}?)" if near else ""))
        chosen |= dict.fromkeys(fits)
    if problems:
        names = dict.fromkeys(kernel for _, kernel in known)
        raise SdkError(
            f"memory: code: the firmware has no kernel {', '.join(problems)}",
            hint=f"name operators or kernels, * for any letters: {', '.join(names)}",
        )
    return list(chosen)


def below(members: Members, kernel: str) -> Iterator[_Section]:
    """Code that a kernel can execute in a run, callers before what they call."""
    start = members.named(_RUN + kernel) or members.named(_NODE + kernel)
    if start is None:
        return
    seen = dict.fromkeys([(start.object, start.section)])
    waiting = list(seen)
    while waiting:
        key = waiting.pop()
        source, index = key
        if _is_code(key):
            yield key
        for relocation in source.relocations.get(index, {}).values():
            place = members.definition(source, relocation.symbol)
            if place is None:
                continue
            section = place.object, place.section
            if section not in seen and (_is_code(section) or _is_constant(section)):
                seen[section] = None
                waiting.append(section)


def _is_code(key: _Section) -> bool:
    return bool(key[0].section(key[1]).flags & elf.SHF_EXECINSTR)


def _is_constant(key: _Section) -> bool:
    section = key[0].section(key[1])
    return section.in_memory and not section.flags & elf.SHF_WRITE
