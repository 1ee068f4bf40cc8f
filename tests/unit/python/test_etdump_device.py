"""ember/etdump.h: the files that devices write, by our own reader and the Inspector."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import c_programs
import programs as toy_programs
import pytest
from c_programs import ARM, SANITIZED, TESTS, Builder, Target

from ember.files import etdump
from ember.files.etdump import Timed, Where

NAMES = ("loop", "nothing", "short", "origins", "nodes", "failed")
LOOP = [
    (0, "MOVE_CALL"),
    *((1, name) for name in ("native_call_fill.out", "OPERATOR_CALL")),
    *((2, name) for name in ("native_call_less.int", "OPERATOR_CALL")),
    (3, "JF_CALL"),
    *((4, name) for name in ("native_call_add.out", "OPERATOR_CALL")),
    *((5, name) for name in ("native_call_inc.int", "OPERATOR_CALL")),
    (6, "JF_CALL"),
    (-1, "Method::execute"),
]


def written(target: Target, folder: Path) -> Path:
    if target.missing is not None:
        pytest.skip(f"{target.missing} is not installed")
    toy_programs.write_all(folder)
    out = folder / "out"
    out.mkdir()
    built = Builder(folder).build(target, "test_etdump", TESTS / "test_etdump.c")
    done = c_programs.run(target, built, str(folder), str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.stem for path in out.iterdir()) == sorted(NAMES)
    return out


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(SANITIZED, tmp_path_factory.mktemp("host"))


def events(out: Path, name: str) -> list[Timed]:
    dump = etdump.from_bytes((out / f"{name}.etdp").read_bytes(), name)
    (run,) = dump.runs
    assert (run.name, run.allocators, run.bundled_input) == ("Execute", (), None)
    timed = [event.timed for event in run.events]
    return [each for each in timed if each is not None]


def named(events: list[Timed]) -> list[tuple[int, str]]:
    return [(each.where.instruction, each.name) for each in events]


def test_a_loop(out: Path) -> None:
    recorded = events(out, "loop")
    assert named(recorded) == LOOP
    calls = {
        each.where.instruction: each
        for each in recorded
        if each.name in ("OPERATOR_CALL", "MOVE_CALL", "JF_CALL")
    }
    times = [(each.begin, each.end - each.begin) for each in calls.values()]
    # Of two executions, the second without a turn of the loop; one behind the other.
    lengths = [20, 20, 50, 50, 30, 30, 30]
    begins = [sum(lengths[:number]) for number in range(len(lengths))]
    assert times == list(zip(begins, lengths, strict=True))
    assert recorded[-1].begin == 0
    assert recorded[-1].end > sum(lengths)


def test_what_was_not_executed(out: Path) -> None:
    assert named(events(out, "nothing")) == LOOP[-1:]
    assert named(events(out, "short")) == [*LOOP[:6], LOOP[-1]]
    assert named(events(out, "failed"))[-2] == (2, "OPERATOR_CALL")


def test_origins(out: Path) -> None:
    numbers = [number for number, _ in named(events(out, "origins"))]
    assert numbers == [*(10 * (number + 1) for number, _ in LOOP[:-1]), -1]


def test_nodes(out: Path) -> None:
    recorded = events(out, "nodes")
    inner = [each for each in recorded if each.where.delegate is not None]
    places = [*((0, node) for node in range(6)), (1, 0), (1, 1)]
    assert [each.where for each in inner] == [
        Where(instruction, 0, node) for instruction, node in places
    ]
    calls = [each for each in recorded if each.name == "DELEGATE_CALL"]
    assert [each.where.instruction for each in calls] == [0, 1, 2]
    for each in inner:
        call = calls[each.where.instruction]
        assert call.begin <= each.begin < each.end < call.end


@pytest.mark.slow
def test_bytes_are_those_of_32_bit(out: Path, tmp_path: Path) -> None:
    other = written(ARM, tmp_path)
    for name in NAMES:
        here, there = (folder / f"{name}.etdp" for folder in (out, other))
        assert here.read_bytes() == there.read_bytes()


@pytest.mark.export
@pytest.mark.parametrize("name", NAMES)
def test_in_the_inspector(out: Path, name: str) -> None:
    devtools: Any = pytest.importorskip("executorch.devtools")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inspector = devtools.Inspector(etdump_path=str(out / f"{name}.etdp"))
    (block,) = inspector.event_blocks
    expected = events(out, name)
    assert len(block.events) == len(expected)
    for event, each in zip(block.events, expected, strict=True):
        node = each.where.delegate
        assert event.name == (each.name if node is None else str(node))
        assert event.delegate_debug_identifier == node
        assert event.perf_data.raw == [pytest.approx((each.end - each.begin) / 1e6)]
