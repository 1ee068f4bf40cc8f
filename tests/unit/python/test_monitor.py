"""The console of a flashed board, and options that do not go together."""

import io

import pytest

from ember import boards, cli
from ember.errors import SdkError, UsageError
from ember.flash import perform, probes
from ember.hil.wire import WireGoneError


class Said:
    """A wire from which these pieces come, then what `end` raises."""

    def __init__(self, *pieces, end=None):
        self.pieces = list(pieces)
        self.end = end or WireGoneError("the wire is gone")

    def read(self, timeout_s):
        if not self.pieces:
            raise self.end
        return self.pieces.pop(0)


def test_a_console_is_shown_to_the_exit_status():
    to = io.StringIO()
    assert (
        perform.show_console(Said(b"a\r\nEMBER E", b"", b"XIT 1", b"12\r", b"\n"), to)
        == 112
    )
    assert to.getvalue() == "a\nEMBER EXIT 112\n"


def test_a_console_ends_with_the_wire_or_the_person():
    with pytest.raises(WireGoneError):
        perform.show_console(Said(b"a"), io.StringIO())
    assert (
        perform.show_console(Said(b"\xff", end=KeyboardInterrupt()), io.StringIO()) == 0
    )


def test_a_port_is_taken_when_it_is_the_only_one(monkeypatch):
    board = boards.load("nucleo-f767zi")
    ports = []
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
def test_options_that_do_not_go_together(words, said, capsys):
    assert cli.main(["flash", "--board", "netduinoplus2", *words]) == 2
    assert said in capsys.readouterr().err
