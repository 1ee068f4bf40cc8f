"""Programs, boards and options become points, each with a key; points, batches."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from ember import boards, kept, paths
from ember.boards import Board
from ember.cases import Found
from ember.errors import UsageError
from ember.sweep import content
from ember.sweep.content import CaseContent
from ember.sweep.settings import Option, Sweep

_SOURCES = ("backends", "kernels", "runtime_c", "toolchains")


@dataclass(frozen=True)
class Point:
    """A case on a board with an option. Its key is the same for equal contents, so two
    programs of the same files have one result."""

    key: str
    program: str  # the case's name
    board: Board
    option: Option
    content: CaseContent


@dataclass(frozen=True)
class Member:
    """A point as a worker gets it."""

    key: str
    program: str
    digest: str  # of its content


@dataclass(frozen=True)
class Batch:
    """Points of one board and option: one start of an emulator for all of them."""

    board: Board
    option: Option
    measure: bool
    timeout_s: float | None
    sdk: str  # digest of the SDK that the results are of
    members: tuple[Member, ...]

    @property
    def name(self) -> str:
        keys = "".join(member.key for member in self.members)
        return f"ember-{hashlib.sha256(keys.encode()).hexdigest()[:32]}"

    def split(self) -> list[Batch]:
        """Each point alone."""
        common = (self.board, self.option, self.measure, self.timeout_s, self.sdk)
        return [Batch(*common, (member,)) for member in self.members]


def sdk_digest() -> str:
    """A hash of what results depend on beside their program: our Python and C."""
    root = paths.root()
    sources = [
        file
        for name in _SOURCES
        for file in kept.below(str(root / name), (".c", ".h", ".S", ".yaml", ".cmake"))
    ]
    return (kept.modules_digest() + kept.digest(root, sources)).hex()[:64]


def loaded(sweep: Sweep) -> list[Board]:
    """The boards of the file. UsageError where one has no emulator."""
    chosen = [boards.load(name) for name in dict.fromkeys(sweep.boards)]
    for board in chosen:
        if board.runner.kind == "none":
            raise UsageError(
                f"the board {board.name} has no emulator, which a sweep needs",
                hint="`ember test --port` runs cases on a real board",
            )
    return chosen


def points(
    sweep: Sweep, chosen: Sequence[Board], programs: Sequence[Found]
) -> list[Point]:
    """In the order of the file: boards, then options, then programs."""
    contents = [content.of(program) for program in programs]
    sdk = sdk_digest()
    return [
        Point(
            _key(case, board, option, sweep, sdk),
            case.location.name,
            board,
            option,
            case,
        )
        for board in chosen
        for option in dict.fromkeys(sweep.options)
        for case in contents
    ]


def _key(
    case: CaseContent, board: Board, option: Option, sweep: Sweep, sdk: str
) -> str:
    names = [case.digest, board.model_dump_json(), option.model_dump_json(), sdk]
    facts = [*names, sweep.measure, sweep.timeout]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def batches(
    given: Sequence[Point], known: Container[str], sweep: Sweep
) -> Iterator[Batch]:
    """What is still to be computed; equal keys once."""
    groups: defaultdict[tuple[str, Option], dict[str, Point]] = defaultdict(dict)
    for point in given:
        if point.key not in known:
            groups[point.board.name, point.option].setdefault(point.key, point)
    sdk = sdk_digest()
    for (_, option), members in groups.items():
        board = next(iter(members.values())).board
        row = [
            Member(point.key, point.program, point.content.digest)
            for point in members.values()
        ]
        for start in range(0, len(row), sweep.batch):
            part = tuple(row[start : start + sweep.batch])
            yield Batch(board, option, sweep.measure, sweep.timeout, sdk, part)
