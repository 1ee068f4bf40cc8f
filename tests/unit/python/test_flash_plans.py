"""Every flasher of every board, as a plan: files and command lines."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from ember import boards
from ember.boards.keys import Flasher, Gdb, PyOcd
from ember.errors import SdkError, UsageError
from ember.flash import perform, probes
from ember.flash.plans import FlashOrder, Image
from ember.toolchain.image import ImageSegment

GOLDEN = Path(__file__).parent / "flash_plans.json"
FLASHED = [name for name in boards.names() if boards.load(name).flashers]


def order_for(
    board: boards.Board,
    probe: str | None = None,
    *,
    program: bool = True,
    extra: tuple[str, ...] = (),
) -> FlashOrder:
    """A small image at the start of the board's first flash."""
    flash = next(memory for memory in board.memories if memory.flash)
    content = bytes(range(256)) * 4
    image = Image((ImageSegment(flash.base, content),), flash.base)
    return FlashOrder(board, image, probe, program, extra)


def tools(board: boards.Board) -> tuple[Flasher, ...]:
    """Its flashers, and gdb, which every board has."""
    return (*board.flashers, board.flasher("gdb"))


def planned(board: boards.Board, facts: Flasher, *, program: bool = True) -> list[str]:
    probe = "localhost:3333" if facts.tool == "gdb" else "PROBE"
    return perform.plan(order_for(board, probe, program=program), facts).lines()


def test_plans_are_what_they_were() -> None:
    """Every flasher of every board; EMBER_UPDATE=1 writes them again."""
    lines = {
        f"{name} {facts.tool}": planned(boards.load(name), facts)
        for name in FLASHED
        for facts in tools(boards.load(name))
    }

    if os.environ.get("EMBER_UPDATE"):
        GOLDEN.write_text(json.dumps(lines, indent=1) + "\n")
    again = "run this test with EMBER_UPDATE=1 if the new plans are right"
    assert lines == json.loads(GOLDEN.read_text()), again


@pytest.mark.parametrize("name", FLASHED)
def test_only_comparing_writes_nothing(name: str) -> None:
    board = boards.load(name)
    for facts in tools(board):
        if facts.tool == "uf2":
            with pytest.raises(UsageError, match="cannot read flash back"):
                planned(board, facts, program=False)
            continue
        text = "\n".join(planned(board, facts, program=False))
        for word in ("pyocd load", "write_image", "loadfile", " -D ", "\n    load\n"):
            assert word not in text
        assert "compare read0.bin" in text


@pytest.mark.parametrize("name", FLASHED)
def test_words_for_the_tool_are_given_to_it(name: str) -> None:
    board = boards.load(name)
    for facts in tools(board):
        plan = perform.plan(order_for(board, probe="h:1", extra=("--mine",)), facts)
        if facts.tool != "uf2":
            assert all("--mine" in step.argv for step in plan.steps)


@pytest.mark.skipif(probes.PROGRAMS["openocd"].find() is None, reason="needs openocd")
@pytest.mark.parametrize("name", FLASHED)
def test_openocd_reads_the_configuration(name: str) -> None:
    board = boards.load(name)
    for facts in board.flashers:
        if facts.tool == "openocd":
            plan = perform.plan(order_for(board), facts)
            words = list(plan.steps[-1].argv)
            before = words[: words.index("init")]
            done = subprocess.run(
                [*before, "shutdown"], check=False, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(probes.PROGRAMS["pyocd"].find() is None, reason="needs pyocd")
def test_pyocd_knows_the_targets_or_a_pack_does() -> None:
    pyocd = probes.executable("pyocd")
    done = subprocess.run(
        [pyocd, "json", "--targets"], check=True, capture_output=True, text=True
    )
    known = {target["name"] for target in json.loads(done.stdout)["targets"]}
    for name in FLASHED:
        for facts in boards.load(name).flashers:
            if facts.tool == "pyocd":
                assert (facts.target in known) == (facts.pack is None), name


def test_dfu_leaves_where_the_vectors_are() -> None:
    board = boards.load("netduinoplus2")
    start, data = 0x08000000, bytes(64)
    parts = (ImageSegment(start, data), ImageSegment(start + 0x20000, data))
    order = FlashOrder(board, Image(parts, start))
    steps = perform.plan(order, board.flasher("dfu-util")).steps
    assert [step.what for step in steps] == [
        "program",
        "read back",
        "read back and start",
    ]
    assert "0x08020000:64" in steps[1].argv
    assert "0x08000000:64:leave" in steps[2].argv


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("openocd", "no debug probe is connected"),
        ("st-flash", "no debug probe is connected"),
        ("dfu-util", "no matching boot loader is connected"),
        ("pyocd", "no debug probe is connected"),
    ],
)
def test_tools_understand_the_words_of_plans(tool: str, said: str) -> None:
    """With a probe that does not exist, and reading only: nothing is written to."""
    if probes.PROGRAMS[tool].find() is None:
        pytest.skip(f"needs {tool}")
    pairs = [
        (board, flasher)
        for board in map(boards.load, FLASHED)
        for flasher in board.flashers
        if flasher.tool == tool
        and not (isinstance(flasher, PyOcd) and flasher.pack is not None)
    ]
    if tool == "pyocd":
        pairs = pairs[:2]  # a second each
    for board, facts in pairs:
        plan = perform.plan(order_for(board, probe="123456", program=False), facts)
        with pytest.raises(SdkError, match=said):
            perform.run(plan, facts, print)


def test_gdb_needs_an_address() -> None:
    board = boards.load("netduinoplus2")
    with pytest.raises(UsageError, match="address of a server"):
        perform.plan(order_for(board), Gdb(tool="gdb"))
