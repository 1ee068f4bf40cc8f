"""The console of a flashed board, and options that do not go together."""

from __future__ import annotations

import io

import pytest

from ember import boards, cli
from ember.errors import SdkError, UsageError
from ember.flash import perform, probes
from ember.hil.wire import WireGoneError


class Said:
    """A wire from which these pieces come, then what `end` raises."""

    name = "said"
    byte_seconds = 0.0

    def __init__(self, *pieces: bytes, end: BaseException | None = None) -> None:
        self.pieces = list(pieces)
        self.end = end or WireGoneError("the wire is gone")

    def read(self, timeout_s: float) -> bytes:
        if not self.pieces:
            raise self.end
        return self.pieces.pop(0)

    def write(self, data: bytes) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def test_a_console_is_shown_to_the_exit_status() -> None:
    to = io.StringIO()
    assert (
        perform.show_console(Said(b"a\r\nEMBER E", b"", b"XIT 1", b"12\r", b"\n"), to)
        == 112
    )
    assert to.getvalue() == "a\nEMBER EXIT 112\n"


def test_a_console_ends_with_the_wire_or_the_person() -> None:
    with pytest.raises(WireGoneError):
        perform.show_console(Said(b"a"), io.StringIO())
    assert (
        perform.show_console(Said(b"\xff", end=KeyboardInterrupt()), io.StringIO()) == 0
    )


def test_a_port_is_taken_when_it_is_the_only_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = boards.load("nucleo-f767zi")
    ports: list[probes.Connected] = []
    monkeypatch.setattr(probes, "ports", lambda: ports)
    with pytest.raises(UsageError, match="no serial ports are connected"):
        perform.connect_console(board, None, None)
    ports.append(probes.Connected("port", "/dev/nowhere", "ST-LINK", ()))
    with pytest.raises(SdkError, match="no port /dev/nowhere"):
        perform.connect_console(board, None, None)
    ports.append(probes.Connected("port", "/dev/nothing", "ST-LINK", ()))
    with pytest.raises(UsageError, match="2 serial ports are connected"):
        perform.connect_console(board, None, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "/dev/x"], "--port and --baud need --monitor"),
        (["--monitor", "--runner"], "not to --monitor"),
        ([], "give one model or firmware.elf"),
    ],
)
def test_options_that_do_not_go_together(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["flash", "--board", "netduinoplus2", *words]) == 2
    assert said in capsys.readouterr().err
