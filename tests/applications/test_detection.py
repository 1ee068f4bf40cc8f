"""Detection: its parts on the host, and frames streamed into boards."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import application
import numpy as np
import pytest

from ember.errors import SdkError

NAME = "detection"
FOLDER = application.FOLDER / NAME
PARTS = Path(__file__).parent / "parts"
M4 = "mps2-an386"
scenes = application.module(NAME, "scenes")
evaluate = application.module(NAME, "evaluate")
boxes = evaluate.boxes
Found = boxes.Found


Scenes = list[Any]  # of the modules that `application` imports
Detections = list[Any]

# ---- scenes --------------------------------------------------------------------------


@pytest.fixture(scope="module", name="recording")
def _recording() -> Scenes:
    recording: Scenes = scenes.recording()
    return recording


def test_the_recording_is_the_one_of_the_references(recording: Scenes) -> None:
    references = evaluate.references(recording)
    assert len(references) == scenes.RECORDED
    with pytest.raises(SdkError, match=r"is not the one of references\.npz"):
        evaluate.references(recording[:-1])


def test_objects_are_where_their_boxes_say(recording: Scenes) -> None:
    kinds = [box.kind for scene in recording for box in scene.boxes]
    assert min(kinds.count(0), kinds.count(1)) > 100
    for box in (box for scene in recording for box in scene.boxes):
        assert 0 <= box.left < box.right <= scenes.SIDE + 1e-9
        assert 0 <= box.top < box.bottom <= scenes.SIDE + 1e-9
    assert any(not scene.boxes for scene in recording)


def test_pixels_have_the_bits_of_rgb565() -> None:
    colours = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [300, -5, 7.9]])
    bits = scenes.rgb565(colours).view(np.uint16).tolist()
    assert bits == [0xF800, 0x07E0, 0x001F, 0xF800]


# ---- boxes ---------------------------------------------------------------------------


def cells() -> tuple[np.ndarray, np.ndarray]:
    shape = (boxes.CELLS, boxes.CELLS)
    return np.full((2, *shape), -5.0), np.full((4, *shape), 1.5)


def test_a_cell_becomes_a_box() -> None:
    scores, sides = cells()
    scores[1, 3, 5] = 0.5
    sides[:, 3, 5] = [1, 0.5, 2, 9]
    (box,) = boxes.decode(scores, sides)
    x, y = 5.5 * boxes.CELL, 3.5 * boxes.CELL
    assert (box.kind, box.left, box.right) == (1, x - boxes.CELL, x + 2 * boxes.CELL)
    assert (box.top, box.bottom) == (y - boxes.CELL / 2, scenes.SIDE * 16)


def test_of_boxes_in_one_place_the_best_stays() -> None:
    scores, sides = cells()
    scores[0, 4, 4], scores[0, 4, 5], scores[1, 4, 4], scores[0, 9, 9] = 1, 2, 0.5, 3
    kept = boxes.decode(scores, sides)
    assert [(box.kind, box.score) for box in kept] == [(0, 3), (0, 2), (1, 0.5)]


def test_scores_of_boxes() -> None:
    whole = Found(0, 0, 0, 100, 100)
    half = Found(0, 0, 0, 100, 50, 2.0)  # an overlap of 0.5 is enough
    less = Found(0, 0, 0, 100, 49, 3.0)
    other = Found(1, 0, 0, 100, 100, 1.0)
    assert boxes.overlap(whole, half) == 0.5
    assert boxes.score([[half]], [[whole]]) == boxes.Score(1, 1, 1)
    assert boxes.score([[less, half, other]], [[whole]]) == boxes.Score(1, 3, 1)
    assert boxes.score([[whole, half]], [[whole]]).right == 1  # each counts once
    assert boxes.score([[]], [[]]).f1 == 0
    assert boxes.average_precision([[half], [other]], [[whole], [other]]) == 1
    assert boxes.average_precision([[less, half], [other]], [[whole], [other]]) == 0.75


@pytest.fixture(scope="module", name="parts")
def _parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("parts") / "parts"
    return application.compiled(NAME, PARTS / f"{NAME}.c", program)


def printed(
    parts: Path, *frames: tuple[tuple[int, int, int], np.ndarray, np.ndarray]
) -> list[list[list[int]]]:
    """What firmware/boxes.h finds, a list for each frame."""
    given = b"".join(
        np.array(scale, np.int32).tobytes() + scores.tobytes() + sides.tobytes()
        for scale, scores, sides in frames
    )
    said = subprocess.run([parts], input=given, capture_output=True, check=True).stdout
    texts = said.decode().split("frame\n")[1:]
    return [
        [[int(number) for number in row.split()] for row in text.splitlines()]
        for text in texts
    ]


def test_the_firmware_s_boxes_are_python_s(parts: Path) -> None:
    """Few and many candidates, ties, and sides that turn a box inside out."""
    random = np.random.default_rng(0)
    given, expected = [], []
    shape = (boxes.CELLS, boxes.CELLS)
    for number in range(200):
        zero, step = int(random.integers(-128, 128)), 2.0 ** int(random.integers(4))
        least = (-128, 60, 110, 126)[number % 4]
        scores = random.integers(least, 128, (*shape, 2)).astype(np.int8)
        sides = random.integers(-128, 128, (*shape, 4)).astype(np.int8)
        threshold = int(random.integers(-20, 128))
        given.append(((threshold, zero, int(step * 65536)), scores, sides))
        decoded = boxes.decode(
            scores.transpose(2, 0, 1).astype(float),
            (sides.transpose(2, 0, 1).astype(float) - zero) * step / boxes.CELL,
            threshold,
        )
        expected.append(
            [[x.kind, x.left, x.top, x.right, x.bottom, x.score] for x in decoded]
        )
    assert printed(parts, *given) == expected
    counts = [len(x) for x in expected]
    assert max(counts) > 20 and min(counts) == 0


@pytest.mark.parametrize("value", [-128, 127])
def test_the_most_that_cells_can_say(parts: Path, value: int) -> None:
    """No overflow, and no more boxes than there is room for."""
    scores = np.full((boxes.CELLS, boxes.CELLS, 2), 127, np.int8)
    sides = np.full((boxes.CELLS, boxes.CELLS, 4), value, np.int8)
    for zero in (-128, 127):
        (kept,) = printed(parts, ((-128, zero, 1 << 22), scores, sides))
        assert 1 <= len(kept) <= boxes.MOST


def test_numbers_of_the_firmware_are_those_of_python() -> None:
    header = (FOLDER / "firmware" / "boxes.h").read_text()
    assert f"BOXES_CELLS = {boxes.CELLS}," in header
    assert f"BOXES_MOST = {boxes.MOST}," in header
    assert f"BOXES_SAME = {round(boxes.SAME * 100)}," in header
    camera = (FOLDER / "firmware" / "camera.h").read_text()
    assert f"ROWS = {scenes.ROWS}, CAMERA_COLUMNS = {scenes.COLUMNS}" in camera
    kinds = ", ".join(f'"{kind}"' for kind in scenes.CLASSES)
    assert kinds in (FOLDER / "firmware" / "main.c").read_text()


# ---- the log -------------------------------------------------------------------------


def test_the_log_of_the_firmware() -> None:
    lines = ["0", "person 1 2 3 4 5", "1", "2", "object 0 0 16 16 1", "3 frames lost"]
    detections, lost = evaluate.parse(lines)
    person, other = Found(0, 1, 2, 3, 4, 5.0), Found(1, 0, 0, 16, 16, 1.0)
    assert detections == [[person], [], [other]]
    assert lost == 3
    with pytest.raises(SdkError, match="last line is"):
        evaluate.parse(lines[:-1])
    with pytest.raises(SdkError, match="'cat 1 2' is not a box"):
        evaluate.parse(["0", "cat 1 2", "0 frames lost"])


def test_broken_promises_are_told() -> None:
    facts = {"accuracy": 0.92, "float_accuracy": 0.92, "ram": 23_000, "lost": 0}
    assert evaluate.wrong(facts) == []
    assert len(evaluate.wrong(facts | {"accuracy": 0.91, "ram": 25_000})) == 2
    assert len(evaluate.wrong({"ram": 23_000, "lost": 2})) == 1


# ---- boards --------------------------------------------------------------------------


@pytest.fixture(scope="module", name="firmware")
def _firmware(tmp_path_factory: pytest.TempPathFactory) -> object:
    return evaluate.built_for(M4, tmp_path_factory.mktemp("firmware"))


def streamed(
    firmware: object, filmed: Scenes, shift: int = evaluate.SHIFT
) -> tuple[Detections, int]:
    files = evaluate.frames(filmed)
    ran = evaluate.on_board.run(firmware, files, count=False, shift=shift)
    detections, lost = evaluate.parse(ran.lines)
    return detections, lost


@pytest.mark.qemu
@pytest.mark.slow
def test_a_board_finds_what_pytorch_finds(firmware: object, recording: Scenes) -> None:
    filmed = recording[:12]
    detections, lost = streamed(firmware, filmed)
    assert (len(detections), lost) == (12, 0)
    floats = evaluate.references(recording)[:12]
    same = boxes.score(detections, floats)
    assert same.objects >= 12
    assert same.f1 > 0.9
    truth = [boxes.of_scene(scene) for scene in filmed]
    loss = boxes.score(floats, truth).f1 - boxes.score(detections, truth).f1
    assert abs(loss) < 0.05


@pytest.mark.qemu
@pytest.mark.slow
def test_a_core_that_is_too_slow_loses_whole_frames(
    firmware: object, recording: Scenes
) -> None:
    """Half as many instructions a second, a quarter: the network is not done when rows
    come, those of one frame or of two."""
    whole, _ = streamed(firmware, recording[:6])
    for shift, step in ((1, 2), (2, 3)):
        slow = evaluate.SHIFT + shift
        detections, lost = streamed(firmware, recording[:6], shift=slow)
        assert detections == whole[::step]
        assert lost == 6 - len(detections)


@pytest.mark.qemu
@pytest.mark.slow
def test_a_missing_camera_ends_the_firmware(firmware: object) -> None:
    with pytest.raises(SdkError, match="no camera"):
        evaluate.on_board.run(firmware, {})


@pytest.mark.broad
@pytest.mark.qemu
@pytest.mark.parametrize("board", evaluate.BOARDS)
def test_the_promises_hold(board: str) -> None:
    facts = application.evaluated(NAME, board)
    assert facts["accuracy"] > 0.9
    assert facts["lost"] == 0


# ---- PyTorch -------------------------------------------------------------------------


@pytest.mark.export
@application.needs_torch
def test_strips_are_parts_of_the_frame(recording: Scenes) -> None:
    """What the board makes of 5 rows at a time is what training makes of all."""
    model = application.module(NAME, "model")
    frames = model.frames_of(recording[:3])
    whole = (model.seen(frames)[:, 0] * 128 + 128).to(model.torch.uint8)
    strip = model.front(model.STRIP)
    parts = [strip(rows) for rows in frames.split(model.STRIP, dim=1)]
    assert model.torch.equal(model.torch.cat(parts, dim=1), whole)


@pytest.mark.export
@application.needs_torch
def test_the_front_end_is_the_one_of_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRONT", "1")
    out = tmp_path / "front.bpte"
    ember = [sys.executable, "-m", "ember"]
    words = [*ember, "export", "model.py", "--board", M4, "-o", str(out)]
    subprocess.run(words, cwd=FOLDER, check=True, capture_output=True)
    assert (FOLDER / "front.pte").read_bytes() in out.read_bytes()
    if shutil.which("qemu-system-arm"):
        subprocess.run([*ember, "test", out, "--board", M4], check=True)
