"""ember test over the serial ports of emulated boards: drivers, faults, accidents."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from committed_cases import path_of
from faults import Proxy
from lines import FaultyEmulator, board
from simulator import free_port
from waiting import served, tcp

from ember import cases, cli
from ember.cases import Found
from ember.hil import line, wire
from ember.hil.line import EmulatedLine, Line
from ember.run import testing
from ember.run.testing import Outcome, Settings

pytestmark = [pytest.mark.qemu, pytest.mark.slow]

PATIENCE_S = 120  # without progress; the host may be busy


def passed(locations: Sequence[Found], name: str, over: Line | None) -> list[Outcome]:
    results = testing.test(
        locations,
        [board(name)],
        jobs=1,
        settings=Settings(line=over, timeout_s=PATIENCE_S),
    )
    wrong = [f"{end.name}: {end.message}" for end in results if end.status != "passed"]
    assert not wrong
    return results


def ember(*words: object) -> int:
    return cli.main(["test", *map(str, words)])


# ---- drivers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mps2-an386", id="cmsdk"),
        pytest.param("mps2-an505", id="cmsdk-secure", marks=pytest.mark.long),
        pytest.param("mps3-an547", id="cmsdk-helium", marks=pytest.mark.long),
        pytest.param("netduinoplus2", id="stm32-v1", marks=pytest.mark.broad),
        pytest.param("qemu-a64", id="pl011", marks=pytest.mark.broad),
    ],
)
def test_the_same_cases(name: str, some_cases: list[Found]) -> None:
    for tested in passed(some_cases, name, EmulatedLine()):
        assert tested.instructions is not None
        assert tested.instructions > 0


def test_16_kilobytes_of_memory() -> None:
    """Nordic's UART; a small window, and only the kernels of these cases."""
    few = cases.find([path_of(name) for name in ("bundle_mlp", "op_linear")])
    passed(few, "microbit", EmulatedLine())


def test_the_same_counts(some_cases: list[Found]) -> None:
    def counts(over: Line | None) -> list[int | None]:
        outcomes = passed(some_cases[:1], "mps2-an386", over)
        return [outcome.instructions for outcome in outcomes]

    assert counts(None) == counts(EmulatedLine())


# ---- faults --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["mps2-an386", pytest.param("qemu-a64-sme", marks=pytest.mark.broad)]
)
def test_a_hundredth_of_bytes_lost_or_flipped(
    name: str, some_cases: list[Found]
) -> None:
    over = FaultyEmulator(rate=0.01)
    passed(some_cases[:1], name, over)
    assert over.wire is not None
    assert over.wire.there.count > 50
    assert over.wire.here.count > 10


@pytest.mark.long
@pytest.mark.parametrize("name", ["mps2-an386", "qemu-a64-sme"])
def test_300_kilobytes_with_a_hundredth_of_bytes_lost_or_flipped(
    name: str, large_case: Path, some_cases: list[Found]
) -> None:
    assert (large_case / "model.pte").stat().st_size > 300_000
    over = FaultyEmulator(rate=0.01)
    passed([*cases.find([large_case]), *some_cases], name, over)
    assert over.wire is not None
    assert over.wire.there.count > 3000
    assert over.wire.here.count > 300


def test_bursts_of_garbage(some_cases: list[Found]) -> None:
    passed(some_cases, "netduinoplus2", FaultyEmulator(burst_every=2000))


# ---- accidents -----------------------------------------------------------------------


def qmp(number: int, command: str) -> None:
    with socket.create_connection(("127.0.0.1", number)) as monitor:
        lines = monitor.makefile("rw")
        for word in ("qmp_capabilities", command):
            lines.write(json.dumps({"execute": word}) + "\n")
            lines.flush()
            while "return" not in json.loads(lines.readline()):
                pass


