"""Cycles that a board counts itself, over the serial lines of emulated boards.

What an emulator's counter shows depends on the host: only that it counts is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from committed_cases import path_of
from html_pages import Page, needs_nothing
from lines import board

from ember import cli
from ember.boards import Board
from ember.cases import batch
from ember.cli.reports.pages import profile as profile_page
from ember.errors import SdkError
from ember.files import etdump
from ember.files.etdump import LoggedTensor
from ember.hil import line
from ember.hil.line import EmulatedLine
from ember.run import counted, profile
from ember.run.etdump import DumpFiles
from ember.run.once import Order
from ember.run.views import timeline
from ember.toolchain.emulator import RunResult

pytestmark = [pytest.mark.qemu, pytest.mark.slow]

CASE = path_of("model_mlp_small")
# Without DWT or PMU in QEMU: SysTick. Of Arm64 it has the PMU.
BOARDS = ("microbit", "mps2-an386", "mps3-an547", "qemu-a64")


@pytest.mark.parametrize("name", BOARDS)
def test_every_node_is_counted(name: str) -> None:
    board(name)
    order = Order(model=CASE, board=name, timeout=60)
    profiled = counted.on_line(order, EmulatedLine()).profile()
    assert (profiled.unit, profiled.board) == ("cycles", name)
    assert len(profiled.nodes) > 3
    # Memory that a node declares as scratch costs less than SysTick can tell.
    counted_rows = [row for row in profiled.nodes if row.name != "ember::scratch.out"]
    assert all(row.instructions > 0 for row in counted_rows)
    assert sum(row.instructions for row in profiled.nodes) <= profiled.execute
    assert sum(row.share for row in profiled.operators) == pytest.approx(1)
    # The board's runner placed the tensors: only offsets are known.
    assert profiled.details is not None
    assert {memory["address"] for memory in profiled.details["memories"]} == {None}
    text = profile_page.of(profile.to_json(profiled))
    assert needs_nothing(text)
    nodes = Page(text).tables[1]
    assert nodes.column("cycles") == [f"{row.instructions:,}" for row in profiled.nodes]
    slices = [e for e in timeline.trace(profiled)["traceEvents"] if e["ph"] == "X"]
    assert slices[0]["dur"] == profiled.execute
    assert [e["args"]["node"] for e in slices[1:]] == sorted(
        row.nodes[0] for row in profiled.nodes
    )


@pytest.mark.parametrize("name", ["mps2-an386"])
def test_an_etdump_over_the_line(name: str, tmp_path: Path) -> None:
    board(name)
    order = Order(model=CASE, board=name, timeout=60)
    execution = counted.on_line(order, EmulatedLine())
    asked = DumpFiles(tmp_path / "run.etdp", tmp_path / "values.bin")
    asked.write_counted(order, execution, EmulatedLine())
    assert asked.dump is not None and asked.values is not None
    (run,) = etdump.from_bytes(asked.dump.read_bytes(), "run.etdp").runs
    timed = {
        event.timed.where.instruction: event.timed.end - event.timed.begin
        for event in run.events
        if event.timed and not event.timed.name.startswith("native_call_")
    }
    costs = {
        node.index: node.instructions for node in execution.nodes if node.executions
    }
    assert timed == costs | {-1: execution.cycles}
    logged = [event.logged for event in run.events if event.logged]
    assert {each.where.instruction for each in logged} == set(costs) | {-1}
    # What the last instruction wrote is the output.
    *_, last, output = (each.entry for each in logged)
    assert isinstance(last, LoggedTensor) and isinstance(output, LoggedTensor)
    content = asked.values.read_bytes()
    size = 4 * math.prod(output.sizes)
    assert output.sizes == last.sizes
    assert (
        content[last.offset :][:size] == content[output.offset :][:size] != bytes(size)
    )


class Answers:
    """A line behind which another runner is; an ember.hil.line.Line."""

    needs_firmware = True
    takes_files = False
    is_flashed = False
    options = ""

    def __init__(self, change: Callable[[bytes], bytes]) -> None:
        self.change = change

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        assert firmware is not None
        with line.started_emulator(board, firmware) as running:
            return line.talk(running.wire, self.change(stream), limit_s)


def as_an_older_one_reads(stream: bytes) -> bytes:
    """Without the flag TIMED, which it does not know."""
    at = stream.index(b"\2\0\0\0", 24) + 8 + 4
    return stream[:at] + b"\0" + stream[at + 1 :]


def test_an_older_runner_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    board("mps2-an386")
    order = Order(model=CASE, board="mps2-an386", timeout=60)
    with pytest.raises(SdkError, match="does not count cycles") as error:
        counted.on_line(order, Answers(as_an_older_one_reads))
    assert error.value.hint is not None
    assert "flash it again" in error.value.hint


def test_options_of_what_is_flashed_already(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profile", str(CASE), "--board", "mps2-an386", "--port", "socket://x:1"]
    for option in ("--cycles", "--prepared", "--optimize=size", "--out=x"):
        assert cli.main([*words, option]) in (1, 2)
        assert "the board has its firmware already" in capsys.readouterr().err
    assert cli.main([*words[:4], "--baud", "9600"]) in (1, 2)
    assert "--baud needs --port" in capsys.readouterr().err


def test_torn_cycles_are_refused() -> None:
    hello = b"\1\0\0\0\20\0\0\0" + batch.VERSION.to_bytes(4, "little") + bytes(12)
    cycles = (8).to_bytes(4, "little") + (16).to_bytes(4, "little")
    body = b"".join(x.to_bytes(4, "little") for x in (0, 0, 9, 3))
    with pytest.raises(SdkError, match="cycles of less than 3 nodes"):
        batch.answer(hello + cycles + body)
