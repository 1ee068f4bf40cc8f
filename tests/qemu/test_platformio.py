"""PlatformIO without network: build, upload to QEMU, and test, from an empty folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ember import boards, paths
from ember.firmware import Options
from ember.packaging import new, platformio, sources

ROOT = paths.root()
DIGITS = ROOT / "examples" / "models" / "digits" / "digits.pte"
OWN = Path(__file__).parent / "own"
SCORES = ["-1.673", "-0.401", "-1.371", "0.178", "-1.871"]  # the first five, of zeros
BOARDS = ("mps2-an386", "mps3-an547", "netduinoplus2")
pytestmark = [pytest.mark.qemu, pytest.mark.slow]


def without_network() -> list[str]:
    """Words that take the network away, if the host lets us."""
    words = ["unshare", "-rn"]
    if shutil.which(words[0]) is None:
        return []
    done = subprocess.run([*words, "true"], check=False, capture_output=True)
    return words if done.returncode == 0 else []


class Pio:
    """The command `pio` in a project, with a core folder that starts empty."""

    def __init__(self, tools: Path, core: Path) -> None:
        self.tools, self.core = tools, core

    def try_(self, folder: Path, *words: str, **more: str) -> tuple[int, str]:
        variables = {
            "PLATFORMIO_CORE_DIR": str(self.core),
            "PATH": f"{self.tools}:{os.environ['PATH']}",
            "NO_COLOR": "1",
            **more,
        }
        done = subprocess.run(
            [*without_network(), "pio", *words],
            cwd=folder,
            env=os.environ | variables,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    def __call__(self, folder: Path, *words: str, **more: str) -> str:
        status, said = self.try_(folder, *words, **more)
        assert status == 0, said
        return said


@pytest.fixture
def pio(package_tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pio:
    monkeypatch.setenv("PATH", f"{package_tools}:{os.environ['PATH']}")
    return Pio(package_tools, tmp_path / "core")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    folder = tmp_path / "examples" / "platformio"
    platformio.write(folder / ".ember")
    assert platformio.has_scons(folder / ".ember")
    return folder


# A new project runs on the core of the first and the last.
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("mps3-an547",), marks=pytest.mark.broad),
        pytest.param(BOARDS, marks=pytest.mark.long),
    ],
    ids=["helium", "all"],
)
def test_the_example(names: tuple[str, ...], pio: Pio, example: Path) -> None:
    chosen = [word for name in names for word in ("-e", name)]
    said = pio(example, "run", *chosen)
    assert said.count("SUCCESS") >= len(names)
    for name in names:
        lines = pio(example, "run", "-e", name, "-t", "upload").splitlines()
        at = lines.index("executed")
        assert lines[at + 1 : at + 6] == SCORES


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(BOARDS[:1], marks=pytest.mark.broad),
        pytest.param(BOARDS, marks=pytest.mark.long),
    ],
    ids=["m4", "all"],
)
def test_tests_of_the_example(names: tuple[str, ...], pio: Pio, example: Path) -> None:
    main = example / "test" / "test_model" / "test_main.c"
    right = main.read_text()
    main.write_text(right.replace('"test_loads", ', '"test_loads", !'))
    status, said = pio.try_(example, "test", "-e", "mps2-an386")
    assert status == 1
    assert "5 test cases: 1 failed, 4 succeeded" in said
    if len(names) > 1:  # everything is compiled again
        main.write_text(right)
        said = pio(example, "test", *(word for name in names for word in ("-e", name)))
        assert "15 test cases: 15 succeeded" in said


@pytest.mark.broad
def test_a_new_project(pio: Pio, tmp_path: Path) -> None:
    folder = tmp_path / "my project"
    new.create(folder, "platformio", "mps2-an386", DIGITS)
    assert "SUCCESS" in pio(folder, "run")
    assert SCORES[0] in pio(folder, "run", "-t", "upload")
    before = (folder / ".pio/build/mps2-an386/ember/stamp.txt").read_text()
    assert "Compiling" not in pio(folder, "run")  # nothing has changed
    pair = ROOT / "examples" / "models" / "pair" / "judge.pte"
    shutil.copy(pair, folder / "models" / "digits.pte")
    assert "model_image" in pio(folder, "run")
    assert (folder / ".pio/build/mps2-an386/ember/stamp.txt").read_text() != before
    (folder / "models" / "digits.pte").unlink()
    status, said = pio.try_(folder, "run")
    assert status != 0
    assert "Ember: there is no " in said


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("nucleo-f446re", marks=pytest.mark.long),
        pytest.param("rpi-pico", marks=pytest.mark.broad),
    ],
)
def test_a_board_that_nothing_emulates(name: str, pio: Pio, tmp_path: Path) -> None:
    """Its console is a serial port, and `ember flash` uploads."""
    folder = tmp_path / "project"
    new.create(folder, "platformio", name, DIGITS)
    with (folder / "platformio.ini").open("a") as file:
        file.write("upload_flags = --dry-run\n")
    said = pio(folder, "run", "-t", "upload")
    assert "firmware.hex" in said or "firmware.uf2" in said
    firmware = folder / ".pio" / "build" / name / "firmware.elf"
    words = ["arm-none-eabi-objdump", "-d", str(firmware)]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert "<ember_uart_put>:" in text
    assert "bkpt" not in text  # it would end there without a debugger


OWN_BOARD = {
    "name": "Your own board",
    "vendor": "Own",
    "url": "https://example.org",
    "build": {
        "cpu": "cortex-m4",
        "flags": "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -mthumb",
        "ldscript": "own.ld",
    },
    "upload": {"maximum_size": 262144, "maximum_ram_size": 65536},
}
OWN_INI = """\
[env:own]
platform = symlink://.ember/platform
board = own
platform_packages =
  toolchain-gccarmnoneeabi@symlink://.ember/packages/toolchain-gccarmnoneeabi
  platformio/tool-scons@symlink://.ember/packages/tool-scons
