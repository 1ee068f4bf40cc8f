"""What boot ROMs read is where they look for it, once real tools have written it.

QEMU's AN500 has a Cortex-M7 and memory at the addresses of an i.MX RT1060: its flash,
DTCM and OCRAM. The boot ROM is this file, by the words of the reference manual.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from rp2040 import crc32_of_boot_rom
from simprobe.gdbstub import PC, SP, XPSR, Stub
from simulator import Simulate, connect

from ember import boards, cli, paths
from ember.firmware import build
from ember.flash import uf2

pytestmark = [pytest.mark.qemu]
DIGITS = paths.root() / "examples" / "models" / "digits" / "digits.pte"
EVK = "mimxrt1060-evk"
FLEXSPI, TABLE = 0x6000_0000, 0x6000_1000


def words(stub: Stub, address: int, count: int) -> tuple[int, ...]:
    data = stub.read(address, 4 * count)
    assert data is not None
    return struct.unpack(f"<{count}I", data)


def boot_imxrt(stub: Stub) -> None:
    """Configure the flash, find the image, start it."""
    configuration = stub.read(FLEXSPI, 512)
    assert configuration is not None
    assert configuration[:4] == b"FCFB"
    assert configuration[7] == ord("V")
    (size,) = struct.unpack_from("<I", configuration, 0x50)
    assert configuration[0x80] == 0x03, "another command than the flash's plain read"
    header, entry, _, _, data, itself, *_ = words(stub, TABLE, 8)
    assert (header & 0xFF, header >> 8 & 0xFFFF, itself) == (0xD1, 0x2000, TABLE)
    start, length, plugin = words(stub, data, 3)
    assert (start, length, plugin) == (FLEXSPI, size, 0)
    assert start < entry < start + length
    stack, reset = words(stub, entry, 2)
    stub.set_register(SP, stack)
    stub.set_register(PC, reset & ~1)
    stub.set_register(XPSR, 1 << 24)
    stub.resume()


def test_a_probe_writes_an_image_for_an_rt1060(
    simulate: Simulate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    simulation = simulate("gdb", machine="mps2-an500")
    command = ["flash", str(DIGITS), "--board", EVK, "--method", "gdb"]
    assert cli.main([*command, "--probe", simulation.probe]) == 0
    assert "written and read back" in capsys.readouterr().out
    assert simulation.printed("ember: success")


def test_an_rt1060_finds_the_image_and_runs_it(
    simulate: Simulate, tmp_path: Path
) -> None:
    built = build(DIGITS, EVK, out=tmp_path)
    content = built.firmware.with_suffix(".bin").read_bytes()
    simulation = simulate("gdb", machine="mps2-an500", content=content)
    stub = connect(simulation.port)
    boot_imxrt(stub)
    stub.close()
    assert simulation.printed("ember: success")


# ---- RP2040 --------------------------------------------------------------------------


class Drive:
    """The drive of an RP2040's boot ROM."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "INFO_UF2.TXT").write_text("Model: x\r\nBoard-ID: RPI-RP2\r\n")
        self.folder = folder

    @property
    def flash(self) -> dict[int, bytes]:
        parts, family = uf2.unpack((self.folder / "firmware.uf2").read_bytes())
        assert family == 0xE48BFF56
        assert all(part.address % 256 == len(part.data) % 256 == 0 for part in parts)
        return {part.address: part.data for part in parts}


def test_an_rp2040_finds_a_second_stage_in_the_file_on_its_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drive = Drive(tmp_path / "drive")
    command = ["flash", str(DIGITS), "--board", "rpi-pico", "--method", "uf2"]
    assert cli.main([*command, "--probe", str(drive.folder)]) == 0
    (first, *_), ram = drive.flash.items(), boards.load("rpi-pico").memory("ram")
    address, data = first
    assert address == 0x1000_0000
    assert struct.unpack_from("<I", data, 252)[0] == crc32_of_boot_rom(data[:252])
    # Plain serial reads: 03h, 24 bits of address, 32 bits of data a frame.
    assert struct.pack("<I", 0x0300_0218) in data[:252]
    assert struct.pack("<I", 0x001F_0300) in data[:252]
    stack, reset = struct.unpack_from("<II", data, 256)
    assert ram.base < stack <= ram.end
    assert reset & 1 and address + 256 < reset < address + len(data)
