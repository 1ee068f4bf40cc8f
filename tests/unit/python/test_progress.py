"""Long work says what it does: on a terminal at once, in a pipe now and then."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ember import output, progress
from ember.export.packages import quiet


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(progress, "_PIPE_S", 0.02)
    monkeypatch.setattr(progress, "_TERMINAL_S", 0.02)
    yield
    assert (progress._steps, progress._tickers) == ([], [])


def waited(stream: io.StringIO, text: str) -> None:
    end = time.monotonic() + 20
    while text not in stream.getvalue():
        assert time.monotonic() < end
        time.sleep(0.01)


def shown(text: str) -> str:
    """What a terminal shows in the last line."""
    return text.rpartition("\r\x1b[K")[2]


@pytest.mark.usefixtures("quick")
def test_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with progress.doing("building"), progress.doing("compiling") as step:
        step.of(3, 120)
        waited(stream, "compiling 3 of 120 ..")
    lines = stream.getvalue().splitlines()
    known = r"(building|compiling( 3 of 120)?) \.\. \(\d+ s\)"
    assert all(re.fullmatch(known, line) for line in lines)


@pytest.mark.usefixtures("quick")
def test_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PIPE_S", 10.0)
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with progress.doing("building"):
        pass
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_it_is_seen_while_an_exporter_is_silenced(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    with capfd.disabled(), seen.open("w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        with progress.doing("exporting"), quiet():
            end = time.monotonic() + 20
            # As quiet() does to the real one.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            while "exporting .." not in seen.read_text():
                assert time.monotonic() < end
                time.sleep(0.01)


@pytest.mark.usefixtures("quick")
def test_a_terminal_is_left_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("sys.stdout", stream)
    with progress.doing("building"):
        waited(stream, "building ..")
        output.console().print("a result")
        assert "a result\n" in shown(stream.getvalue())
        before = len(stream.getvalue())
        while len(stream.getvalue()) == before:
            time.sleep(0.01)
    assert shown(stream.getvalue()) == ""
