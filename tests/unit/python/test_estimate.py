"""Boards from far too small to ample: `ember plan`, `build` and `pack` say the same.

The whole grid runs with EMBER_GRID=1, its first rows always.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from committed_cases import path_of

from ember import boards, cli, paths
from ember.firmware import Options, build, package
from ember.firmware.advice import answers, refusal
from ember.firmware.advice.refusal import TooSmallError
from ember.packaging import new
from ember.toolchain import linker, tools

ROOT = Path(__file__).resolve().parents[3]
DIGITS = ROOT / "examples" / "models" / "digits" / "digits.pte"
K = 1024
UNIT = 16  # what regions and sections begin at multiples of
PREPARED, SMALL = {"prepared": True}, {"optimize": "size"}
GRID: list[tuple[Path, str, dict[str, Any]]] = [
    (DIGITS, "netduinoplus2", {}),
    (DIGITS, "netduinoplus2", PREPARED | SMALL),
    (path_of("int8_ds_cnn_small_m4"), "microbit", {}),
    (path_of("int8_ds_cnn_small_m4"), "netduinoplus2", PREPARED),
    (path_of("int8_ds_cnn_small_m55"), "mps3-an547", {}),
    (path_of("int8_ds_cnn_small_m55"), "mps3-an547", PREPARED | SMALL),
    (path_of("model_mlp_small"), "microbit", SMALL),
    (path_of("model_mlp_small"), "rpi-pico2", PREPARED),
    (path_of("model_mlp_small"), "hexagon-v68", {}),
    (path_of("xnnpack_resnet8"), "qemu-a64", {}),
    (path_of("xnnpack_resnet8"), "qemu-a64-sme", SMALL),
    (path_of("xnnpack_resnet8"), "netduinoplus2", {}),
    (path_of("model_resnet8_small"), "mps2-an386", {}),
    (path_of("model_resnet8_small"), "nucleo-h743zi2", PREPARED),
]
QUICK = 1
TAKEN = {"flash", "read_cycles", "write_cycles", "fetch_cycles"}
pytestmark = pytest.mark.slow
templates = pytest.mark.parametrize(
    "template",
    [
        pytest.param("cmake", marks=pytest.mark.long),
        pytest.param("zephyr", marks=pytest.mark.broad),
    ],
)
rows = pytest.mark.parametrize(
    ("model", "like", "more"), GRID if os.environ.get("EMBER_GRID") else GRID[:QUICK]
)


def board(folder: Path, like: str, sizes: dict[str, int]) -> str:
    """A file of a board that is like another, its memories of these sizes."""
    name = "b" + "_".join(map(str, sizes.values()))
    memories = [
        memory | {"size": sizes.get(memory["name"], memory["size"])}
        for memory in memories_of(like)
    ]
    said = yaml.safe_load((paths.boards() / f"{like}.yaml").read_text())
    table = said if "like" in said else {"like": like}
    changed = {"name": name, "flashers": [], "memories": memories}
    return written(folder, table | changed)


def memories_of(board: str) -> list[dict[str, Any]]:
    """As a file of a board has them, but for what is said of the chip."""
    return [
        memory.model_dump(mode="json", exclude_none=True, exclude=TAKEN)
        for memory in boards.load(board).memories
    ]


def written(folder: Path, table: dict[str, Any]) -> str:
    file = folder / f"{table['name']}.yaml"
    file.write_text(yaml.safe_dump(table))
    return str(file)


class Asked:
    """What the three commands say about a model on boards of some sizes."""

    def __init__(self, folder: Path, model: Path, like: str, more: Any) -> None:
        self.folder = folder
        self.model = model
        self.like = like
        self.options = Options(**more)

    def plan(self, sizes: dict[str, int]) -> dict[str, Any]:
        on = boards.load(board(self.folder, self.like, sizes))
        return answers.of([self.model], on, self.options)

    def build(self, sizes: dict[str, int]) -> dict[str, int]:
        """The bytes that lack, by memory."""
        on = board(self.folder, self.like, sizes)
        out = self.folder / "build"
        try:
            build(self.model, on, out=out, options=self.options)
        except TooSmallError as error:
            return lacking(error.shortages)
        return {}

    def both(self, sizes: dict[str, int]) -> dict[str, int]:
        """What both say."""
        answer = self.plan(sizes)
        assert (answer["linked"], answer["resolved"]) == (True, True)
        said = lacking(answer.get("shortages", ()))
        assert answer["fits"] == (not said)
        assert self.build(sizes) == said
        return said


def lacking(shortages: Any) -> dict[str, int]:
    return {shortage["memory"]: shortage["over"] for shortage in shortages}


@pytest.fixture(autouse=True)
def _only_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what would help, which test_what_helps_does_fit tries."""
    monkeypatch.setattr("ember.firmware.advice.refusal.helps", lambda *_, **__: [])


@rows
def test_plan_and_build_agree(
    tmp_path: Path, model: Path, like: str, more: dict[str, Any]
) -> None:
    asked = Asked(tmp_path, model, like, more)
    tiny = {memory.name: 2 * K for memory in boards.load(like).memories}
    short = asked.both(tiny)
    assert short
    exact = {name: size + short.get(name, 0) for name, size in tiny.items()}
    while more_short := asked.both(exact):  # a larger memory takes more
        assert len(exact) > 2
        exact = {name: size + more_short.get(name, 0) for name, size in exact.items()}
    if len(exact) <= 2:  # else what one memory lacks another may have
        less = {name: exact[name] - UNIT for name in short}
        assert asked.both(exact | less) == dict.fromkeys(short, UNIT)


