"""Firmware whose console is the serial port, as on real boards: no debugger needed."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import Protocol

import pytest
from lines import ROOT, board

from ember import boards, cli
from ember.boards import Board
from ember.hil import line
from ember.toolchain import linker

pytestmark = [pytest.mark.qemu]

MODEL = ROOT / "examples/models/digits/digits.pte"
REAL = [
    target for target in map(boards.load, boards.names()) if target.console == "uart"
]

APP = """
#include "ember/model.h"
#include "ember/port.h"
int main(void) {
    static ember_program_t program;
    static ember_method_t method;
    const ember_status_t opened = ember_model_open(&program, NULL);
    const ember_status_t loaded = ember_model_load(&method, &program, NULL, NULL);
    ember_port_log("before the end\\n");
    %s
    return 7 + opened + loaded;
}
"""


class Build(Protocol):
    def __call__(self, statement: str | None = None) -> Path: ...


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a board that is emulated, with another console."""
    board("netduinoplus2")
    path = tmp_path_factory.mktemp("boards") / "on-a-line.yaml"
    path.write_text(
        "like: netduinoplus2\nchip: stm32f405rg\nname: on-a-line\nconsole: uart\n"
    )
    return path


@pytest.fixture
def built(described: Path, tmp_path: Path) -> Build:
    """Builds the model with an application, or with the usual one."""

    def build(statement: str | None = None) -> Path:
        words = ["--board", str(described), "--out", str(tmp_path / "out")]
        if statement is not None:
            app = tmp_path / "main.c"
            app.write_text(APP % statement)
            words += ["--app", str(app)]
        assert cli.main(["build", str(MODEL), *words]) == 0
        return tmp_path / "out/5-firmware/firmware.elf"

    return build


def said(described: Path, firmware: Path) -> str:
    """What comes over the line until the end, and for a moment after it."""
    received = b""
    with line.started_emulator(boards.load(str(described)), firmware) as running:
        deadline = time.monotonic() + 60
        while not re.search(rb"EMBER EXIT \d+\r\n", received):
            assert time.monotonic() < deadline, received
            received += running.wire.read(1)
        received += running.wire.read(0.2)
        assert running.process.poll() is None  # it stays where it is
    return received.decode()


def test_success(described: Path, built: Build) -> None:
    firmware = built()
    assert said(described, firmware) == "ember: success\r\n\r\nEMBER EXIT 0\r\n"
    words = ["arm-none-eabi-objdump", "-d", str(firmware)]
    code = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert "ember_cortexm_reset" in code
    assert "bkpt" not in code


@pytest.mark.parametrize(
    ("statement", "last"),
    [
        ("", "EMBER EXIT 7"),
        ("*(volatile int *)0 = 1;", "EMBER EXIT 112"),
        ('ember_port_panic("no way");', "EMBER EXIT 113"),
    ],
)
def test_ends(described: Path, built: Build, statement: str, last: str) -> None:
    lines = said(described, built(statement)).replace("\r", "").split("\n")
    assert lines[0] == "before the end"
    assert lines[-2:] == [last, ""]
    if last.endswith("112"):
        assert re.match(r"EMBER FAULT kind=data-access address=0x0 pc=0x8\w+", lines[2])
    if last.endswith("113"):
        assert lines[2] == "EMBER PANIC no way"


def test_no_files_come_through(
    described: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", str(MODEL), "--board", str(described)]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "communicates only over its serial port" in error
    assert "ember test --transport uart" in error


@pytest.mark.parametrize("target", REAL, ids=lambda target: target.name)
def test_the_script_of_a_real_board_holds_its_line(target: Board) -> None:
    assert target.uart is not None
    text = linker.script(target)
    table = text.split("ember_uart = .;")[1].split("__ember_rodata_end")[0]
    assert f"LONG({target.uart.base:#010x})" in table
    assert f"LONG({target.uart.baud})" in table
