"""Applications and firmware of others talk over the console of an emulated board."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import interrupts
import pytest

from ember import boards, paths
from ember.toolchain import emulator

ROOT = paths.root()
DATA = ROOT / "tests" / "unit" / "python" / "data"
TALK = ROOT / "examples" / "firmware" / "talk.c"
FOREIGN = Path(__file__).parent / "foreign"
pytestmark = pytest.mark.qemu

Compiler: TypeAlias = Callable[..., Path]  # of a name and options

# By what the console is: files of semihosting, a driver of a serial port, system calls.
SEMIHOSTING = ["mps2-an386", "qemu-a64-sme"]
SERIAL = {
    "cmsdk": "mps2-an386",
    "stm32-v1": "netduinoplus2",
    "nrf-uart": "microbit",
    "pl011": "qemu-a64",
}
APP = """
#include "ember/port.h"
#include "ember/model.h"
static volatile int *nowhere(void) {
    static volatile int *volatile address;
    return address;
}
int main(void) {
    static ember_program_t program;
    ember_port_log("first\\n");
    (void)ember_port_read_char();
    %s
    return 9 + (int)ember_model_open(&program, NULL);
}
"""


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def need(board: str) -> None:
    loaded = boards.load(board)
    if not emulator.available(loaded):
        pytest.skip(f"{loaded.runner.binary} is not installed")


def on_a_line(board: str) -> str:
    """The file of the board with its serial port as the console."""
    need(board)
    chip = boards.load(board).chip or board
    text = f"like: {board}\nname: line\nchip: {chip}\nconsole: uart\n"
    Path("line.yaml").write_text(text)
    return "line.yaml"


def started(*words: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ember", "run", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        preexec_fn=interrupts.heeded,  # noqa: PLW1509 - one thread
    )


def talk(*words: str | Path, said: str) -> tuple[int, str, str]:
    process = started(*words)
    out, error = process.communicate(said, timeout=900)
    return process.returncode, out, error


def classified(board: str) -> str:
    """What the example answers to three lines, the last ended by CR only."""
    words = [str(DATA / "add.pte"), "--app", str(TALK), "--board", board]
    code, out, error = talk(*words, said="0 0 9\n-1 4.5 .25 1\r\n3\r")
    assert code == 0, error
    return out


@pytest.mark.parametrize(
    "board", [*SEMIHOSTING, pytest.param("hexagon-v68", marks=pytest.mark.broad)]
)
def test_the_example_talks(board: str) -> None:
    need(board)
    assert classified(board) == "numbers? 2\nnumbers? 1\nnumbers? 0\nnumbers? "


@pytest.mark.parametrize("kind", SERIAL)
def test_the_example_talks_over_a_serial_port(kind: str) -> None:
    board = on_a_line(SERIAL[kind])
    uart = boards.load(SERIAL[kind]).uart
    assert uart is not None
    assert uart.kind == kind
    said = classified(board).lstrip("\0")  # Nordic's begins with it
    assert said == "numbers? 2\nnumbers? 1\nnumbers? 0\nnumbers? \nEMBER EXIT 0\n"


def ended(statement: str, board: str, said: str = "x") -> tuple[int, str, str]:
    Path("app.c").write_text(APP % statement)
    return talk(DATA / "add.pte", "--app", "app.c", "--board", board, said=said)


@pytest.mark.parametrize("console", ["semihosting", "uart"])
def test_ends(console: str) -> None:
    board = "mps2-an386" if console == "semihosting" else on_a_line("mps2-an386")
    code, out, error = ended("(void)nowhere();", board)
    assert (code, out[:6], error) == (9, "first\n", "")
    code, _, error = ended("*nowhere() = 1;", board)
    assert code == 1
    assert "fault on" in error
    assert "at address 0x0 in main() at 0x" in " ".join(error.split())
    code, _, error = ended('if (nowhere() == NULL) ember_port_panic("no way");', board)
    assert (code, "panic: no way" in error) == (1, True)


def test_interrupted() -> None:
    Path("app.c").write_text(APP % "(void)nowhere();")
    process = started(DATA / "add.pte", "--app", "app.c", "--board", "mps2-an386")
    assert process.stdout is not None
    assert process.stdout.readline() == "first\n"
    process.send_signal(signal.SIGINT)  # while it waits for input
    _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, "ember run: interrupted\n")


def test_input_costs_nothing_where_it_is_not_used() -> None:
    need("mps2-an386")
    words = [sys.executable, "-m", "ember", "build", str(DATA / "add.pte")]
    words += ["--board", "mps2-an386", "--out", "out"]
    subprocess.run(words, check=True, capture_output=True)
    linked = Path("out/5-firmware/firmware.elf")
    names = subprocess.check_output(["arm-none-eabi-nm", linked], text=True)
    assert "ember_port_log" in names
    assert "ember_port_read_char" not in names
    assert "ember_port_read_line" not in names


# ---- firmware of others --------------------------------------------------------------


STDIO = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char name[16];
    printf("name? ");
    if (fgets(name, sizeof(name), stdin) == NULL) return 1;
    name[3] = '\\0';
    printf("%s %.2f %d\\n", name, 3.14159, malloc(100000) == NULL);
    return 5;
}
"""


