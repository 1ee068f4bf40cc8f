"""Random graphs of a sweep: what is in the cache, what is missing, what is shrunk."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import committed
import pytest

from ember import boards, cli
from ember.errors import SdkError
from ember.sweep import cluster, runs, settings, sources
from ember.sweep.points import Point
from ember.sweep.results import PointRow
from ember.sweep.runs import Planned
from ember.sweep.settings import Graphs, Option, Sweep
from ember.sweep.sources import Mismatch, Seed
from ember.sweep.work import PointResult

CASE = "call_add_f16_f32"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of kept graphs, in a place without PyTorch."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(sources, "_folder", lambda: folder)
    monkeypatch.setattr(sources, "_PACKAGES", ("no_torch", "no_executorch"))
    return folder


def test_kept_graphs_need_no_pytorch(kept: Path) -> None:
    committed.copied(CASE, kept / "core_000003")
    (kept / "core_000004.refused").write_text("why")
    exported = sources.exported(sources.seeds(Graphs(seeds="3..5")), 1)
    assert [case.name for case in exported.cases] == ["core_000003"]
    assert exported.refused == 1


def test_what_is_missing_needs_pytorch(kept: Path) -> None:
    with pytest.raises(SdkError, match="no_torch and no_executorch") as bad:
        sources.exported([Seed("core", 1)], 1)
    assert bad.value.hint is not None and "pip install" in bad.value.hint
    assert not list(kept.iterdir())


def test_the_message_is_one_sentence(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text("graphs: {seeds: 0..2}\nboards: [host]\n")
    assert cli.main(["sweep", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ember sweep: graphs are exported by PyTorch")
    assert len(error.splitlines()) == 2  # and the hint
    assert not (tmp_path / "sweep.sqlite").exists()


def test_families_are_multiplied_by_seeds() -> None:
    graphs = Graphs(seeds="7..9", families=("core", "xnnpack", "core"))
    assert [seed.name for seed in sources.seeds(graphs)] == [
        *("core_000007", "core_000008", "xnnpack_000007", "xnnpack_000008")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{seeds: 5..5}", "graphs.seeds: give FIRST..END"),
        ("{seeds: 7}", "graphs.seeds"),
        ("{seeds: -1..5}", "graphs.seeds: give FIRST..END"),
        ("{}", "graphs.seeds: Field required"),
        (
            "{seeds: 0..2, families: [int3]}",
            "graphs.families.0: Input should be",
        ),
        ("{seeds: 0..2, families: []}", "graphs.families"),
        ("{seeds: 0..2, count: 3}", "graphs.count: unknown key"),
    ],
)
def test_what_is_wrong_with_graphs(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(f"graphs: {text}\nboards: [host]\n")
    with pytest.raises(SdkError) as bad:
        settings.read(path)
    assert said in bad.value.what


def test_a_wrong_board_is_told_before_anything_is_exported(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text("graphs: {seeds: 0..2}\nboards: [nowhere]\n")
    assert cli.main(["sweep", str(path)]) != 0
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.slow
def test_a_sweep_of_kept_graphs(kept: Path, tmp_path: Path) -> None:
    for seed in range(3):
        committed.copied(CASE, kept / f"core_{seed:06}")
    path = tmp_path / "sweep.yaml"
    path.write_text("graphs: {seeds: 0..3}\nboards: [host]\n")
    facts = tmp_path / "facts.json"
    words = ["sweep", str(path), "--workers", "1", "--json", str(facts)]
    assert cli.main(words) == 0
    assert json.loads(facts.read_text())["summary"] == {
        "passed": 3,
        "failed": 0,
        "error": 0,
    }


def test_each_graph_that_differs_is_shrunk_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the first board where it differs; at most ten."""
    chosen = Sweep(graphs=Graphs(seeds="0..13"), boards=("host", "host-asan"))
    pair = [boards.load(name) for name in chosen.boards]
    names = [seed.name for seed in sources.seeds(chosen.graphs or Graphs(seeds="0..1"))]
    points: list[Any] = [
        Point(name + board.name, name, board, Option(), None)  # type: ignore[arg-type]
        for board in pair
        for name in names
    ]
    rows = [
        PointRow(
            point.program,
            point.board.name,
            point.option.text,
            "",
            PointResult(
                point.key,
                "passed" if point.program == "core_000000" else "failed",
                "",
            ),
        )
        for point in points
        if (point.program, point.board.name) != ("core_000001", "host")
    ]
    seen: list[Mismatch] = []

    def pretended(tasks: list[Mismatch], workers: int | None) -> Iterator[Any]:
        seen.extend(tasks)
        return ((task, "v1 = torch.sin(v0)\nreturn v1\n") for task in tasks)

    monkeypatch.setattr(sources, "shrunk", pretended)
    plan = Planned(chosen, tuple(points))
    said = list(runs.shrunk(plan, rows, tmp_path, 1))
    shrunk = {mismatch.seed.name: mismatch.board.name for mismatch in seen}
    assert len(seen) == len(shrunk) == 10
    assert "core_000000" not in shrunk
    assert set(shrunk.values()) == {"host"} or shrunk.get("core_000001") == "host-asan"
    assert said[1:3] == ["v1 = torch.sin(v0)", "return v1"]
    assert said[-1] == "2 graphs more differ and were not shrunk"


def test_a_board_without_its_tools_ends_no_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ran elsewhere would be told to nobody."""

    def smallest(*_: object) -> str:
        raise SdkError("Hexagon needs a library")

    shrink = SimpleNamespace(smallest=smallest)
    monkeypatch.setitem(sys.modules, "ember.sweep.graphs.exported", shrink)
    monkeypatch.setattr("ember.sweep.graphs.exported", shrink, raising=False)
    wrong = Mismatch(Seed("core", 1), boards.load("host"), Option(), None, tmp_path)
    assert sources._shrink(wrong) == (wrong, "not shrunk: Hexagon needs a library")


def test_a_case_is_offered_to_the_scheduler_once() -> None:
    """Of many batches with the same cases."""
    asked: list[list[str]] = []
    put: list[str] = []

    class Client:
        scheduler = SimpleNamespace(ember_missing="missing", ember_put="put")

        def sync(self, function: str, **facts: Any) -> list[str]:
            if function == "missing":
                asked.append(facts["digests"])
                return list(facts["digests"])
            put.append(facts["digest"])
            return []

    def batch(*digests: str) -> Any:
        return SimpleNamespace(
            members=[SimpleNamespace(digest=digest) for digest in digests]
        )

    contents: Any = defaultdict(lambda: SimpleNamespace(packed=lambda: b""))
    sent: set[str] = set()
    for given in (batch("a", "b"), batch("a"), batch("b", "c")):
        cluster._send(Client(), [given], contents, sent)
    assert asked == [["a", "b"], ["c"]]
    assert put == ["a", "b", "c"]