def test_both_blame_the_same_memory(tmp_path: Path) -> None:
    asked = Asked(tmp_path, DIGITS, "netduinoplus2", {})
    assert set(asked.both({"flash": 32 * K, "ram": 20 * K})) == {"flash"}
    assert asked.both({"flash": 512 * K, "ram": 20 * K}) == {}


@pytest.mark.broad
def test_what_helps_does_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    asked = Asked(tmp_path, DIGITS, "netduinoplus2", {})
    sizes = {"flash": 36 * K, "ram": 20 * K}
    answer = asked.plan(sizes)
    first = answer["helps"][0]
    assert (first["change"], first["fits"]) == ("--prepared", True)
    assert first["less"]["flash"] > answer["over"] > 0
    asked.options = replace(asked.options, prepared=True)
    assert asked.build(sizes) == {}
    assert "netduinoplus2" in answer["boards_that_fit"]
    monkeypatch.chdir(tmp_path)
    build(DIGITS, answer["boards_that_fit"][0], options=Options())


def test_pack_refuses_with_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(tmp_path, DIGITS, "netduinoplus2", {})
    sizes = {"flash": 32 * K, "ram": 16 * K}
    said = refusal.what(asked.plan(sizes), "digits")
    file = board(tmp_path, "netduinoplus2", sizes)
    words = [str(DIGITS), "--board", file]
    assert cli.main(["pack", *words, "--out", str(tmp_path / "pack")]) == 1
    assert f"ember pack: {said}\n" in capsys.readouterr().err
    assert cli.main(["build", *words, "--out", str(tmp_path / "build")]) == 1
    assert f"ember build: {said}\n" in capsys.readouterr().err


@pytest.mark.broad
def test_pack_leaves_stack_for_the_application(tmp_path: Path) -> None:
    asked = Asked(tmp_path, DIGITS, "netduinoplus2", {})
    ample = {"flash": 512 * K, "ram": 20 * K}
    (short,) = asked.plan(ample | {"ram": 2 * K})["shortages"]
    exact = ample | {"ram": short["needed"]}
    for sizes in (ample, exact):
        answer = asked.plan(sizes)
        (ram,) = (memory for memory in answer["memories"] if memory["name"] == "ram")
        left = ram["capacity"] - ram["used"]
        assert (left < 2 * K) == (sizes is exact)
        on = board(tmp_path, "netduinoplus2", sizes)
        place = tmp_path / f"pack{sizes['ram']}"
        packed = package([DIGITS], on, place, Options())
        assert packed.script is not None
        stack = answer["stack"] + min(2 * K, left // 32 * 32)
        assert f". += {stack};" in packed.script.read_text()


@templates
def test_what_build_accepts_begins_a_project(tmp_path: Path, template: str) -> None:
    """With so little memory that a usual stack has no room."""
    asked = Asked(tmp_path, DIGITS, "netduinoplus2", {})
    sizes = {"flash": 512 * K, "ram": 2 * K}
    exact = sizes | {"ram": 2 * K + asked.plan(sizes)["over"]}
    file = board(tmp_path, "netduinoplus2", exact)
    assert asked.build(exact) == {}
    assert new.create(tmp_path / "new", template, file, DIGITS)
    words = [str(DIGITS), "--board", file, "--out", str(tmp_path / "package")]
    assert cli.main(["package", *words]) == 0


@templates
def test_projects_and_sources_refuse_in_the_words_of_build(
    tmp_path: Path, template: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(tmp_path, DIGITS, "netduinoplus2", {})
    sizes = {"flash": 512 * K, "ram": 5 * K}
    said = refusal.what(asked.plan(sizes), "digits")
    file = board(tmp_path, "netduinoplus2", sizes)
    folder, words = str(tmp_path / "new"), ["--template", template, "--board", file]
    assert cli.main(["new", folder, *words, "--model", str(DIGITS)]) == 1
    assert f"ember new: {said}\n" in capsys.readouterr().err
    words = [str(DIGITS), "--board", file, "--out", str(tmp_path / "package")]
    assert cli.main(["package", *words]) == 1
    assert f"ember package: {said}\n" in capsys.readouterr().err


def test_sources_say_that_they_have_fewer_memories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board whose second memory is needed: sources know of one for data."""
    memories = memories_of("netduinoplus2")
    memories[1]["size"] = 8 * K
    more = {"name": "more", "base": 0x30000000, "size": 64 * K, "access": "rw"}
    memories.append(more | {"kind": "sram", "holds": ["method", "planned", "temp"]})
    table = {"name": "two", "like": "netduinoplus2", "flashers": []}
    file = written(tmp_path, table | {"memories": memories})
    model = path_of("model_resnet8_small")
    build(model, file, out=tmp_path / "build")
    words = [str(model), "--board", file, "--out", str(tmp_path / "package")]
    assert cli.main(["package", *words]) == 1
    said = capsys.readouterr().err
    assert "fits two only with other memories than flash and ram" in said
    assert "more than the 8,192 it has" in said
    assert "use `ember build`" in said


def test_a_plan_without_a_compiler_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host = boards.load("host")
    assert answers.of([DIGITS], host, Options())["linked"]  # libraries are there

    def missing(*_: object, **__: object) -> None:
        tools.path("clang-99")

    monkeypatch.setattr("ember.firmware.jobs.libraries_of", missing)
    answer = answers.of([DIGITS], boards.load("qemu-a64"), Options())
    assert (answer["linked"], answer["resolved"]) == (False, True)
    assert answer["assumed"]["stack"] == linker.DEFAULT_STACK
    assert "clang-99 is missing" in answer["assumed"]["reason"]
    assert cli.main(["plan", str(DIGITS), "--board", "qemu-a64"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "without code, and with an assumed stack of 8,192 bytes" in shown