@pytest.mark.parametrize("board", ["mps2-an386", "microbit"])
def test_stdio_of_newlib(board: str) -> None:
    need(board)
    Path("app.c").write_text(STDIO)
    words: list[str | Path] = [DATA / "add.pte", "--app", "app.c", "--board", board]
    code, out, error = talk(*words, "--stack", "4096", said="Bob\n")
    assert (code, out, error) == (5, "name? Bob 3.14 1\n", "")
    code, out, error = talk(*words, said="")
    assert code == 1
    assert "--stack BYTES" in " ".join(error.split())


@pytest.fixture
def foreign(tmp_path: Path) -> Compiler:
    """Compiles firmware that has nothing of Ember."""

    def compiled(name: str, *options: str) -> Path:
        firmware = tmp_path / f"{name}.elf"
        words = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os"]
        words += ["-nostdlib", "-Wl,-Ttext=0x100,--section-start=.vectors=0,-e,0x101"]
        words += [*options, "-o", str(firmware), str(FOREIGN / f"{name}.c")]
        need("mps2-an386")
        subprocess.run(words, check=True)
        return firmware

    return compiled


@pytest.mark.parametrize(
    ("name", "answer"), [("uart", ">HELLO\n"), ("semihosting", ">hello\n")]
)
def test_firmware_of_others_hears_and_answers(
    foreign: Compiler, name: str, answer: str
) -> None:
    words = [str(foreign(name)), "--board", "mps2-an386"]
    assert talk(*words, said="hello\n.") == (5, answer, "")


def test_firmware_without_symbols(foreign: Compiler) -> None:
    words = [str(foreign("uart", "-s")), "--board", "mps2-an386"]
    assert talk(*words, said="x.") == (5, ">X", "")


def test_a_fault_of_firmware_of_others_is_explained(foreign: Compiler) -> None:
    words = [str(foreign("uart", "-fno-inline")), "--board", "mps2-an386"]
    code, out, error = talk(*words, said="x!")
    assert (code, out) == (1, ">X")
    said = " ".join(error.split())
    assert "fault on mps2-an386: write to an address that does not respond" in said or (
        "fault on mps2-an386: access to an address that does not respond at address"
        " 0xe8000000" in said
    )
    assert "in fall() at 0x" in said


def test_firmware_for_other_memories_is_told(foreign: Compiler) -> None:
    words = [str(foreign("uart")), "--board", "netduinoplus2", "--timeout", "3"]
    code, _, error = talk(*words, said="")
    assert code == 1
    assert "the firmware was still running after 3 s" in error
    assert "has no memory: was it linked for another board?" in " ".join(error.split())
