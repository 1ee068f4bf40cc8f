"""Boards of a lab: labgrid's coordinator and exporters, emulators on serial ports."""

from __future__ import annotations

import contextlib
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest
import simulator
from committed_cases import path_of
from lab import PACKAGES, Lab, probe, serial_port, stand_in_for_ssh, stop
from lines import ROOT
from simulator import Simulate, free_port
from waiting import served, tcp

from ember import cli

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.qemu, pytest.mark.broad]

BOARD = "mps2-an386"
CASE = path_of("bundle_mlp")
DIGITS = ROOT / "examples/models/digits/digits.pte"


@pytest.fixture(scope="module")
def programs(environment: Callable[[str, Sequence[str]], Path]) -> Path:
    return environment("labgrid", PACKAGES) / "bin"


@pytest.fixture(scope="module")
def lab(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab with one board, `board-10`, whose runner waits."""
    running = Lab(tmp_path_factory.mktemp("lab"), programs)
    try:
        with tcp(BOARD) as number:
            running.export("lab1", {"uart": serial_port(number)})
            running.place("board-10", "lab1", board=BOARD)
            yield running
    finally:
        running.close()


@pytest.fixture(autouse=True)
def here(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in lab.environment().items():
        monkeypatch.setenv(name, value)


def ember(*words: object) -> int:
    return cli.main(["test", str(CASE), "--board", BOARD, *map(str, words)])


def test_a_case_on_a_place(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert ember("--place", "board-10") == 0
    assert "1 passed" in capsys.readouterr().out
    assert lab.holder("board-10") is None


class Flashable(Protocol):
    def __call__(
        self, cpuid: int = simulator.CPUID, console: str = "semihosting"
    ) -> tuple[str, Path]: ...


@pytest.fixture
def flashable(
    lab: Lab, simulate: Simulate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Flashable:
    """Makes a place whose board has empty flash and a probe; its board's file."""

    def make(
        cpuid: int = simulator.CPUID, console: str = "semihosting"
    ) -> tuple[str, Path]:
        simulation = simulate("openocd")
        path = simulator.board_file(tmp_path, cpuid, console)
        port = f"remote_bitbang port {simulation.probe}"
        text = path.read_text().replace("cfg],", f"cfg], commands: ['{port}'],", 1)
        path.write_text(text)
        shell = stand_in_for_ssh(tmp_path / "shell")
        monkeypatch.setenv("PATH", f"{shell}:{os.environ['PATH']}")
        uart = int(simulation.uart.rpartition(":")[2])
        name = f"exporter-{uart}"
        lab.export(name, {"uart": serial_port(uart), "probe": probe()})
        lab.place(name, name)
        return name, path

    return make


def test_the_runner_is_flashed_and_used(
    lab: Lab, flashable: Flashable, capsys: pytest.CaptureFixture[str]
) -> None:
    place, path = flashable()
    words = ["test", str(CASE), "--board", str(path), "--place", place, "--flash"]
    assert cli.main(words) == 0, capsys.readouterr().err
    assert "1 passed" in capsys.readouterr().out
    assert lab.holder(place) is None


def test_firmware_is_flashed_and_its_console_shown(
    lab: Lab, flashable: Flashable, capsys: pytest.CaptureFixture[str]
) -> None:
    place, path = flashable(console="uart")
    words = ["--board", str(path), "--place", place, "--monitor"]
    assert cli.main(["flash", str(DIGITS), *words]) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    assert "written and read back; it runs" in said
    assert "ember: success" in said
    assert lab.holder(place) is None


def test_another_chip_is_left_alone(
    lab: Lab, flashable: Flashable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, path = flashable(cpuid=0x411F_C271)
    small = simulator.firmware(tmp_path)
    words = ["--board", str(path), "--place", place]
    assert cli.main(["flash", str(small), *words]) == 1
    assert "wrong chip" in capsys.readouterr().err
    assert lab.holder(place) is None


def test_a_place_without_a_probe(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = simulator.firmware(tmp_path)
    words = ["--board", str(simulator.board_file(tmp_path)), "--place", "board-10"]
    lab.client("set-tags", "board=", name_of="board-10")
    try:
        assert cli.main(["flash", str(small), *words]) == 1
    finally:
        lab.client("set-tags", f"board={BOARD}", name_of="board-10")
    said = " ".join(capsys.readouterr().err.split())
    assert "place board-10 has no debug probe: it has NetworkSerialPort" in said
    assert cli.main(["flash", str(small), *words]) == 2
    assert "place board-10 has a mps2-an386, not a simulated" in capsys.readouterr().err


# ---- power ---------------------------------------------------------------------------


@pytest.fixture
def switch() -> Iterator[tuple[str, list[bytes]]]:
    """A power switch by HTTP: its address, and what it was set to."""
    states = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            states.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{{index}}", states
        server.shutdown()


def test_the_board_is_switched_off_and_on(
    lab: Lab, switch: tuple[str, list[bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    address, states = switch
    power = {"cls": "NetworkPowerPort", "model": "rest", "host": address, "index": "3"}
    with tcp(BOARD) as number:
        lab.export("switched", {"uart": serial_port(number), "power": power})
        lab.place("switched-board", "switched")
        assert ember("--place", "switched-board") == 0, capsys.readouterr().err
        assert states == [b"0", b"1"]
        stop(lab.exporters["switched"])


# ---- releasing -----------------------------------------------------------------------


def start(*words: object, user: str | None = None, lab: Lab) -> subprocess.Popen[str]:
    """`ember test` in another process."""
    line = [sys.executable, "-m", "ember", "test", CASE, "--board", BOARD, *words]
    return subprocess.Popen(
        list(map(str, line)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=lab.environment(user) | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture
def mute(lab: Lab) -> Iterator[str]:
    """A place whose board never answers, so that a run takes ten seconds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        name = f"mute-{number}"
        lab.export(name, {"uart": serial_port(number)})
        lab.place(name, name)
        yield name
        stop(lab.exporters[name])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_releases(
    lab: Lab, mute: str, number: signal.Signals
) -> None:
    process = start("--place", mute, lab=lab)
    lab.wait_for_holder(mute, True)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0, output
    lab.wait_for_holder(mute, False)


def test_a_run_that_fails_releases(
    lab: Lab, mute: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ember("--place", mute) == 1
    assert "no answer: is the runner flashed" in capsys.readouterr().err
    assert lab.holder(mute) is None


def test_an_exporter_that_goes_away_during_a_run(lab: Lab, mute: str) -> None:
    process = start("--place", mute, lab=lab)
    lab.wait_for_holder(mute, True)
    stop(lab.exporters[mute])
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"place {mute}: exporter {mute} went away" in output
    lab.wait_for_holder(mute, False)


# ---- others --------------------------------------------------------------------------


def test_two_who_want_the_same(lab: Lab) -> None:
    """Both pass, one after the other; one that does not wait is told who has it."""
    lab.client("acquire", name_of="board-10", user="alice")
    refused = start("--place", "board-10", user="bob", lab=lab)
    output, _ = refused.communicate(timeout=120)
    assert refused.returncode == 1
    assert re.search(r"place board-10 is taken by \S+/alice", output)
    assert "--wait SECONDS" in output
    words = ("--place", "board-10", "--wait", 300)
    both = [start(*words, user=user, lab=lab) for user in ("bob", "carol")]
    time.sleep(5)
    assert [process.poll() for process in both] == [None, None]
    lab.client("release", name_of="board-10", user="alice")
    for process in both:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
        assert "1 passed" in output
    assert lab.holder("board-10") is None


def test_a_place_that_is_acquired_by_hand(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.client("acquire", name_of="board-10")
    try:
        assert ember("--place", "board-10") == 1
        said = capsys.readouterr().err
        assert "place board-10 is taken by yourself" in said
        assert "--acquired" in said
        assert ember("--place", "board-10", "--acquired") == 0
        assert lab.holder("board-10") is not None
    finally:
        lab.client("release", name_of="board-10")
    capsys.readouterr()
    assert ember("--place", "board-10", "--acquired") == 1
    assert "place board-10 is not acquired" in capsys.readouterr().err


# ---- what goes away ------------------------------------------------------------------


def test_an_exporter_that_goes_away(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    with tcp(BOARD) as number:
        lab.export("shaky", {"uart": serial_port(number)})
        lab.place("shaky-board", "shaky")
        lab.client("acquire", name_of="shaky-board")
        stop(lab.exporters["shaky"])
        try:
            assert ember("--place", "shaky-board", "--acquired") == 1
            said = capsys.readouterr().err
            assert "place shaky-board: exporter shaky went away" in said
        finally:
            lab.client("release", name_of="shaky-board")
        assert ember("--place", "shaky-board") == 1
        said = capsys.readouterr().err
        assert "place shaky-board: no exporter offers shaky/desk/*/*" in said
    assert lab.holder("shaky-board") is None


def test_no_coordinator(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("LG_COORDINATOR", address)
    assert ember("--place", "board-10") == 1
    said = capsys.readouterr().err
    assert f"no labgrid coordinator answers at {address}" in said


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere", "the lab has no place 'nowhere'"),
        ("board-1", "did you mean board-10?"),  # labgrid takes a part of a name
        ("", "'' is not the name of a place"),
    ],
)
def test_an_unknown_place(
    name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ember("--place", name) in (1, 2)
    assert says in " ".join(capsys.readouterr().err.split())


# ---- pytest --------------------------------------------------------------------------


@pytest.fixture
def greeting(lab: Lab) -> Iterator[str]:
    """A place whose board greets and repeats."""
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
    number = server.getsockname()[1]
    name = f"greeting-{number}"
    lab.export(name, {"uart": serial_port(number)})
    lab.place(name, name, board="nucleo-f767zi", camera="yes")
    yield name
    server.close()


TALK = """
import pytest

@pytest.mark.hil
@pytest.mark.board("nucleo-f767zi")
@pytest.mark.fixture("camera")
@pytest.mark.parametrize("turn", [1, 2])
def test_it(dut, dut_board, turn):
    assert dut_board == "nucleo-f767zi"
    dut.expect(r"^Hello\\r$")
    dut.write("back")
    dut.expect_exact("back")

@pytest.mark.board("nucleo-f446re")
def test_another(dut):
    pass
"""


def test_dut_is_the_board_of_a_place(
    lab: Lab, greeting: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "sdk"), *sys.path]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_it=TALK)

    def run(name: str, *more: str) -> pytest.RunResult:
        words = ("-p", "ember.hil.plugin", "--place", name, *more)
        return pytester.runpytest_subprocess(*words)

    result = run(greeting)
    result.assert_outcomes(passed=2, deselected=1)
    assert lab.holder(greeting) is None
    turns = run(greeting, "-p", "xdist", "-n", "1")
    turns.assert_outcomes(passed=2)
    assert lab.holder(greeting) is None
    assert "the lab has no place 'nowhere'" in run("nowhere").stderr.str()
    lab.client("set-tags", "board=", name_of=greeting)
    assert "has no tag `board`" in run(greeting).stderr.str()


# ---- ser2net -------------------------------------------------------------------------


@pytest.mark.skipif(
    not any(map(shutil.which, ("ser2net", "/usr/sbin/ser2net"))), reason="needs ser2net"
)
def test_a_serial_device_that_ser2net_exports(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """RFC 2217, and the exporter starts ser2net when the place is acquired."""
    with served(BOARD, "pty") as process:
        assert process.stdout is not None
        device = re.search(r"(/dev/\S+)", process.stdout.readline().decode())
        assert device is not None
        lab.export("ser2net", {"uart": {"cls": "RawSerialPort", "port": device[1]}})
        lab.place("tty", "ser2net")
        assert ember("--place", "tty") == 0, capsys.readouterr().err
        stop(lab.exporters["ser2net"])
    assert "1 passed" in capsys.readouterr().out
    assert lab.holder("tty") is None
