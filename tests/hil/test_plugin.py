"""The pytest plugin: `dut`, which tests it keeps, and that it is in nobody's way."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from lines import ROOT, board
from simulator import Simulation

from ember.flash import probes

pytest_plugins = ["pytester"]

# A firmware of the board `host` is any program.
PROGRAM = """#!/bin/sh
echo "ready: 41"
while read -r line; do
    [ "$line" = end ] && exit 3
    echo "heard $line."
done
"""

DIGITS = ROOT / "examples/models/digits/digits.pte"
FIRMWARE = f"""
@pytest.fixture
def firmware(dut_board):
    from pathlib import Path
    from ember.firmware import build
    return build(Path({str(DIGITS)!r}), dut_board).firmware
"""


@pytest.fixture
def program(pytester: pytest.Pytester) -> Path:
    path = pytester.path / "program"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


class Run(Protocol):
    """Runs a file of tests with options of pytest."""

    def __call__(self, text: str, *options: str | Path) -> pytest.RunResult: ...


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "sdk"), *sys.path]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def words(text: str, *options: str | Path) -> pytest.RunResult:
        pytester.makepyfile(test_it="import pytest\n\n" + text)
        return pytester.runpytest_subprocess("-p", "ember.hil.plugin", "-v", *options)

    return words


def errors_of(result: pytest.RunResult) -> str:
    return " ".join("\n".join(result.outlines).split())


# ---- the device ----------------------------------------------------------------------


def test_a_talk_with_a_device(run: Run, program: Path) -> None:
    text = """
def test_it(dut):
    assert dut.name == "host"
    assert int(dut.expect(r"ready: (\\d+)$")[1]) == 41
    dut.write("one\\n")
    dut.write(b"two\\n")
    assert dut.expect_exact("heard one.") == b"heard one."
    assert dut.expect_exact(["nothing", b"two."]) == b"two."
    dut.write("three\\n")
    assert dut.expect([r"^heard (?P<what>\\w+)", "never"])["what"] == b"three"
    dut.write("end\\n")
    assert dut.wait() == 3
"""
    run(text, "--target", "host", "--firmware", program).assert_outcomes(passed=1)


def test_what_was_not_said(run: Run, program: Path) -> None:
    text = """
def test_never(dut):
    dut.expect_exact("hello", timeout=0.3)

def test_at_the_end(dut):
    dut.write("end\\n")
    dut.expect("hello")

def test_no_end(dut):
    dut.wait(timeout=0.3)
"""
    result = run(text, "--target", "host", "--firmware", program)
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        ["*ExpectError: no match within 0.3 s: b'hello'", "*ready: 41*"]
    )
    result.stdout.fnmatch_lines(["*what host said*", "ready: 41"])
    result.stdout.fnmatch_lines(["*before it ended with exit status 3: b'hello'"])
    result.stdout.fnmatch_lines(["*ExpectError: still running after 0.3 s"])


@pytest.mark.qemu
def test_an_emulator(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board("mps2-an386")
    text = (
        FIRMWARE
        + """
@pytest.mark.board("mps2-an386", "mps2-an505")
def test_it(dut):
    dut.expect_exact("ember: success")
    assert dut.wait() == 0
"""
    )
    run(text).assert_outcomes(passed=1)


def test_an_emulator_without_a_firmware(run: Run) -> None:
    result = run("def test_it(dut): pass", "--target", "host")
    result.assert_outcomes(errors=1)
    assert "the emulator of host needs firmware (give --firmware" in errors_of(result)


# ---- the lab -------------------------------------------------------------------------

MAP = """
- id: lab-1
  platform: nrf52840dk/nrf52840
  product: J-Link
  runner: jlink
  connected: false
  serial: /dev/ttyACM7
- id: lab-2
  platform: [nucleo_f767zi, another]
  product: STLINK-V2-1
  runner: openocd
  runner_params: [--one]
  connected: true
  available: true
  probe_id: 0123
  serial: socket://127.0.0.1:{port}
  fixtures: [loopback, camera]
  pre_script: {folder}/before
  post_script: {folder}/after
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Path]:
    """The file of a lab with one device, which greets and repeats."""
    for name in ("before", "after"):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\ntouch {tmp_path}/{name}.done\n")
        script.chmod(0o755)
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                near, _ = server.accept()
            except OSError:
                return
            with near, contextlib.suppress(OSError):
                near.sendall(b"Hello\r\n")
                near.sendall(near.recv(100))

    threading.Thread(target=serve, daemon=True).start()
    path = tmp_path / "map.yml"
    port = server.getsockname()[1]
    path.write_text(MAP.format(port=port, folder=tmp_path))
    yield path
    server.close()


def test_a_device_of_a_lab(run: Run, lab: Path, tmp_path: Path) -> None:
    text = """
@pytest.mark.hil
@pytest.mark.board("nucleo-f767zi")
@pytest.mark.fixture("camera")
@pytest.mark.fixture("loopback")
def test_it(dut, dut_board):
    assert dut_board == "nucleo-f767zi"
    dut.expect(r"^Hello\\r$")
    dut.write("back")
    dut.expect_exact("back")
"""
    run(text, "--hardware-map", lab).assert_outcomes(passed=1)
    assert (tmp_path / "before.done").exists()
    assert (tmp_path / "after.done").exists()
    chosen = run(text, "--hardware-map", lab, "--target", "lab-2")
    chosen.assert_outcomes(passed=1)


