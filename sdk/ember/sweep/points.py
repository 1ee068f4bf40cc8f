"""Programs, boards and options become points, each with a key; points become batches.

The files of a program travel to workers once, under their hash.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember import boards, files, kept, paths
from ember.boards import Board
from ember.cases import BUNDLE, CASE_FILE, MODEL, Found
from ember.errors import SdkError, UsageError
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
    """Points of one board and option, which share one start of an emulator."""

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

    def split(self, most: int) -> list[Batch]:
        """The points in order, in batches of at most `most`."""
        return [
            replace(self, members=self.members[start : start + most])
            for start in range(0, len(self.members), most)
        ]


def sdk_digest() -> str:
    """A hash of what results depend on besides the program: our Python and C."""
    root = paths.root()
    sources = [
        file
        for name in _SOURCES
        for file in kept.below(str(root / name), (".c", ".h", ".S", ".yaml", ".cmake"))
    ]
    return (kept.modules_digest() + kept.digest(root, sources)).hex()[:64]


def loaded(sweep: Sweep) -> list[Board]:
    """The boards of the file. Raises UsageError if one has no emulator."""
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
    """All points in the order of the file: by board, then option, then program."""
    contents = [content_of(program) for program in programs]
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
    """The points that still have to be computed, each key once."""
    groups: defaultdict[tuple[str, Option], dict[str, Point]] = defaultdict(dict)
    for point in given:
        if point.key not in known:
            groups[point.board.name, point.option].setdefault(point.key, point)
    sdk = sdk_digest()
    for (_, option), members in groups.items():
        board = next(iter(members.values())).board
        row = tuple(
            Member(point.key, point.program, point.content.digest)
            for point in members.values()
        )
        whole = Batch(board, option, sweep.measure, sweep.timeout, sdk, row)
        yield from whole.split(sweep.batch)


# ---- the files of a case -------------------------------------------------------------


_KINDS = (".npy", ".ptd")
_NAMES = (CASE_FILE, MODEL, BUNDLE)
_LEAST_DATE = (1980, 1, 1, 0, 0, 0)  # of a ZIP; the same bytes whenever it is made


@dataclass(frozen=True)
class CaseContent:
    """The files of a case; `digest` is the same for equal files."""

    location: Found
    digest: str

    def packed(self) -> bytes:
        """The files of the case now. Raises SdkError if they have changed."""
        held = _files(self.location)
        if _digest_of(held) != self.digest:
            raise SdkError(f"{self.location.path} changed during the sweep")
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in held.items():
                archive.writestr(zipfile.ZipInfo(name, _LEAST_DATE), content)
        return stream.getvalue()


def content_of(location: Found) -> CaseContent:
    return CaseContent(location, _digest_of(_files(location)))


def _files(location: Found) -> dict[str, bytes]:
    if location.path.is_file():
        return {BUNDLE: files.read(location.path)}
    return {
        path.name: files.read(path)
        for path in sorted(location.path.iterdir())
        if path.name in _NAMES or path.suffix in _KINDS
    }


def _digest_of(held: dict[str, bytes]) -> str:
    hashed = hashlib.sha256()
    for name, content in held.items():
        hashed.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return hashed.hexdigest()


def unpacked(digest: str, fetch: Callable[[], bytes]) -> Path:
    """The folder of a case in the cache; `fetch` gets the files if they are not there.

    Raises SdkError if the files are damaged.
    """
    top = paths.cache() / "sweep"
    place = top / digest
    if place.is_dir():
        return place
    paths.writable_folder(top)
    aside = Path(tempfile.mkdtemp(prefix=f"{digest}.", dir=top))
    try:
        _write(fetch(), aside)
        location = Found(digest, aside)
        if _digest_of(_files(location)) != digest:
            raise SdkError(f"the contents of case {digest[:16]} came damaged")
        _keep(aside, place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return place


def _write(packed: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in archive.namelist():
            (folder / Path(name).name).write_bytes(archive.read(name))


def _keep(aside: Path, place: Path) -> None:
    try:
        os.rename(aside, place)  # noqa: PTH104 - as Path.rename does
    except OSError:
        if not place.is_dir():  # else another process was faster
            raise
