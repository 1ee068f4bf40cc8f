import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ember import boards, cli
from ember.boards.keys import Uf2
from ember.errors import SdkError, UsageError
from ember.flash import dfu, messages, perform, plans, probes, uf2
from ember.flash.plans import FlashOrder, FlashPlan, Image, Read, ToolRun
from ember.toolchain import elf, image
from ember.toolchain.image import ImageSegment

RP2040, VOLUME = 0xE48BFF56, "RPI-RP2"
Parts = Sequence[ImageSegment]
Tool = Callable[[str, str], None]


# ---- files ---------------------------------------------------------------------------


def test_uf2_round_trip(tmp_path: Path) -> None:
    parts = (
        ImageSegment(0x10000000, bytes(range(256)) * 3),
        ImageSegment(0x10010040, b"abc"),
    )
    data = uf2.pack(parts, RP2040)
    blocks, family = uf2.unpack(data)
    assert family == RP2040
    assert blocks[0] == parts[0]
    assert blocks[1].address == 0x10010000
    assert blocks[1].data == b"\xff" * 64 + b"abc" + b"\xff" * 189
    path = tmp_path / "firmware.uf2"
    path.write_bytes(data)
    assert len(data) == 512 * 4
    # The words of the format's specification, without our reader.
    assert data[:8] == b"UF2\nWQ]\x9e"
    assert data[508:512] == bytes.fromhex("306fb10a")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:-1], "not a multiple of 512"),
        (lambda data: b"", "not a multiple of 512"),
        (lambda data: b"X" + data[1:], "block 0 of the UF2 file is broken"),
        (lambda data: data[512:], "out of order"),
        (lambda data: data[:-1] + b"X", "block 2 of the UF2 file is broken"),
    ],
)
def test_a_broken_uf2_file_is_refused(
    change: Callable[[bytes], bytes], said: str
) -> None:
    data = uf2.pack((ImageSegment(0, bytes(768)),), RP2040)
    with pytest.raises(SdkError, match=said):
        uf2.unpack(change(data))


def test_dfu_round_trip(tmp_path: Path) -> None:
    parts = (
        ImageSegment(0x08000000, b"first" * 100),
        ImageSegment(0x08020000, b"second"),
    )
    data = dfu.pack(parts, 0x0483, 0xDF11, 0)
    assert dfu.unpack(data) == (parts, 0x0483, 0xDF11)
    for at in (0, 300, len(data) - 20, len(data) - 1):
        broken = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(SdkError):
            dfu.unpack(broken)
    with pytest.raises(SdkError):
        dfu.unpack(b"short")


