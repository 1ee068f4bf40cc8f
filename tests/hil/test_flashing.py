"""Real flash tools write a firmware to a simulated board, which then runs it.

gdb and OpenOCD are Debian's, pyOCD is PyPI's; the probe is tests/hil/simprobe, the CPU
and its flash are QEMU's.
"""

import shutil
import struct
import subprocess

import pytest
import simulator
from committed_cases import path_of
from simulator import board_file, connect

from ember import boards, cli, paths
from ember.flash import plans, probes

pytestmark = [pytest.mark.qemu]
KINDS = ("gdb", "pyocd", "openocd")
RUNS = "the firmware runs"
ROOT = paths.root()
DIGITS = ROOT / "examples" / "models" / "digits" / "digits.pte"


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    return simulator.firmware(tmp_path_factory.mktemp("firmware"))


@pytest.fixture(scope="module")
def another(firmware, content):
    """The same with one wrong bit, in the middle of what is flashed."""
    data, half = bytearray(firmware.read_bytes()), len(content) // 2
    data[data.index(content[half : half + 64])] ^= 0x10
    path = firmware.with_name("another.elf")
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def content(firmware, board):
    """What the flash holds afterwards."""
    (block,) = plans.read_image(firmware, boards.load(str(board))).blocks
    return block.data


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    return board_file(tmp_path_factory.mktemp("board"))


def flash(firmware, board, kind, probe, *options):
    words = ["flash", str(firmware), "--board", str(board), "--method", kind]
    return cli.main([*words, "--probe", str(probe), *options])


@pytest.mark.parametrize("kind", KINDS)
def test_firmware_is_written_and_runs(kind, simulate, firmware, board, capsys):
    simulation = simulate(kind)
    assert flash(firmware, board, kind, simulation.probe) == 0
    assert "written and read back" in capsys.readouterr().out
    assert simulation.printed(RUNS)


@pytest.mark.parametrize("kind", KINDS)
def test_another_firmware_does_not_verify(kind, simulate, firmware, board, capsys):
    simulation = simulate(kind, content=b"\xff" * 64 * 1024)
    assert flash(firmware, board, kind, simulation.probe, "--verify-only") == 1
    said = capsys.readouterr().err
    assert "verify failed" in said
    assert "0xff, not" in said


def test_one_wrong_byte_is_named(simulate, another, firmware, content, board, capsys):
    simulation = simulate("openocd", content=content)
    probe = simulation.probe
    assert flash(firmware, board, "openocd", probe, "--verify-only") == 0
    assert "the same" in capsys.readouterr().out
    assert flash(another, board, "openocd", probe, "--verify-only") == 1
    assert "verify failed: 1 of" in capsys.readouterr().err


def test_a_bit_that_cannot_be_written_is_found(simulate, firmware, board, capsys):
    simulation = simulate("pyocd", "--stuck", "0x1234")
    assert flash(firmware, board, "pyocd", simulation.probe) == 1
    assert "verify failed: 1 of" in (said := capsys.readouterr().err)
    assert "0x00001234" in said


@pytest.mark.parametrize("kind", KINDS)
def test_another_chip_is_left_alone(kind, simulate, firmware, tmp_path, capsys):
    simulation = simulate(kind)
    board = board_file(tmp_path, cpuid=0x411F_C271)
    assert flash(firmware, board, kind, simulation.probe) == 1
    assert "wrong chip" in capsys.readouterr().err
    assert not simulation.printed(RUNS, seconds=0.5)


def test_openocd_erases_and_programs_by_its_driver(simulate, tmp_path, capsys):
    """Its driver of Nordic's flash, word by word: none of its code runs in the RAM."""
    small = simulator.firmware(tmp_path, words=1200)
    board = board_file(tmp_path, load="program")
    simulation = simulate("openocd", "--nvmc")
    assert flash(small, board, "openocd", simulation.probe) == 0
    assert "written and read back" in capsys.readouterr().out
    assert simulation.printed(RUNS)


def test_a_locked_chip_is_told(simulate, firmware, capsys):
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
def test_no_probe(kind, probe, said, firmware, board, capsys):
    if probes.PROGRAMS[kind].find() is None:
        pytest.skip(f"needs {kind}")
    assert flash(firmware, board, kind, probe) == 1
    assert said in capsys.readouterr().err


# Bytes between probe and CPU after which about half of the firmware is written.
HALF = {"gdb": 24_000, "pyocd": 30_000, "openocd": 60_000}


@pytest.mark.parametrize("kind", KINDS)
def test_a_power_cut_in_the_middle_and_a_second_try(
    kind, simulate, firmware, content, board, capsys
):
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
def test_a_power_cut_at_every_page(kind, simulate, firmware, content, board, capsys):
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

    def __init__(self, folder, simulation):
        folder.mkdir()
        (folder / "INFO_UF2.TXT").write_text("Model: QEMU\r\nBoard-ID: SIMULATED\r\n")
        self.folder = folder
        self.simulation = simulation

    def write(self, share=1.0):
        """Write the file's first blocks, and start when they are all."""
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


