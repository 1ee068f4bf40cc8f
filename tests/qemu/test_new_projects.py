"""`ember new`, and packages of sources, built by CMake with compilers of its choice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ember import boards, cli, paths
from ember.firmware import Options
from ember.packaging import manifests, new, sources
from ember.toolchain import emulator

ROOT = paths.root()
DIGITS = ROOT / "examples" / "models" / "digits" / "digits.pte"
OWN = Path(__file__).parent / "own"
SCORES = ["-1.673", "-0.401", "-1.371", "0.178", "-1.871"]  # the first five, of zeros
pytestmark = [pytest.mark.qemu, pytest.mark.slow]


def execute(*words: object, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`ember` on the PATH, as an installation has it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / "ember"
    sdk = ROOT / "sdk"
    path.write_text(
        f'#!/bin/sh\nPYTHONPATH="{sdk}" exec {sys.executable} -m ember "$@"\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return path


@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_cmake(board: str, command: Path, tmp_path: Path) -> None:
    folder = tmp_path / "digit reader"
    words = ["new", str(folder), "--template", "cmake", "--board", board]
    assert cli.main([*words, "--model", str(DIGITS)]) == 0
    python = f"-DEMBER_PYTHON={sys.executable}"
    execute("cmake", "-B", "build", "-G", "Ninja", python, cwd=folder)
    execute("cmake", "--build", "build", cwd=folder)
    said = execute("ctest", "--test-dir", "build", "-V", cwd=folder)
    assert "100% tests passed, 0 tests failed out of 2" in said
    lines = [line.removeprefix("1: ") for line in said.splitlines()]
    at = lines.index("executed")
    assert lines[at + 1 : at + 6] == SCORES


APPLICATION = """\
cmake_minimum_required(VERSION 3.20)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(machine "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -mthumb -Os")
string(APPEND machine " -Wall -Wextra -Werror")
set(CMAKE_C_FLAGS "${machine}")
set(CMAKE_CXX_FLAGS "${machine} -fno-exceptions -fno-rtti")
project(app C CXX)
add_subdirectory(ember)
add_executable(app main.cpp start.c)
target_link_libraries(app PRIVATE ember::model)
set_target_properties(app PROPERTIES LINKER_LANGUAGE C) # there is no libstdc++
target_link_options(app PRIVATE -T${CMAKE_SOURCE_DIR}/own.ld -nostartfiles
                    -Wl,--gc-sections,--no-warn-rwx-segments)
"""


def test_a_package_in_cmake(tmp_path: Path) -> None:
    """With a compiler, a script and start-up code of the project, from C++."""
    board = boards.load("mps2-an386")
    files = sources.write([DIGITS], board, tmp_path / "ember", Options())
    manifests.write(tmp_path / "ember", ["cmake"], files)
    (tmp_path / "CMakeLists.txt").write_text(APPLICATION)
    application = ROOT / "examples" / "firmware" / "once.c"
    shutil.copy(application, tmp_path / "main.cpp")
    for name in ("own.ld", "start.c"):
        shutil.copy(OWN / name, tmp_path)
    execute("cmake", "-B", "build", "-G", "Ninja", cwd=tmp_path)
    execute("cmake", "--build", "build", cwd=tmp_path)
    said = emulator.run(board, tmp_path / "build" / "app", count=False)
    assert said.text.splitlines()[1:6] == SCORES
    assert own_size(tmp_path / "build" / "app") < 80_000


def own_size(firmware: Path) -> int:
    words = ["arm-none-eabi-size", str(firmware)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return int(said.split()[6])


@pytest.mark.parametrize("template", ["zephyr", "arduino"])
def test_the_others_are_whole(template: str, tmp_path: Path) -> None:
    """They are not built here: their tools are not in Debian."""
    folder = tmp_path / "reader"
    new.create(folder, template, "netduinoplus2", DIGITS)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    library, application = {
        "zephyr": (
            "ember/",
            ["CMakeLists.txt", "prj.conf", "sample.yaml", "src/main.c"],
        ),
        "arduino": ("libraries/Ember/", ["reader/reader.ino"]),
    }[template]
    assert {*application, f"{library}src/Ember.h", "models/digits.pte"} <= names
    assert f"{library}src/model/model_image.c" in names
