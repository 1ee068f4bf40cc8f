"""Real flash tools write a firmware to a simulated board, which then runs it.

gdb and OpenOCD are Debian's, pyOCD is PyPI's; the probe is tests/hil/simprobe, the CPU
and its flash are QEMU's.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
import simulator
from committed_cases import path_of
from simulator import Simulate, Simulation, board_file, connect

from ember import boards, cli, paths
from ember.flash import plans, probes

pytestmark = [pytest.mark.qemu]
KINDS = ("gdb", "pyocd", "openocd")
RUNS = "the firmware runs"
ROOT = paths.root()
DIGITS = ROOT / "examples" / "models" / "digits" / "digits.pte"


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulator.firmware(tmp_path_factory.mktemp("firmware"))


@pytest.fixture(scope="module")
def another(firmware: Path, content: bytes) -> Path:
    """The same with one wrong bit, in the middle of what is flashed."""
    data, half = bytearray(firmware.read_bytes()), len(content) // 2
    data[data.index(content[half : half + 64])] ^= 0x10
    path = firmware.with_name("another.elf")
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def content(firmware: Path, board: Path) -> bytes:
    """What the flash holds afterwards."""
    (block,) = plans.read_image(firmware, boards.load(str(board))).blocks
    return block.data


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return board_file(tmp_path_factory.mktemp("board"))


def flash(
    firmware: Path, board: Path | str, kind: str, probe: Path | str, *options: str
) -> int:
    words = ["flash", str(firmware), "--board", str(board), "--method", kind]
    return cli.main([*words, "--probe", str(probe), *options])


@pytest.mark.parametrize("kind", KINDS)
def test_firmware_is_written_and_runs(
    kind: str,
    simulate: Simulate,
    firmware: Path,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = simulate(kind)
    assert flash(firmware, board, kind, simulation.probe) == 0
    assert "written and read back" in capsys.readouterr().out
    assert simulation.printed(RUNS)


@pytest.mark.parametrize("kind", KINDS)
def test_another_firmware_does_not_verify(
    kind: str,
    simulate: Simulate,
    firmware: Path,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = simulate(kind, content=b"\xff" * 64 * 1024)
    assert flash(firmware, board, kind, simulation.probe, "--verify-only") == 1
    said = capsys.readouterr().err
    assert "verify failed" in said
    assert "0xff, not" in said


def test_one_wrong_byte_is_named(
    simulate: Simulate,
    another: Path,
    firmware: Path,
    content: bytes,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = simulate("openocd", content=content)
    probe = simulation.probe
    assert flash(firmware, board, "openocd", probe, "--verify-only") == 0
    assert "the same" in capsys.readouterr().out
    assert flash(another, board, "openocd", probe, "--verify-only") == 1
    assert "verify failed: 1 of" in capsys.readouterr().err


def test_a_bit_that_cannot_be_written_is_found(
    simulate: Simulate, firmware: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = simulate("pyocd", "--stuck", "0x1234")
    assert flash(firmware, board, "pyocd", simulation.probe) == 1
    assert "verify failed: 1 of" in (said := capsys.readouterr().err)
    assert "0x00001234" in said


@pytest.mark.parametrize("kind", KINDS)
def test_another_chip_is_left_alone(
    kind: str,
    simulate: Simulate,
    firmware: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = simulate(kind)
    board = board_file(tmp_path, cpuid=0x411F_C271)
    assert flash(firmware, board, kind, simulation.probe) == 1
    assert "wrong chip" in capsys.readouterr().err
    assert not simulation.printed(RUNS, seconds=0.5)


def test_openocd_erases_and_programs_by_its_driver(
    simulate: Simulate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its driver of Nordic's flash, word by word: none of its code runs in the RAM."""
    small = simulator.firmware(tmp_path, words=1200)
    board = board_file(tmp_path, load="program")
    simulation = simulate("openocd", "--nvmc")
    assert flash(small, board, "openocd", simulation.probe) == 0
    assert "written and read back" in capsys.readouterr().out
    assert simulation.printed(RUNS)