board_build.ldscript = own.ld
build_flags = -Wl,-Town.ld -nostartfiles
lib_deps = symlink://.ember/library
"""


@pytest.fixture
def own_project(tmp_path: Path, pio: Pio) -> Path:
    """A project with a board, a linker script and start-up code of its own, and no
    framework of Ember's."""
    folder = tmp_path / "own"
    platformio.write(folder / ".ember")
    for name in ("boards", "src"):
        (folder / name).mkdir()
    (folder / "boards" / "own.json").write_text(json.dumps(OWN_BOARD))
    shutil.copy(OWN / "own.ld", folder)
    shutil.copy(OWN / "start.c", folder / "src")
    shutil.copy(ROOT / "examples" / "firmware" / "once.c", folder / "src" / "main.c")
    return folder


def run_own(folder: Path) -> list[str]:
    firmware = folder / ".pio" / "build" / "own" / "firmware.elf"
    words = ["qemu-system-arm", "-machine", "mps2-an386", "-display", "none"]
    words += ["-semihosting-config", "enable=on,target=native", "-kernel"]
    words += [str(firmware)]
    done = subprocess.run(
        words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
    )
    return done.stdout.decode().splitlines()


@pytest.mark.broad
def test_a_board_that_only_platformio_knows(own_project: Path, pio: Pio) -> None:
    (own_project / "platformio.ini").write_text(
        OWN_INI + f"custom_ember_model = {DIGITS}\n"
    )
    assert "SUCCESS" in pio(own_project, "run")
    generated = own_project / ".pio" / "build" / "own" / "ember"
    assert boards.read(generated / "own.yaml").memories[1].size == 65536
    assert run_own(own_project)[1:6] == SCORES


@pytest.mark.broad
def test_sources_that_were_packed_before(own_project: Path, pio: Pio) -> None:
    """Then neither Ember nor its Python is needed."""
    board = boards.load("mps2-an386")
    sources.write([DIGITS], board, own_project / "packed", Options())
    (own_project / ".ember" / "python.json").unlink()
    (own_project / "platformio.ini").write_text(
        OWN_INI + "custom_ember_sources = packed\n"
    )
    assert "SUCCESS" in pio(own_project, "run", EMBER_PYTHON="/nowhere/python")
    assert run_own(own_project)[1:6] == SCORES


@pytest.mark.broad
def test_without_an_sdk(own_project: Path, pio: Pio) -> None:
    (own_project / ".ember" / "python.json").unlink()
    (own_project / "platformio.ini").write_text(
        OWN_INI + f"custom_ember_model = {DIGITS}\n"
    )
    status, said = pio.try_(own_project, "run", PYTHONPATH="")
    assert status != 0
    assert f"{pio.tools / 'python'}" in said
    assert "-m pip install ember-" in said
    said = pio(own_project, "run", EMBER_PYTHON=str(wrapper(own_project)))
    assert "SUCCESS" in said


def wrapper(folder: Path) -> Path:
    """This Python with Ember, as a program."""
    path = folder / "python"
    sdk = Path(sources.__file__).parents[2]
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{sdk}" exec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return path
