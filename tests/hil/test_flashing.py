"""Real flash tools write a firmware to a simulated board, which then runs it.

gdb and OpenOCD are Debian's, pyOCD is PyPI's; the probe is tests/hil/simprobe, the CPU
and its flash are QEMU's.
"""

import shutil
import subprocess

import pytest
from simulator import Simulation, board_file

from ember import build, cli, paths
from ember.flash import programs

pytestmark = [pytest.mark.qemu]
KINDS = ("gdb", "pyocd", "openocd")
DIGITS = paths.root() / "examples" / "models" / "digits" / "digits.pte"
APP = paths.root() / "examples" / "firmware" / "classify.c"
PREDICTION = "class 1"


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    out = tmp_path_factory.mktemp("digits")
    options = build.Options(app=APP)
    return build.build(DIGITS, "mps2-an386", out=out, options=options).firmware


@pytest.fixture(scope="module")
def another(firmware):
    """The same with one wrong byte, in the middle of the weights."""
    data = bytearray(firmware.read_bytes())
    data[len(data) // 4] ^= 0x10
    path = firmware.with_name("another.elf")
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    return board_file(tmp_path_factory.mktemp("board"))


@pytest.fixture
def simulate(tmp_path):
    """Starts simulations, and ends them."""
    started = []

    def start(kind, *options, content=b""):
        if programs.PROGRAMS[kind].find() is None:
            pytest.skip(f"needs {kind}: {programs.PROGRAMS[kind].install}")
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(Simulation(folder, kind, options, content))
        return started[-1]

    yield start
    for one in started:
        one.close()


def flash(firmware, board, kind, probe, *options):
    words = ["flash", str(firmware), "--board", str(board), "--method", kind]
    return cli.main([*words, "--probe", probe, *options])


@pytest.mark.parametrize("kind", KINDS)
def test_firmware_is_written_and_runs(kind, simulate, firmware, board, capsys):
    simulation = simulate(kind)
    assert flash(firmware, board, kind, simulation.probe) == 0
    assert "written and read back" in capsys.readouterr().out
    assert simulation.printed(PREDICTION)


@pytest.mark.parametrize("kind", KINDS)
def test_another_firmware_does_not_verify(
    kind, simulate, firmware, another, board, capsys
):
    simulation = simulate(kind, content=b"\xff" * 64 * 1024)
    assert flash(firmware, board, kind, simulation.probe, "--verify-only") == 1
    said = capsys.readouterr().err
    assert "verify failed" in said
    assert "0xff, not" in said


def test_one_wrong_byte_is_named(simulate, another, firmware, board, capsys):
    content = firmware.with_suffix(".bin").read_bytes()
    simulation = simulate("openocd", content=content)
    probe = simulation.probe
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
    assert not simulation.printed(PREDICTION, seconds=0.5)


@pytest.mark.parametrize(
    ("kind", "probe", "said"),
    [
        ("gdb", "127.0.0.1:1", "nobody answers"),
        ("pyocd", "remote:127.0.0.1:1", "no debug probe is connected"),
        ("pyocd", "0123456789", "no debug probe is connected"),
        ("openocd", "1", "no debug probe is connected"),
    ],
)
def test_no_probe(kind, probe, said, firmware, board, capsys):
    if programs.PROGRAMS[kind].find() is None:
        pytest.skip(f"needs {kind}")
    assert flash(firmware, board, kind, probe) == 1
    assert said in capsys.readouterr().err


def test_a_probe_that_is_lost_in_the_middle(simulate, firmware, board, capsys):
    simulation = simulate("pyocd", "--lost-after", "20")
    # pyOCD waits forever for an answer of a remote probe.
    assert flash(firmware, board, "pyocd", simulation.probe, "--timeout", "15") == 1
    assert "program: no end after 15 s" in capsys.readouterr().err
    assert simulation.probe_process.wait(1) < 0
    assert not simulation.printed(PREDICTION, seconds=0.5)


def test_a_power_cut_in_the_middle_and_a_second_try(
    simulate, firmware, board, tmp_path, capsys
):
    left = tmp_path / "flash.bin"
    cut = simulate("pyocd", "--cut-after", "25", "--save", f"{left}:0:0x10000")
    assert flash(firmware, board, "pyocd", cut.probe) == 1
    assert "hold a part of the firmware" in capsys.readouterr().err
    whole = firmware.with_suffix(".bin").read_bytes()
    content = left.read_bytes()
    assert content[:4096] == whole[:4096], "nothing was written before the cut"
    assert content[: len(whole)] != whole, "all was written before the cut"

    again = simulate("pyocd", content=content)
    assert flash(firmware, board, "pyocd", again.probe) == 0
    assert again.printed(PREDICTION)


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
    assert done.stdout.count("matched.") >= 3
    assert "MIS-MATCHED" not in done.stdout