def test_a_reset_in_the_middle(
    middling_case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor = free_port()
    options = ["-qmp", f"tcp:127.0.0.1:{monitor},server=on,wait=off"]
    with tcp("mps2-an386", options) as number:
        process = start(number, middling_case)
        wait_for_traffic(process)
        qmp(monitor, "system_reset")
        output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    assert "1 passed" in output


def start(number: int, case: Path) -> subprocess.Popen[str]:
    """`ember test` in a process, so slow that something can happen to it."""
    script = f"""
import sys, time
from ember import cli
from ember.hil.wire import SocketWire
write = SocketWire.write
total = 0
def slowly(self, data):
    global total
    total += len(data)
    if total > 20000 and total - len(data) <= 20000:
        print("on the way", flush=True)
        time.sleep(1)
    write(self, data)
SocketWire.write = slowly
sys.exit(cli.main(["test", {str(case)!r}, "--board", "mps2-an386",
                   "--port", "socket://127.0.0.1:{number}"]))
"""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def wait_for_traffic(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for text in process.stdout:
        if "on the way" in text:
            return
    pytest.fail("the transfer never began")


def test_a_host_that_is_killed_and_started_again(
    middling_case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tcp("mps2-an386") as number:
        process = start(number, middling_case)
        wait_for_traffic(process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        port = f"socket://127.0.0.1:{number}"
        assert ember(middling_case, "--board", "mps2-an386", "--port", port) == 0
    assert "1 passed" in capsys.readouterr().out


def test_a_proxy_between(
    some_cases: list[Found], capsys: pytest.CaptureFixture[str]
) -> None:
    with tcp("mps2-an386") as number:
        proxy = Proxy(("127.0.0.1", number), 0.005)
        port = f"socket://127.0.0.1:{proxy.port}"
        folder = path_of("bundle_mlp")
        assert ember(folder, "--board", "mps2-an386", "--port", port) == 0
        proxy.close()
    assert "1 passed" in capsys.readouterr().out


@pytest.fixture(scope="module")
def terminal() -> Iterator[str]:
    """A board at a serial device."""
    with served("mps2-an386", "pty") as process:
        assert process.stdout is not None
        device = re.search(r"(/dev/\S+)", process.stdout.readline().decode())
        assert device is not None
        yield device[1]


def test_a_serial_device(terminal: str, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [path_of("bundle_mlp"), path_of("op_linear")]
    assert ember(*folders, "--board", "mps2-an386", "--port", terminal) == 0
    assert "2 passed" in capsys.readouterr().out


def test_a_busy_port(terminal: str, capsys: pytest.CaptureFixture[str]) -> None:
    opened = wire.open_port(terminal, 115200)
    try:
        words = [path_of("bundle_mlp"), "--board", "mps2-an386", "--port", terminal]
        assert ember(*words) == 1
    finally:
        opened.close()
    assert f"{terminal} is busy: another program has it open" in capsys.readouterr().err


@pytest.mark.long
def test_a_program_that_is_too_large(
    large_case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tcp("netduinoplus2") as number:
        port = f"socket://127.0.0.1:{number}"
        assert ember(large_case, "--board", "netduinoplus2", "--port", port) == 1
    assert re.search(
        r"does not fit netduinoplus2: needs [\d,]+ bytes of memory", plain(capsys)
    )


def plain(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


# ---- mistakes ------------------------------------------------------------------------


def test_no_such_port(capsys: pytest.CaptureFixture[str]) -> None:
    words = [path_of("bundle_mlp"), "--board", "mps2-an386", "--port", "/dev/ttyNONE9"]
    assert ember(*words) == 1
    error = capsys.readouterr().err
    assert "no port /dev/ttyNONE9: is the board plugged in?" in error


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    port = f"socket://127.0.0.1:{free_port()}"
    assert ember(path_of("bundle_mlp"), "--board", "mps2-an386", "--port", port) == 1
    assert f"cannot connect to {port}: Connection refused" in capsys.readouterr().err


def test_nothing_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "PATIENCE_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = f"socket://127.0.0.1:{server.getsockname()[1]}"
        words = [path_of("bundle_mlp"), "--board", "nucleo-f767zi", "--port", port]
        assert ember(*words) == 1
    error = capsys.readouterr().err
    assert "no answer: is the runner flashed, and the baud rate right?" in error
    assert "ember flash --runner" in error


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--board", "host", "--transport", "uart"], "no emulator with a serial port"),
        (["--board", "host", "--baud", "9600"], "--baud needs --port"),
        (
            ["--board", "mps2-an386", "--port", "/dev/x", "--transport", "uart"],
            "not both",
        ),
        (
            ["--board", "mps2-an386", "--board", "host", "--port", "/dev/x"],
            "--port needs exactly one --board",
        ),
        (["--board", "mps2-an386", "--port", "socket://x"], "has no host and port"),
    ],
)
def test_options_that_make_no_sense(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ember(path_of("bundle_mlp"), *words) in (1, 2)
    assert says in " ".join(capsys.readouterr().err.split())