def test_a_locked_chip_is_told(
    simulate: Simulate, firmware: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = simulate("pyocd", "--locked")
    assert flash(firmware, "nrf52840-dk", "pyocd", simulation.probe) == 1
    said = capsys.readouterr().err
    assert "pyocd, identify: the chip is locked: debug access is disabled" in said
    assert "unlocking erases it" in said


@pytest.mark.parametrize(
    ("kind", "probe", "said"),
    [
        ("gdb", "127.0.0.1:1", "nothing answers"),
        ("pyocd", "remote:127.0.0.1:1", "no debug probe is connected"),
        ("pyocd", "0123456789", "no debug probe is connected"),
        ("openocd", "1", "no debug probe is connected"),
    ],
)
def test_no_probe(
    kind: str,
    probe: str,
    said: str,
    firmware: Path,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if probes.PROGRAMS[kind].find() is None:
        pytest.skip(f"needs {kind}")
    assert flash(firmware, board, kind, probe) == 1
    assert said in capsys.readouterr().err


# Bytes between probe and CPU after which about half of the firmware is written.
HALF = {"gdb": 24_000, "pyocd": 30_000, "openocd": 60_000}


@pytest.mark.parametrize("kind", KINDS)
def test_a_power_cut_in_the_middle_and_a_second_try(
    kind: str,
    simulate: Simulate,
    firmware: Path,
    content: bytes,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cut = simulate(kind, cut=HALF[kind])
    assert flash(firmware, board, kind, cut.probe) == 1
    said = capsys.readouterr().err
    assert "was lost; the flash may be partly written" in said
    assert cut.left[:4096] == content[:4096], "nothing was written before the cut"
    assert cut.left[: len(content)] != content, "all was written before the cut"

    again = simulate(kind, content=cut.left)
    assert flash(firmware, board, kind, again.probe) == 0
    assert again.printed(RUNS)


# Bytes between probe and CPU of about a page of 1 kB, and of a whole flash.
PAGES = {"gdb": (2_300, 50_000), "pyocd": (1_500, 60_000), "openocd": (4_700, 120_000)}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_power_cut_at_every_page(
    kind: str,
    simulate: Simulate,
    firmware: Path,
    content: bytes,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page, whole = PAGES[kind]
    held = []
    for cut_at in range(page, whole, page):
        cut = simulate(kind, cut=cut_at)
        if flash(firmware, board, kind, cut.probe) == 0:
            break  # all was written before
        said = capsys.readouterr().err
        assert "Traceback" not in said
        assert said.startswith("ember flash: ")
        left = cut.left
        held.append(left[: len(content)] == content)
        again = simulate(kind, content=left)
        assert flash(firmware, board, kind, again.probe) == 0, f"after {cut_at} bytes"
        assert again.printed(RUNS), f"after {cut_at} bytes"
        capsys.readouterr()
    assert len(held) > 10
    assert not held[0]


# ---- UF2 -----------------------------------------------------------------------------


class BootLoader:
    """A drive, and what reads the files on it: by the words of UF2's specification."""

    def __init__(self, folder: Path, simulation: Simulation | None) -> None:
        folder.mkdir()
        (folder / "INFO_UF2.TXT").write_text("Model: QEMU\r\nBoard-ID: SIMULATED\r\n")
        self.folder = folder
        self.simulation = simulation

    def write(self, share: float = 1.0) -> None:
        """Write the file's first blocks, and start when they are all."""
        assert self.simulation is not None
        data = (self.folder / "firmware.uf2").read_bytes()
        records = [data[at : at + 512] for at in range(0, len(data), 512)]
        stub = connect(self.simulation.port)
        for record in records[: round(len(records) * share)]:
            words = struct.unpack_from("<8I", record)
            assert words[:3] == (0x0A324655, 0x9E5D5157, 0x2000)
            assert words[6:] == (len(records), 0xE48BFF56)
            assert record[508:] == bytes.fromhex("306fb10a")
            assert stub.write(words[3], record[32 : 32 + words[4]])
        stub.close()
        if share == 1:
            self.simulation.reset()


def test_a_uf2_file_is_written_and_runs(
    simulate: Simulate,
    firmware: Path,
    board: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = simulate("gdb")
    loader = BootLoader(tmp_path / "drive", simulation)
    assert flash(firmware, board, "uf2", loader.folder) == 0
    assert "written, not read back" in capsys.readouterr().out
    loader.write(share=0.5)  # the power is cut
    assert flash(firmware, board, "uf2", loader.folder) == 0
    loader.write()
    assert simulation.printed(RUNS)


def test_a_uf2_drive_that_goes_away(
    firmware: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loader = BootLoader(tmp_path / "drive", None)
    (loader.folder / "firmware.uf2").symlink_to("/dev/full")
    assert flash(firmware, board, "uf2", loader.folder) == 1
    assert "failed: No space left" in capsys.readouterr().err
    (loader.folder / "firmware.uf2").unlink()
    assert flash(firmware, board, "uf2", loader.folder) == 0
    assert flash(firmware, board, "uf2", tmp_path) == 1
    assert "is not the drive of a UF2 boot loader" in capsys.readouterr().err


# ---- DFU -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulator.dfu_device(tmp_path_factory.mktemp("usb"))


class Device:
    """What tests/hil/simdfu puts on the bus of every dfu-util that is started."""

    def __init__(
        self, folder: Path, library: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if probes.PROGRAMS["dfu-util"].find() is None:
            pytest.skip("needs dfu-util")
        self.flash = folder / "flash.bin"
        self.flash.write_bytes(bytes(128 * 1024))
        self.left = folder / "left.txt"
        self.environment = monkeypatch
        self.environment.setenv("LD_PRELOAD", str(library))
        self.environment.setenv("SIMDFU_FLASH", str(self.flash))
        self.environment.setenv("SIMDFU_LEFT", str(self.left))


@pytest.fixture
def device(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    return Device(tmp_path, library, monkeypatch)


def test_dfu_writes_and_starts(
    device: Device,
    simulate: Simulate,
    firmware: Path,
    content: bytes,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert flash(firmware, board, "dfu-util", "SIMULATED") == 0
    assert "written and read back" in capsys.readouterr().out
    written = device.flash.read_bytes()
    sectors = -(-len(content) // 4096) * 4096
    assert written[:sectors] == content.ljust(sectors, b"\xff")
    assert not any(written[sectors:]), "more was erased than the image needs"
    assert device.left.read_text() == "0"  # where it starts
    simulation = simulate("gdb", content=written)
    simulation.reset()
    assert simulation.printed(RUNS)


def test_a_dfu_device_is_listed(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["probes"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "boot loader SIMULATED 0483:df11 @Flash" in said


def test_dfu_finds_what_is_wrong(
    device: Device, firmware: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    probe = "SIMULATED"
    assert flash(firmware, board, "dfu-util", probe, "--verify-only") == 1
    assert "verify failed" in capsys.readouterr().err
    assert not any(device.flash.read_bytes())
    assert flash(firmware, board, "dfu-util", "ANOTHER") == 1
    assert "no matching boot loader is connected" in capsys.readouterr().err
    device.environment.delenv("SIMDFU_FLASH")
    assert flash(firmware, board, "dfu-util", probe) == 1
    assert "no matching boot loader is connected" in capsys.readouterr().err


def test_a_dfu_device_that_goes_away(
    device: Device,
    firmware: Path,
    content: bytes,
    board: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    device.environment.setenv("SIMDFU_CUT", "90")
    assert flash(firmware, board, "dfu-util", "SIMULATED") == 1
    assert "or the chip was lost" in capsys.readouterr().err
    part = device.flash.read_bytes()[: len(content)]
    assert part[:4096] == content[:4096] and part != content
    device.environment.delenv("SIMDFU_CUT")
    assert flash(firmware, board, "dfu-util", "SIMULATED") == 0


# ---- the serial port -----------------------------------------------------------------


@pytest.fixture(scope="module")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The board with its console on the serial port."""
    return board_file(tmp_path_factory.mktemp("speaking"), console="uart")


def test_a_model_is_built_and_its_console_shown(
    simulate: Simulate,
    speaking: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    simulation = simulate("gdb")
    words = ["--monitor", "--port", simulation.uart]
    assert flash(DIGITS, speaking, "gdb", simulation.probe, *words) == 0
    assert capsys.readouterr().out.endswith("ember: success\n\nEMBER EXIT 0\n")


def test_a_board_one_can_buy(
    simulate: Simulate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU's Netduino Plus 2 begins with empty flash; the board's own file is used."""
    monkeypatch.chdir(tmp_path)
    simulation = simulate("gdb", machine="netduinoplus2")
    assert flash(DIGITS, "netduinoplus2", "gdb", simulation.probe) == 0
    assert simulation.printed("ember: success")


def test_the_runner_is_flashed_and_runs_cases(
    simulate: Simulate, speaking: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = simulate("gdb")
    case = path_of("op_add")
    words = ["--runner", "--method", "gdb", "--probe", simulation.probe]
    assert cli.main(["flash", str(case), "--board", str(speaking), *words]) == 0
    words = ["--board", str(speaking), "--port", simulation.uart]
    assert cli.main(["test", str(case), *words]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out


def test_a_console_that_is_not_there(
    simulate: Simulate,
    firmware: Path,
    board: Path,
    speaking: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = simulate("gdb")
    words = ["gdb", simulation.probe, "--monitor", "--port"]
    assert flash(firmware, board, *words, simulation.uart) == 1
    assert "has no console on a serial port" in capsys.readouterr().err
    assert flash(firmware, speaking, *words, "socket://127.0.0.1:1") == 1
    assert "cannot connect" in capsys.readouterr().err
    assert not simulation.printed(RUNS, seconds=0.2), "it was flashed all the same"


# ---- gdb -----------------------------------------------------------------------------


def test_gdb_finds_all_sections_the_same(
    simulate: Simulate, firmware: Path, board: Path
) -> None:
    """gdb's own check of what ember flash wrote: each section by its CRC."""
    simulation = simulate("gdb")
    gdb = shutil.which("gdb-multiarch")
    assert gdb is not None
    words = [gdb, "-nx", "-batch", str(firmware)]
    for command in (
        f"target remote {simulation.probe}",
        "load",
        "compare-sections",
        "set $pc = 0x20000000",
        "detach",
    ):
        words += ["-ex", command]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert done.stdout.count("matched.") >= 2
    assert "MIS-MATCHED" not in done.stdout