@pytest.mark.skipif(probes.PROGRAMS["dfu-util"].find() is None, reason="needs dfu-util")
def test_dfu_suffix_passes_the_official_check(tmp_path: Path) -> None:
    path = tmp_path / "firmware.dfu"
    path.write_bytes(dfu.pack((ImageSegment(0x08000000, b"data"),), 0x0483, 0xDF11, 0))
    done = subprocess.run(
        ["dfu-suffix", "-c", str(path)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "0x0483" in done.stdout
    assert "0xDF11" in done.stdout


# ---- what is written -----------------------------------------------------------------


def firmware(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parts: Parts,
    machine: int = elf.EM_ARM,
) -> Path:
    path = tmp_path / "firmware.elf"
    path.write_bytes(b"")
    read = elf.Elf(path, 2, machine, 32, 0, (), ())
    monkeypatch.setattr(elf, "read", lambda path: read)
    monkeypatch.setattr(image, "segments", lambda path: parts)
    return path


def test_segments_in_one_sector_are_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = boards.load("netduinoplus2")
    base = 0x08000000
    parts = [ImageSegment(base, b"abcdef"), ImageSegment(base + 8, b"gh")]
    parts += [ImageSegment(base + 0x10000, b"far")]
    loaded = plans.read_image(firmware(tmp_path, monkeypatch, parts), board)
    assert loaded.start == base
    assert loaded.blocks == (
        ImageSegment(base, b"abcdef\xff\xffgh\xff\xff"),
        ImageSegment(base + 0x10000, b"far\xff"),
    )


@pytest.mark.parametrize(
    ("parts", "machine", "said"),
    [
        (
            [ImageSegment(0x20000000, b"ram")],
            elf.EM_ARM,
            "which `ember flash` cannot write",
        ),
        ([ImageSegment(0x90000000, b"far")], elf.EM_ARM, "outside the memories"),
        ([ImageSegment(0x080FFFFE, b"four")], elf.EM_ARM, "2 bytes larger than flash"),
        ([], elf.EM_ARM, "nothing to write"),
        (
            [ImageSegment(0x08000000, b"x")],
            elf.EM_HEXAGON,
            "not firmware for the processor",
        ),
    ],
)
def test_what_cannot_be_flashed_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parts: Parts,
    machine: int,
    said: str,
) -> None:
    path = firmware(tmp_path, monkeypatch, parts, machine)
    with pytest.raises(SdkError) as error:
        plans.read_image(path, boards.load("netduinoplus2"))
    assert said in error.value.what


# ---- running a plan ------------------------------------------------------------------


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Puts a program of a few lines of shell on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", str(folder / "python"))

    def make(name: str, script: str) -> None:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return make


def run(step: ToolRun, limit: float | None = None) -> None:
    board = boards.load("netduinoplus2")
    plan = FlashPlan("openocd", (step,))
    perform.run(plan, board.flasher("openocd"), print, limit=limit)


def test_a_plan_is_run_and_compared(tool: Tool) -> None:
    tool("openocd", "printf abc > read0.bin")
    read = Read("read0.bin", 0x100, b"abc")
    run(ToolRun("read", ("openocd",), (read,)))
    with pytest.raises(SdkError) as error:
        run(ToolRun("read", ("openocd",), (Read("read0.bin", 0x100, b"aXc"),)))
    assert "1 of 3 bytes differ, the first at 0x00000101: 0x62, not 0x58" in (
        error.value.what
    )


def test_a_chip_is_told_by_the_bits_that_count(tool: Tool) -> None:
    tool("openocd", "printf '\\104\\063\\042\\021' > chip.bin")
    right = Read("chip.bin", 0, bytes.fromhex("44030000"), bytes.fromhex("ff0f0000"))
    run(ToolRun("identify", ("openocd",), (right,), chip=True))
    wrong = Read("chip.bin", 0, bytes.fromhex("45030000"), bytes.fromhex("ff0f0000"))
    with pytest.raises(SdkError, match=r"wrong chip: its identity .* is 0x344, not"):
        run(ToolRun("identify", ("openocd",), (wrong,), chip=True))


def test_a_tool_that_hangs_is_ended(tool: Tool) -> None:
    tool("openocd", "exec sleep 60")
    with pytest.raises(SdkError, match="not done after 1 s"):
        run(ToolRun("program", ("openocd",)), limit=1)


def test_a_missing_tool_names_its_package(tool: Tool) -> None:
    with pytest.raises(SdkError) as error:
        probes.executable("jlink")
    assert error.value.what == "JLinkExe is not installed"
    assert error.value.hint is not None
    assert "segger.com" in error.value.hint
    assert "ember[flash]" in probes.PROGRAMS["pyocd"].install


@pytest.mark.parametrize(
    ("tool_name", "output", "said"),
    [
        ("pyocd", "0000774 E No available debug probes [load]", "no debug probe"),
        ("pyocd", "W NRF52840 APPROTECT enabled: not automatically", "locked"),
        ("pyocd", "C Target type x not recognized. Use", "does not know the board's"),
        ("openocd", "Error: unable to find a matching CMSIS-DAP device", "no debug"),
        ("openocd", "Error: JTAG tap: UNEXPECTED 0x1", "wrong chip"),
        ("openocd", "Error: Invalid serial number: NONE", "--probe matches no probe"),
        ("openocd", "embedded:startup.tcl:28: Error: Can't find target/x.cfg", "lacks"),
        ("st-flash", "WARN usb.c: Couldn't find any ST-Link devices", "no debug probe"),
        ("st-flash", "Flash memory is write protected", "locked"),
        (
            "dfu-util",
            "dfu-util: No DFU capable USB device available",
            "no matching boot",
        ),
        ("dfu-util", "state(10) = dfuERROR, status(11) = errVENDOR", "locked"),
        ("dfu-util", "More than one DFU capable USB device found!", "several probes"),
        ("gdb", "127.0.0.1:1: Connection timed out.", "nothing answers"),
        ("gdb", "Remote connection closed", "or the chip was lost"),
        ("jlink", "what nobody knows\n", "status 7: what nobody knows"),
        ("jlink", "", "status 7, without output"),
    ],
)
def test_what_a_tool_says_becomes_a_sentence(
    tool_name: str, output: str, said: str
) -> None:
    error = messages.explain(tool_name, ToolRun("program", ()), output, 7)
    assert said in error.what
    assert error.what.startswith(f"{tool_name}, program: ")


def test_a_hint_names_the_target() -> None:
    words = ("pyocd", "load", "--target", "stm32f446retx")
    said = "0000774 C Target type stm32f446retx not recognized. Use 'pyocd list"
    error = messages.explain("pyocd", ToolRun("identify", words), said, 1)
    assert error.hint is not None
    assert "`pyocd pack install stm32f446retx`" in error.hint


# ---- probes and drives ---------------------------------------------------------------

TWO = {
    "boards": [
        {"unique_id": "0A", "vendor_name": "Arm", "product_name": "DAPLink"},
        {"unique_id": "0B", "vendor_name": "STMicroelectronics", "product_name": "V3"},
    ]
}


def test_two_probes_are_a_question_without_pyocd_too(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " serial: 66AA\\n dev-type: F7\\n serial: 66BB\\n dev-type: F4\\n"
    tool("st-info", f"printf '{text}'")
    tool("st-flash", "")
    monkeypatch.setenv("PATH", sys.executable.rsplit("/", 1)[0])
    with pytest.raises(UsageError) as error:
        probes.need_one("st-flash", None)
    assert "66AA (ST-LINK, F7), 66BB (ST-LINK, F4)" in error.value.what


def test_two_probes_are_a_question(
    tool: Tool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = json.dumps(TWO)
    tool("pyocd", f"echo '{facts}'")
    with pytest.raises(UsageError) as error:
        probes.need_one("openocd", None)
    assert "2 debug probes are connected: 0A (Arm DAPLink), 0B" in error.value.what
    probes.need_one("openocd", "0A")
    probes.need_one("uf2", None)


def test_probes_lists_what_tools_see(
    tool: Tool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool("pyocd", f"echo '{json.dumps(TWO)}'")
    tool("st-info", "printf ' version: V2\\n serial: 66AA\\n dev-type: STM32F7\\n'")
    tool("st-flash", "")
    listing = 'Found DFU: [0483:df11] ver=2200, alt=0, name="@Flash", serial="357A"'
    tool("dfu-util", f"echo '{listing}'")
    report = tmp_path / "probes.json"
    assert cli.main(["probes", "--json", str(report)]) == 0
    facts = json.loads(report.read_text())
    seen = {(entry["kind"], entry["id"]) for entry in facts["found"]}
    assert {("probe", "0A"), ("probe", "66AA"), ("boot loader", "357A")} <= seen
    assert "JLinkExe is not installed" in capsys.readouterr().out


def test_probes_names_what_is_missing(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert cli.main(["probes"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "pyocd is not installed (pip install 'ember[flash]')" in said


@pytest.fixture
def pico() -> boards.Board:
    return boards.load("rpi-pico")


def uf2_of(board: boards.Board) -> Uf2:
    facts = board.flasher(None)
    assert isinstance(facts, Uf2)
    return facts


def drive(folder: Path, board_id: str) -> Path:
    folder.mkdir()
    text = f"UF2 Bootloader v2.0\r\nModel: Raspberry Pi\r\nBoard-ID: {board_id}\r\n"
    (folder / "INFO_UF2.TXT").write_text(text)
    return folder


def test_a_file_is_copied_to_the_drive(pico: boards.Board, tmp_path: Path) -> None:
    place = drive(tmp_path / VOLUME, VOLUME)
    facts = pico.flasher(None)
    base = pico.memory("flash").base
    written = Image((ImageSegment(base, bytes(range(256))),), base)
    plan = perform.plan(FlashOrder(pico, written, str(place)), facts)
    perform.run(plan, facts, print, str(place))
    copied = (place / "firmware.uf2").read_bytes()
    parts, family = uf2.unpack(copied)
    assert (parts, family) == (written.blocks, RP2040)
    assert not plan.verifies


def test_a_drive_of_another_chip(pico: boards.Board, tmp_path: Path) -> None:
    place = drive(tmp_path / "RP2350", "RP2350")
    with pytest.raises(SdkError, match=r"wrong chip: .* is a RP2350"):
        uf2.choose(uf2_of(pico), str(place))
    with pytest.raises(SdkError, match="is not the drive of a UF2 boot loader"):
        uf2.choose(uf2_of(pico), str(tmp_path))


def test_drives_are_found_where_they_are_mounted(
    pico: boards.Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [drive(tmp_path / "a", "RP2350")]
    monkeypatch.setattr(uf2, "_mount_points", lambda: iter(places))
    facts = uf2_of(pico)
    with pytest.raises(SdkError, match="only drives of other chips"):
        uf2.choose(facts, None)
    places.append(drive(tmp_path / "b", VOLUME))
    assert uf2.choose(facts, None).place == tmp_path / "b"
    places.append(drive(tmp_path / "c", VOLUME))
    with pytest.raises(UsageError, match="2 boards are waiting for a file"):
        uf2.choose(facts, None)


def test_a_drive_that_goes_away(tmp_path: Path) -> None:
    gone = uf2.Drive(tmp_path / "gone", "Raspberry Pi", VOLUME)
    with pytest.raises(SdkError, match="failed: No such file"):
        uf2.copy(b"data", "firmware.uf2", gone)


# ---- the command ---------------------------------------------------------------------


def test_a_dry_run_shows_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "firmware.elf"
    parts = [ImageSegment(0x08000000, b"abcd")]
    firmware(tmp_path, monkeypatch, parts)
    path.write_bytes(b"\x7fELF")
    report = tmp_path / "plan.json"
    words = ["flash", str(path), "--board", "netduinoplus2", "--method", "st-flash"]
    assert cli.main([*words, "--dry-run", "--json", str(report)]) == 0
    assert "program: st-flash write block0.bin 0x08000000" in capsys.readouterr().out
    facts = json.loads(report.read_text())
    assert facts["status"] == "planned"
    assert facts["steps"][0]["argv"][0] == "st-flash"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.pack").touch()
    more = ["--tool-arg", "--pack", "--tool-arg", "own.pack", "--dry-run"]
    assert cli.main([*words, *more]) == 0
    assert f"st-flash --pack {tmp_path}/own.pack write" in capsys.readouterr().out
    assert cli.main([*words[:-1], "uf2"]) == 1
    assert cli.main(["flash", str(tmp_path / "none"), "--board", "netduinoplus2"]) == 1
