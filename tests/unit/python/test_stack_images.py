"""Linked images against the frames of their objects: same, moved, or changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ember.firmware.stack import image
from ember.firmware.stack.bound import CallGraph
from ember.firmware.stack.code import Members
from ember.firmware.stack.walk import StackFrame
from ember.toolchain import elf

GCC = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb")
KEEP = "#define KEEP __attribute__((noinline, noipa))\n"


def compiled(source: Path) -> Path:
    object_file = source.with_suffix(".o")
    words: list[str | Path] = [
        "-Os",
        "-ffunction-sections",
        "-c",
        source,
        "-o",
        object_file,
    ]
    subprocess.run([*GCC, *words], check=True)
    return object_file


def two_steps(tmp_path: Path) -> tuple[CallGraph, Path]:
    """Firmware of two objects work.o of one archive, each with a function `step` of
    its own."""
    object_files = []
    for name, size in (("first", 40), ("second", 90)):
        folder = tmp_path / name
        folder.mkdir()
        text = f"""
        static KEEP int step(volatile char *p) {{
            volatile char b[{size}]; b[*p] = 1; return b[1]; }}
        int {name}(volatile char *p) {{ return step(p) + 1; }}
        """
        (folder / "work.c").write_text(KEEP + text)
        object_files.append(compiled(folder / "work.c"))
    entry = """
    int first(char *p), second(char *p);
    int entry(char *p) { return second(p) + first(p); }
    """
    (tmp_path / "main.c").write_text(entry)
    main, archive = compiled(tmp_path / "main.c"), tmp_path / "libwork.a"
    firmware = tmp_path / "firmware.elf"
    subprocess.run(["arm-none-eabi-ar", "qcs", archive, *object_files], check=True)
    words: list[str | Path] = [
        "-nostdlib",
        "-Wl,-e,entry,--gc-sections",
        "-Wl,-Map=firmware.map",
    ]
    words += [main, archive, "-o", firmware]
    subprocess.run([*GCC, *words], check=True, cwd=tmp_path)
    return CallGraph(Members([main], [archive], "entry", gnu=True)), firmware


def test_members_of_one_name_are_told_apart(tmp_path: Path) -> None:
    graph, firmware = two_steps(tmp_path)
    path = graph.bound([], 0, "").path
    assert [link.function for link in path] == ["entry", "second", "step"]
    assert image.differences(graph, firmware) == []


def test_what_a_linker_only_moved_is_not_walked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> StackFrame:
        raise AssertionError("it is as it was")

    graph, firmware = two_steps(tmp_path)
    graph.bound([], 0, "")
    monkeypatch.setattr(image, "walk", never)
    assert image.differences(graph, firmware) == []


def test_what_is_not_as_it_was_is_walked_again(tmp_path: Path) -> None:
    graph, firmware = two_steps(tmp_path)
    graph.bound([], 0, "")
    file, data = elf.read(firmware), bytearray(firmware.read_bytes())
    (code,) = (section for section in file.sections if section.name == ".text")
    place = code.offset + (file.address("entry") & ~1) - code.address
    while data[place + 1] & 0xF8 != 0xF0 or data[place + 3] & 0xD0 != 0xD0:  # bl
        place += 2
    data[place + 2] += 1  # behind the first instruction of what it called
    firmware.write_bytes(data)
    assert image.differences(graph, firmware) == ["entry calls other functions"]