def test_a_uf2_file_is_written_and_runs(simulate, firmware, board, tmp_path, capsys):
    simulation = simulate("gdb")
    loader = BootLoader(tmp_path / "drive", simulation)
    assert flash(firmware, board, "uf2", loader.folder) == 0
    assert "written, not read back" in capsys.readouterr().out
    loader.write(share=0.5)  # the power is cut
    assert flash(firmware, board, "uf2", loader.folder) == 0
    loader.write()
    assert simulation.printed(RUNS)


def test_a_uf2_drive_that_goes_away(firmware, board, tmp_path, capsys):
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
def library(tmp_path_factory):
    return simulator.dfu_device(tmp_path_factory.mktemp("usb"))


class Device:
    """What tests/hil/simdfu puts on the bus of every dfu-util that is started."""

    def __init__(self, folder, library, monkeypatch):
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
def device(tmp_path, library, monkeypatch):
    return Device(tmp_path, library, monkeypatch)


def test_dfu_writes_and_starts(device, simulate, firmware, content, board, capsys):
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


def test_a_dfu_device_is_listed(device, capsys):
    assert cli.main(["probes"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "boot loader SIMULATED 0483:df11 @Flash" in said


def test_dfu_finds_what_is_wrong(device, firmware, board, capsys):
    probe = "SIMULATED"
    assert flash(firmware, board, "dfu-util", probe, "--verify-only") == 1
    assert "verify failed" in capsys.readouterr().err
    assert not any(device.flash.read_bytes())
    assert flash(firmware, board, "dfu-util", "ANOTHER") == 1
    assert "no matching boot loader is connected" in capsys.readouterr().err
    device.environment.delenv("SIMDFU_FLASH")
    assert flash(firmware, board, "dfu-util", probe) == 1
    assert "no matching boot loader is connected" in capsys.readouterr().err


def test_a_dfu_device_that_goes_away(device, firmware, content, board, capsys):
    device.environment.setenv("SIMDFU_CUT", "90")
    assert flash(firmware, board, "dfu-util", "SIMULATED") == 1
    assert "or the chip was lost" in capsys.readouterr().err
    part = device.flash.read_bytes()[: len(content)]
    assert part[:4096] == content[:4096] and part != content
    device.environment.delenv("SIMDFU_CUT")
    assert flash(firmware, board, "dfu-util", "SIMULATED") == 0


# ---- the serial port -----------------------------------------------------------------


@pytest.fixture(scope="module")
def speaking(tmp_path_factory):
    """The board with its console on the serial port."""
    return board_file(tmp_path_factory.mktemp("speaking"), console="uart")


def test_a_model_is_built_and_its_console_shown(
    simulate, speaking, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    simulation = simulate("gdb")
    words = ["--monitor", "--port", simulation.uart]
    assert flash(DIGITS, speaking, "gdb", simulation.probe, *words) == 0
    assert capsys.readouterr().out.endswith("ember: success\n\nEMBER EXIT 0\n")


def test_a_board_one_can_buy(simulate, tmp_path, monkeypatch):
    """QEMU's Netduino Plus 2 begins with empty flash; the board's own file is used."""
    monkeypatch.chdir(tmp_path)
    simulation = simulate("gdb", machine="netduinoplus2")
    assert flash(DIGITS, "netduinoplus2", "gdb", simulation.probe) == 0
    assert simulation.printed("ember: success")


def test_the_runner_is_flashed_and_runs_cases(simulate, speaking, capsys):
    simulation = simulate("gdb")
    case = path_of("op_add")
    words = ["--runner", "--method", "gdb", "--probe", simulation.probe]
    assert cli.main(["flash", str(case), "--board", str(speaking), *words]) == 0
    words = ["--board", str(speaking), "--port", simulation.uart]
    assert cli.main(["test", str(case), *words]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out


def test_a_console_that_is_not_there(simulate, firmware, board, speaking, capsys):
    simulation = simulate("gdb")
    words = ["gdb", simulation.probe, "--monitor", "--port"]
    assert flash(firmware, board, *words, simulation.uart) == 1
    assert "has no console on a serial port" in capsys.readouterr().err
    assert flash(firmware, speaking, *words, "socket://127.0.0.1:1") == 1
    assert "cannot connect" in capsys.readouterr().err
    assert not simulation.printed(RUNS, seconds=0.2), "it was flashed all the same"


# ---- gdb -----------------------------------------------------------------------------


def test_gdb_finds_all_sections_the_same(simulate, firmware, board):
    """gdb's own check of what ember flash wrote: each section by its CRC."""
    simulation = simulate("gdb")
    words = [shutil.which("gdb-multiarch"), "-nx", "-batch", str(firmware)]
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
