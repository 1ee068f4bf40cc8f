"""The runtime in projects of others: C99 sources, headers for C++, no start-up code."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEADERS = sorted((ROOT / "runtime_c/include/ember").glob("*.h"))
SOURCES = [
    *sorted((ROOT / "runtime_c/src").glob("*.c")),
    ROOT / "runtime_c/app/model.c",
    ROOT / "runtime_c/app/model_loaded.c",
    ROOT / "runtime_c/prepared/prepared.c",
    ROOT / "runtime_c/port/weak.c",
    ROOT / "runtime_c/port/read_line.c",
]
CXX = "g++" if shutil.which("g++") else "clang++-19"
INCLUDE = f"-I{ROOT / 'runtime_c/include'}"
DECLARED = re.compile(r"^(?!static|typedef|#|//| |extern)[^(\n]*\b(ember_\w+)\(", re.M)


def compile_(*words: object) -> None:
    command = [*map(str, words), "-Wall", "-Wextra", "-Werror", INCLUDE]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_runtime_is_c99(tmp_path: Path) -> None:
    for file in SOURCES:
        compile_("gcc", "-std=c99", "-fsyntax-only", file)


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_headers_are_for_cpp(standard: str, tmp_path: Path) -> None:
    for header in HEADERS:
        text = f'#include "ember/{header.name}"\n#include "ember/{header.name}"\n'
        (tmp_path / f"{header.stem}.cpp").write_text(text)
    files = sorted(tmp_path.glob("*.cpp"))
    compile_(CXX, f"-std={standard}", "-fsyntax-only", *files)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("objects")
    compiled = [folder / f"{number}.o" for number in range(len(SOURCES))]
    for file, output in zip(SOURCES, compiled, strict=True):
        compile_("gcc", "-std=c11", "-c", file, "-o", output)
    return compiled


def symbols(option: str, *files: Path) -> set[str]:
    words = ["nm", "--extern-only", option, *map(str, files)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in said.splitlines() if " " in line}


@pytest.mark.slow
def test_functions_have_c_names_in_cpp(objects: list[Path], tmp_path: Path) -> None:
    """What C++ calls is what C defines."""
    declared = {
        name for header in HEADERS for name in DECLARED.findall(header.read_text())
    }
    names = sorted(declared & symbols("--defined-only", *objects))
    assert len(names) > 80
    uses = ", ".join(f"reinterpret_cast<void (*)()>(&{name})" for name in names)
    lines = [f'#include "ember/{header.name}"' for header in HEADERS]
    lines.append(f"void (*functions[])() = {{{uses}}};")
    source, compiled = tmp_path / "all.cpp", tmp_path / "all.o"
    source.write_text("\n".join(lines) + "\n")
    compile_(CXX, "-Wno-cast-function-type", "-c", source, "-o", compiled)
    assert symbols("--undefined-only", compiled) == set(names)


def test_the_weak_port_is_whole(objects: list[Path]) -> None:
    text = (ROOT / "runtime_c/include/ember/port.h").read_text()
    assert set(DECLARED.findall(text)) <= symbols("--defined-only", *objects)


def test_there_is_no_start_up_code(objects: list[Path]) -> None:
    """No entry, no vectors, and no section that needs a linker script of ours."""
    assert not symbols("--defined-only", *objects) & {"_start", "main", "Reset_Handler"}
    words = ["objdump", "-h", *map(str, objects)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert not re.search(r"vectors|\.ember_", said)
