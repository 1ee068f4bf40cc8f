"""Models on every family of boards: outputs, counts, memory, applications."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pace
import pytest
from committed_cases import path_of
from lending import unplanned
from row_networks import resnet_like

from ember import paths
from ember.cases import inputs
from ember.files import etdump
from ember.firmware import Options, build
from ember.run import run
from ember.toolchain import emulator

DATA = Path(__file__).parents[1] / "unit" / "python" / "data"
APPS = Path(__file__).parents[2] / "examples" / "firmware"
BOARDS = [
    "microbit",
    "mps2-an385",
    "mps2-an385-v6m",
    "mps2-an386",
    "mps2-an500",
    "mps2-an505",
    "mps3-an547",
    "netduinoplus2",
    "qemu-a64-sme",
    "hexagon-v68",
]
pytestmark = pytest.mark.qemu


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def execute(path: Path, board: str, arrays: list[np.ndarray]) -> run.RunLog:
    built = build(path, board)
    return run.run(built, inputs.lay_out(built.methods[0], arrays))


def pair() -> list[np.ndarray]:
    random = np.random.default_rng(1)
    return [random.standard_normal((2, 3), np.float32) for _ in range(2)]


@pytest.mark.parametrize("board", BOARDS)
def test_outputs_counts_and_memory(board: str) -> None:
    arrays = pair()
    log = execute(DATA / "add.pte", board, arrays)
    np.testing.assert_array_equal(log.arrays()[0], arrays[0] + arrays[1])
    (node,) = log.nodes
    if emulator.unit(log.built.board) is not None:  # QEMU may lack plugins
        assert node.executions == 1
        assert log.load is not None
        assert log.execute is not None
        assert node.instructions is not None
        assert 0 < node.instructions <= log.execute < log.load
    assert log.stack_used is not None
    assert 0 < log.stack_used < log.built.plan["stack"]
    # The plan's arena is exact.
    assert log.arena == log.built.sizes["method_arena"]


def test_counts_are_repeatable() -> None:
    first = execute(DATA / "add.pte", "mps2-an386", pair())
    second = execute(DATA / "add.pte", "mps2-an386", pair())
    assert (first.load, first.execute) == (second.load, second.execute)


def test_ready_firmware_runs_at_once() -> None:
    execute(DATA / "add.pte", "mps3-an547", pair())
    with pace.within(3.0):
        execute(DATA / "add.pte", "mps3-an547", pair())


@pytest.mark.parametrize("board", ["mps2-an386", "hexagon-v68"])
def test_memory_for_the_caller(board: str, tmp_path: Path) -> None:
    arrays = pair()
    log = execute(
        unplanned(DATA / "add.pte", tmp_path / "unplanned.pte"), board, arrays
    )
    np.testing.assert_array_equal(log.arrays()[0], arrays[0] + arrays[1])


def application(path: Path, board: str, app: str, *, caller_io: bool = False) -> str:
    options = Options(app=APPS / app, caller_io=caller_io)
    built = build(path, board, options=options)
    return emulator.run(built.board, built.firmware).check(app).text


@pytest.mark.parametrize("board", ["host", "mps2-an386", "mps3-an547"])
def test_classify(board: str) -> None:
    said = application(DATA / "add.pte", board, "classify.c")
    assert said == "class 5\n"


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_zero_copy(board: str, tmp_path: Path) -> None:
    path = unplanned(DATA / "add.pte", tmp_path / "unplanned.pte")
    said = application(path, board, "zero_copy.c", caller_io=True)
    assert said == "rising\n" * 4


@pytest.mark.parametrize(
    ("board", "prepared"),
    [("host", False), ("mps2-an386", False), ("mps3-an547", True)],
)
def test_an_image_that_comes_row_by_row(
    board: str, prepared: bool, tmp_path: Path
) -> None:
    """The application's image gives what the whole one does without rows."""
    model = tmp_path / "resnet.pte"
    model.write_bytes(resnet_like().content)
    whole = build(model, "host")
    best = []
    for frame in range(3):
        at = np.arange(32)[:, None] * (3 + frame) + np.arange(96) * 7
        image = at.astype(np.int8).reshape(1, 32, 32, 3).transpose(0, 3, 1, 2)
        log = run.run(whole, inputs.lay_out(whole.methods[0], [image]))
        scores = log.arrays()[0]
        assert isinstance(scores, np.ndarray)
        best.append("abcdefghijklmnopqrstuvwxyz{|}~"[int(np.argmax(scores))])
    options = Options(app=APPS / "feed.c", rows="fed", prepared=prepared)
    built = build(model, board, options=options)
    assert emulator.run(built.board, built.firmware).check("fed").text.split() == best
    header = (built.folder / "4-package" / "resnet_plan.h").read_text()
    assert "#define EMBER_RESNET_INPUT_0_IMAGE_ROWS 32" in header
    assert "#define EMBER_RESNET_INPUT_0_SHAPE {1, 3, 1, 32}" in header
    assert built.plan["activations"]["planned"] <= 17_500


@pytest.mark.parametrize(
    "board", ["host", "microbit", "mps2-an386", "mps3-an547", "qemu-a64", "hexagon-v68"]
)
def test_an_etdump_of_the_device(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a proved bound of the stack, though it calls an application's functions."""
    monkeypatch.chdir(tmp_path)  # where it writes its file
    said = application(path_of("xnnpack_mlp_static"), board, "etdump.c")
    assert said == "run.etdp is written\n"
    dump = etdump.from_bytes(Path("run.etdp").read_bytes(), "run.etdp")
    timed = [event.timed for event in dump.runs[0].events if event.timed]
    nodes = [each for each in timed if each.where.delegate is not None]
    (call,) = (each for each in timed if each.name == "DELEGATE_CALL")
    assert [each.where.delegate for each in nodes] == list(range(len(nodes)))
    assert len(nodes) > 1
    if board not in ("host", "hexagon-v68"):  # which have no counter
        assert sum(each.end - each.begin for each in nodes) <= call.end - call.begin
        assert timed[-1].end > call.end - call.begin > 0


def test_applications_are_short() -> None:
    for path in (paths.root() / "examples" / "firmware").glob("*.c"):
        assert len(path.read_text().splitlines()) <= 60
