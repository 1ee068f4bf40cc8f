"""What a board does before main(): steps on registers, the second stage of RP2040."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
import yaml
from rp2040 import crc32_of_boot_rom

from ember import boards, paths
from ember.firmware import Options, build
from ember.flash import plans
from ember.toolchain import emulator, image

MODEL = paths.root() / "tests" / "unit" / "python" / "data" / "add.pte"
APP = """
#include "ember/model.h"
#include "ember/port.h"

static ember_program_t program;
static ember_method_t method;

int main(void) {
    const volatile uint32_t *word = (const volatile uint32_t *)WORD;
    if (ember_model_open(&program, NULL) != EMBER_OK ||
        ember_model_load(&method, &program, NULL, NULL) != EMBER_OK) {
        return 1;
    }
    return *word == 0x1234FF78u ? 0 : 3;
}
"""
STEPS = [
    {"write": 0x1234_5600},
    {"set": 0xFF00},
    {"until_set": 0xFF00},
    {"clear": 0xFF, "set": 0x78},
    {"until_clear": 0x7},
]
pytestmark = pytest.mark.qemu


def board_file(folder: Path, like: str, word: int, count: int) -> str:
    described = yaml.safe_load((paths.boards() / f"{like}.yaml").read_text())
    steps = [{"at": word, **step} for step in STEPS[:count]]
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({**described, "name": "mine", "start": steps}))
    return str(path)


@pytest.mark.parametrize("like", ["mps2-an386", "mps2-an505"])
@pytest.mark.parametrize(("count", "code"), [(5, 0), (3, 3)])
def test_steps_are_walked_in_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    like: str,
    count: int,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    app = tmp_path / "app.c"
    word = boards.load(like).memory("psram").end - 16  # nothing else is there
    app.write_text(APP.replace("WORD", f"{word:#x}u"))
    board = board_file(tmp_path, like, word, count)
    built = build(MODEL, board, options=Options(app=app))
    assert emulator.run(built.board, built.firmware).exit_code == code


OTHER_CHIP = """
like: nucleo-h743zi2
name: mine
memories:
  - {name: flash, base: 0x60002000, size: 2M, access: rx, kind: flash,
     holds: [vectors, code, rodata, weights], flash: {sectors: 4K, write: 256}}
  - {name: dtcm, base: 0x20000000, size: 128K, access: rw, kind: tcm,
     holds: [stack, data, method, planned, temp, io]}
"""


def test_firmware_of_another_chip_has_no_register_of_the_one_it_is_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(OTHER_CHIP)
    built = build(MODEL, str(tmp_path / "mine.yaml"))
    content = b"".join(segment.data for segment in image.segments(built.firmware))
    base = boards.load("nucleo-h743zi2")
    assert base.uart is not None
    for register in [base.uart.base, *(step.at for step in base.start)]:
        assert struct.pack("<I", register) not in content
    same = tmp_path / "same.yaml"
    same.write_text("like: nucleo-h743zi2\nname: same\nchip: stm32h743zi\n")
    built = build(MODEL, str(same))
    content = b"".join(segment.data for segment in image.segments(built.firmware))
    for register in [base.uart.base, *(step.at for step in base.start)]:
        assert struct.pack("<I", register) in content


def test_a_header_is_in_the_image_in_front_of_the_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fcb.bin").write_bytes(b"FCFB" + bytes(range(100)))
    (tmp_path / "ivt.bin").write_bytes(bytes(range(32)))
    parts = {"flash_configuration": "fcb.bin", "image_vector_table": "ivt.bin"}
    given = {name: {"file": file} for name, file in parts.items()}
    given["boot_data"] = {"kept": True}  # type: ignore[dict-item]
    board = {"name": "mine", "chip": "mimxrt1062", "boot": {"parts": given}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(board))
    built = build(MODEL, "mine.yaml")
    binary = built.firmware.with_suffix(".bin").read_bytes()
    assert binary[:512] == b"FCFB" + bytes(range(100)) + bytes(408)
    assert binary[0x1000:0x1020] == bytes(range(32))
    stack, reset = struct.unpack_from("<II", binary, 0x2000)
    assert 0x20000000 < stack <= 0x20020000
    assert 0x60002000 < reset < 0x60020000
    written = plans.read_image(built.firmware, built.board)
    assert (written.start, written.blocks[0].address) == (0x60002000, 0x60000000)


def test_the_second_stage_of_rp2040_has_its_crc(tmp_path: Path) -> None:
    source = paths.runtime() / "port" / "cortexm" / "boot_rp2040.S"
    stage, binary = tmp_path / "stage.o", tmp_path / "stage.bin"
    gcc = ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-c", str(source), "-o"]
    subprocess.run([*gcc, str(stage)], check=True)
    copy = ["arm-none-eabi-objcopy", "-O", "binary", "-j", ".ember_boot_rp2040"]
    subprocess.run([*copy, str(stage), str(binary)], check=True)
    content = binary.read_bytes()
    assert len(content) == 256
    assert struct.unpack("<I", content[252:])[0] == crc32_of_boot_rom(content[:252])
