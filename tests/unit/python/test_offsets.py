"""Placing buffers by lifetime: bounds, gaps, exclusive lives, tables of buffers."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pace
import pytest

from ember import cli
from ember.errors import SdkError
from ember.plan import offsets
from ember.plan.offsets import buffers
from ember.plan.offsets.buffers import Buffer


def alive(size: int, first: int, end: int, **more: int) -> Buffer:
    return Buffer(size, frozenset(range(first, end)), **more)


def random_buffers(seed: int, count: int) -> list[Buffer]:
    numbers = random.Random(seed)
    drawn = []
    for _ in range(count):
        first = numbers.randrange(40)
        end = first + 1 + numbers.randrange(12)
        drawn.append(alive(16 * numbers.randrange(1, 40), first, end))
    return drawn


Piece = tuple[int, int, int, int]  # the first byte and the end, of space and of time


def halves(
    numbers: random.Random, piece: Piece, *, least: int, step: int
) -> list[Piece]:
    """Cut at a multiple of `step` when it is larger than `least`, or in time."""
    low, high, first, end = piece
    if numbers.random() < 0.5 and high - low > least:
        at = low + step * numbers.randrange(1, (high - low) // step)
        return [(low, at, first, end), (at, high, first, end)]
    if end - first > 1:
        at = numbers.randrange(first + 1, end)
        return [(low, high, first, at), (low, high, at, end)]
    return [piece]


def cut(seed: int, height: int, length: int) -> list[Buffer]:
    """A rectangle cut into buffers that fill it: the bound is reached by the cut."""
    numbers = random.Random(seed)
    pieces = [(0, height, 0, length)]
    for _ in range(60):
        piece = pieces.pop(numbers.randrange(len(pieces)))
        pieces += halves(numbers, piece, least=16, step=16)
    numbers.shuffle(pieces)
    return [alive(high - low, first, end) for low, high, first, end in pieces]


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_has_no_overlap_and_keeps_its_promises(seed: int) -> None:
    buffers = random_buffers(seed, 60)
    placed = offsets.place(buffers)
    assert offsets.overlap(buffers, placed.offsets) is None
    ends = [o + b.size for o, b in zip(placed.offsets, buffers, strict=True)]
    assert max(ends) == placed.height >= placed.lower_bound
    assert all(offset % 16 == 0 for offset in placed.offsets)


@pytest.mark.parametrize("seed", range(12))
def test_a_rectangle_that_was_cut_is_put_together_again(seed: int) -> None:
    buffers = cut(seed, 4096, 30)
    placed = offsets.place(buffers)
    assert placed.lower_bound == 4096
    assert (placed.height, placed.proved) == (4096, True)


def test_the_bound_can_be_out_of_reach_and_that_is_proved() -> None:
    # Around a ring of five moments each buffer meets the next: 2 of 3 bytes at most
    # are alive at once, but the odd ring needs 3.
    buffers = [Buffer(16, frozenset({n, (n + 1) % 5})) for n in range(5)]
    placed = offsets.place(buffers)
    assert placed.lower_bound == 32
    assert (placed.height, placed.proved) == (48, True)


def test_branches_share_bytes() -> None:
    buffers = [Buffer(64, frozenset({1, 2})), Buffer(64, frozenset({3, 4}))]
    both = Buffer(16, frozenset(range(6)))
    assert offsets.place([*buffers, both]).height == 80


def test_fixed_offsets_and_alignment_are_kept() -> None:
    buffers = [
        alive(16, 0, 4, fixed=64),
        alive(40, 0, 4, align=32),
        alive(8, 0, 4, align=8),
    ]
    placed = offsets.place(buffers)
    assert placed.offsets[0] == 64
    assert placed.offsets[1] % 32 == 0
    assert offsets.overlap(buffers, placed.offsets) is None


CAPACITY = 1 << 20


def hard(seed: int, count: int) -> list[Buffer]:
    """About `count` buffers that fill CAPACITY nearly always, some of them large: what
    MiniMalloc's challenging tables are like."""
    numbers = random.Random(seed)
    pieces = [(0, CAPACITY, 0, count // 2)]
    while len(pieces) < count:
        sample = numbers.sample(range(len(pieces)), min(3, len(pieces)))
        areas = {n: _area(pieces[n]) for n in sample}
        piece = pieces.pop(max(sample, key=areas.__getitem__))
        pieces += halves(numbers, piece, least=2048, step=1024)
    numbers.shuffle(pieces)
    kept = [part for part in pieces if numbers.random() > 0.03]
    return [alive(high - low, first, end, align=1) for low, high, first, end in kept]


def _area(piece: Piece) -> int:
    low, high, first, end = piece
    return (high - low) * (end - first)


def hard_tables() -> list[list[Buffer]]:
    """Those of the folder EMBER_TABLES, of a capacity of 1048576 bytes; without it some
    of our own."""
    folder = os.environ.get("EMBER_TABLES")
    if folder is None:
        return [hard(seed, 150) for seed in (1, 3, 4, 5, 6)] + [hard(4, 220)]
    tables = sorted(Path(folder).glob("*.csv"))
    return [list(buffers.read_csv(table).values()) for table in tables]


@pytest.mark.slow
@pytest.mark.parametrize("buffers", hard_tables())
def test_a_hard_table_is_placed_within_its_capacity(buffers: list[Buffer]) -> None:
    by_orders = offsets.place(buffers, 4 * CAPACITY).height
    assert by_orders > 1.05 * offsets.lower_bound(buffers)  # else it is not hard
    with pace.within(10.0):
        placed = offsets.place(buffers, CAPACITY, offsets.MANY_STEPS)
    assert placed.height <= CAPACITY
    assert offsets.overlap(buffers, placed.offsets) is None


def test_an_injected_overlap_is_always_caught() -> None:
    buffers = random_buffers(7, 60)
    good = list(offsets.place(buffers).offsets)
    numbers = random.Random(1)
    for _ in range(200):
        moved = numbers.randrange(60)
        others = [
            n
            for n in range(60)
            if n != moved and buffers[n].points & buffers[moved].points
        ]
        other = numbers.choice(others)
        bad = list(good)
        bad[moved] = good[other] + numbers.randrange(buffers[other].size)
        assert offsets.overlap(buffers, bad) is not None


def test_nothing_to_place() -> None:
    assert offsets.place([]).height == 0
    assert offsets.place([Buffer(0, frozenset({1}))]).offsets == (0,)


def test_the_same_problem_gives_the_same_plan() -> None:
    buffers = cut(3, 8192, 40)
    assert offsets.place(buffers) == offsets.place(buffers)


def test_a_table_is_read(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("id,lower,upper,size\na,0,10,4\nb,10,90,6\nc,5,12,3\n")
    read = buffers.read_csv(table)
    placed = offsets.place(list(read.values()), None, offsets.MANY_STEPS)
    assert list(read) == ["a", "b", "c"]
    assert placed.height == 9


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,lower,size\n", "no column 'upper'"),
        ("id,lower,upper,size\na,1,1,4\n", "line 2"),
        ("id,lower,upper,size\na,0,1,4\na,0,1,4\n", "twice"),
        ("id,lower,upper,size\na,x,1,4\n", "must be integers"),
        ("id,lower,upper,size\na,0\n", "must be integers"),
        ("id,lower,upper,size\n", "lists no buffers"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, text: str, says: str) -> None:
    table = tmp_path / "bad.csv"
    table.write_text(text)
    with pytest.raises(SdkError, match=says):
        buffers.read_csv(table)


def test_the_command_says_whether_a_table_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "a.csv"
    table.write_text("id,lower,upper,size\na,0,3,10\nb,2,5,20\n")
    words = ["plan", "--csv", str(table), "--json", "-", "--capacity"]
    assert cli.main([*words, "30"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["planned"], facts["lower_bound"], facts["fits"]) == (30, 30, True)
    assert cli.main([*words, "29"]) == 1
    assert json.loads(capsys.readouterr().out)["fits"] is False
    assert cli.main(["plan", "--csv", str(table), "--board", "host"]) == 2
    assert cli.main(["plan", "--capacity", "3", "model.pte"]) == 2