def test_a_line_that_a_command_gives(run: Run, tmp_path: Path, program: Path) -> None:
    path = tmp_path / "map.yml"
    path.write_text(
        f"[{{id: a, platform: nucleo_f767zi, runner: x, serial_pty: {program}}}]"
    )
    text = """
def test_it(dut):
    dut.expect_exact("ready: 41")
    dut.write("one\\n")
    dut.expect_exact("heard one.")
"""
    run(text, "--hardware-map", path).assert_outcomes(passed=1)


def test_firmware_goes_to_the_device_before(
    run: Run, lab: Path, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ember flash` is asked; its refusal is the test's."""
    result = run("def test_it(dut): pass", "--hardware-map", lab, "--firmware", program)
    result.assert_outcomes(errors=1)
    assert "nucleo-f767zi: flashing lab-2 failed: " in errors_of(result)


@pytest.mark.qemu
def test_firmware_is_flashed_and_runs(run: Run, tmp_path: Path) -> None:
    """An empty board in QEMU behind a gdb server, with its own board file."""
    board("netduinoplus2")
    if probes.PROGRAMS["gdb"].find() is None:
        pytest.skip("needs gdb")
    described = tmp_path / "on-a-line.yaml"
    described.write_text(
        "like: netduinoplus2\nchip: stm32f405rg\nname: on-a-line\nconsole: uart\n"
    )
    simulation = Simulation(tmp_path, "gdb", machine="netduinoplus2")
    device = f"{{id: a, platform: {described}, runner: gdb, connected: true,"
    device += f" probe_id: '{simulation.probe}', serial: '{simulation.uart}'}}"
    lab = tmp_path / "map.yml"
    lab.write_text(f"[{device}]")
    text = (
        FIRMWARE
        + """
@pytest.mark.hil
@pytest.mark.board("on-a-line")
def test_it(dut):
    dut.expect_exact("ember: success")
    assert dut.wait() == 0
"""
    )
    try:
        run(text, "--hardware-map", lab).assert_outcomes(passed=1)
    finally:
        simulation.close()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {platform: x, serial: y}", "0.id: Field required"),
        ("- {id: 1, platform: x}", "device 1 has no `serial`"),
        ("- [", "not YAML"),
    ],
)
def test_a_map_with_a_mistake(run: Run, tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "map.yml"
    path.write_text(text)
    result = run("def test_it(dut): pass", "--hardware-map", path)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert says in result.stderr.str()


# ---- which tests ---------------------------------------------------------------------

KINDS = """
def test_any(dut): pass

@pytest.mark.board("host")
def test_board(dut): pass

@pytest.mark.hil
def test_hil(dut): pass

@pytest.mark.board("nucleo-f767zi")
def test_real(dut): pass

@pytest.mark.fixture("camera")
class TestCamera:
    def test_fixture(self, dut): pass

def test_without(): pass
"""


def test_what_is_not_there_is_deselected(run: Run, program: Path) -> None:
    result = run(KINDS, "--target", "host", "--firmware", program)
    result.assert_outcomes(passed=3, deselected=3)


def test_required_hardware_fails(run: Run, program: Path) -> None:
    options = ["--target", "host", "--firmware", str(program), "--require-hardware"]
    result = run(KINDS, *options)
    result.assert_outcomes(passed=3, errors=3)
    said = errors_of(result)
    assert "no hardware: the test needs a board as hardware" in said
    assert "no hardware: the test needs nucleo-f767zi" in said
    assert "no hardware: the test needs a board with camera" in said


def test_an_unknown_target(run: Run) -> None:
    result = run("def test_it(dut): pass", "--target", "nucleo-f767zi")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--target nucleo-f767zi: no such device without" in result.stderr.str()


# ---- in nobody's way -----------------------------------------------------------------


def test_tests_of_others_are_left_alone(run: Run) -> None:
    text = """
import sys

@pytest.fixture
def dut():
    return "mine"

@pytest.mark.hil
@pytest.mark.board(1, 2, x=3)
@pytest.mark.fixture
def test_their_dut(dut):
    assert dut == "mine"

@pytest.fixture
def board(dut):
    return dut

@pytest.mark.hil
def test_their_marker(board):
    loaded = {"numpy", "pydantic", "yaml", "ember.boards", "ember.hil.targets"}
    assert loaded.isdisjoint(sys.modules)
"""
    run(text, "--strict-markers").assert_outcomes(passed=2)


def test_options_of_the_same_name(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        other='def pytest_addoption(parser): parser.addoption("--target", default="a")'
    )
    pytester.makeconftest(
        "def pytest_addoption(parser): parser.addoption('--firmware', type=int)"
    )
    text = """
def test_it(request):
    assert request.config.getoption("--target") == "a"
    assert request.config.getoption("--firmware") == 3
"""
    result = run(text, "-p", "other", "--firmware", "3")
    result.assert_outcomes(passed=1)


def test_beside_pytest_embedded_it_is_not_there(
    run: Run, pytester: pytest.Pytester
) -> None:
    pytester.mkpydir("pytest_embedded")
    result = run("def test_it(dut): pass")
    result.assert_outcomes(errors=1)
    assert "fixture 'dut' not found" in errors_of(result)


def test_it_is_installed_with_ember() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {
        "ember.hil.plugin": "ember.hil.plugin"
    }
