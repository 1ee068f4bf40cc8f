"""`ember history`: runs of sweeps become courses of figures."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from html_pages import Page, needs_nothing

from ember import boards, cli
from ember.cases import Found
from ember.cli.reports import sweeps as sweep_page
from ember.errors import SdkError
from ember.sweep import history
from ember.sweep.points import CaseContent, Point
from ember.sweep.results import PointRow, Results, SweepRun
from ember.sweep.settings import Option
from ember.sweep.work import PointResult

HOST = boards.load("host")


def point(key: str, program: str, content_digest: str | None = None) -> Point:
    content = CaseContent(Found(program, Path(program)), content_digest or key)
    return Point(key, program, HOST, Option(), content)


def result(key: str, **figures: Any) -> PointResult:
    return replace(PointResult(key, "passed", ""), **figures)


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """Two runs: of `kws` the cycles grow, `digits` stays; the second has `new`."""
    path = tmp_path / "sweep.sqlite"
    results = Results(path)
    first = [point("a1", "kws"), point("b", "digits")]
    results.begin("monday", "s1", "{}", first)
    results.add([result("a1", cycles=1000, ram=64), result("b", cycles=7)])
    results.end("monday")
    second = [point("a2", "kws"), point("b", "digits"), point("c", "new")]
    results.begin("tuesday", "s2", "{}", second)
    results.add([result("a2", cycles=1100, ram=32), result("c", cycles=1)])
    results.close()
    return path


def test_what_moved_is_shown(held: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["history", str(held)]) == 0
    out = capsys.readouterr().out
    assert "kws host" in out
    assert "monday" in out
    assert "1,100" in out
    assert "digits" not in out
    assert "2 runs, 3 cases with board; 2 of them never changed" in out


def test_it_says_whether_the_model_or_the_sdk_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sweep.sqlite"
    results = Results(path)
    runs = [("one", "s1", "m1"), ("two", "s1", "m2"), ("three", "s2", "m2")]
    for cycles, (name, sdk, model) in enumerate([*runs, ("four", "s3", "m3")]):
        results.begin(name, sdk, "{}", [point(name, "kws", model)])
        results.add([result(name, cycles=cycles)])
    results.close()
    facts, page = tmp_path / "facts.json", tmp_path / "page.html"
    words = ["history", str(path), "--html", str(page)]
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    said = {
        name: next(line for line in lines if line.startswith(name))
        for name in ("one", "two", "three", "four")
    }
    assert "model" not in said["one"] and "SDK" not in said["one"]
    assert "model" in said["two"] and "SDK" not in said["two"]
    assert "SDK" in said["three"] and "model" not in said["three"]
    assert "model, SDK" in said["four"]
    assert "four (other model and SDK): 3" in page.read_text()
    assert "one: 0" in page.read_text()
    assert cli.main(["history", str(path), "--json", str(facts)]) == 0
    (course,) = json.loads(facts.read_text())["courses"]
    changed = [run["changed"] for run in course["runs"]]
    assert changed == [[], ["model"], ["SDK"], ["model", "SDK"]]


def test_results_of_an_older_ember_are_read(held: Path) -> None:
    with sqlite3.connect(held) as base:
        base.execute("ALTER TABLE members DROP COLUMN content")
        base.execute("PRAGMA user_version = 1")
    base.close()
    results = Results(held)
    rows = results.rows(results.run("tuesday"))
    assert [row.content for row in rows] == ["", "", ""]
    results.begin("wednesday", "s3", "{}", [point("a2", "kws", "m")])
    (row,) = results.rows(results.run("wednesday"))
    assert (row.content, row.result.cycles) == ("m", 1100)
    results.close()


@pytest.mark.parametrize("new", [True, False])
def test_figures_of_all_runs_together_are_dropped(held: Path, *, new: bool) -> None:
    """Version 2 had them where nothing was measured; `new` files are changed."""
    results = Results(held)
    results.add([result("a2", instructions=50, ram=1), result("c", instructions=500)])
    results.close()
    with sqlite3.connect(held) as base:
        base.execute("PRAGMA user_version = 2")
    base.close()
    results = Results(held, new=new)
    rows = {row.program: row.result for row in results.rows(results.run("tuesday"))}
    assert (rows["kws"].instructions, rows["new"].instructions) == (50, None)
    results.close()
    results = Results(held)
    results.add([result("c", instructions=100)])
    rows = {row.program: row.result for row in results.rows(results.run("tuesday"))}
    assert rows["new"].instructions == 100
    results.close()


@pytest.mark.parametrize(
    ("more", "heading", "bars"),
    [
        ({}, "Instructions of one execution, of the program as it was exported", 2),
        ({"ram": 64}, "Instructions of one execution, as `ember build` makes", 1),
        ({"ram": 1, "cycles": 9}, "Cycles of one execution, as `ember build` makes", 1),
    ],
)
def test_a_page_says_what_was_executed(
    tmp_path: Path, more: dict[str, int], heading: str, bars: int
) -> None:
    run = SweepRun("monday", 0.0, 1.0, "1", "s1")
    results = [result("a", instructions=50, **more), result("b", instructions=70)]
    rows = [PointRow(executed.key, "host", "", "", executed) for executed in results]
    sweep_page.write_sweep(tmp_path / "page.html", run, rows, None, None)
    page = Page((tmp_path / "page.html").read_text())
    assert heading in page.text
    drawn = [given for _, given in page.elements if given.get("class") == "bar"]
    assert len(drawn) == bars


def test_patterns_choose(held: Path, tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    words = ["history", str(held), "--program", "d*", "--all", "--json", str(facts)]
    assert cli.main(words) == 0
    (course,) = json.loads(facts.read_text())["courses"]
    assert course["name"] == "digits"
    assert [run["cycles"] for run in course["runs"]] == [7, 7]


def test_the_page_has_a_plot_of_each_figure(held: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert cli.main(["history", str(held), "--html", str(page)]) == 0
    text = page.read_text()
    assert text.count("<svg") == 2  # cycles and RAM of kws
    assert "cycles: 1,000 → 1,100" in text
    assert needs_nothing(text)


def test_nothing_is_wanted(held: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["history", str(held), "--board", "mps*"]) == 1
    assert "no results of such programs and boards" in capsys.readouterr().err


def test_runs_are_compared(held: Path) -> None:
    results = Results(held, new=False)
    before = results.rows(results.run("monday"))
    after = results.rows(results.run("tuesday"))
    assert results.run(None).name == "tuesday"
    changes = history.compare(before, after)
    said = [
        (difference.row.program, difference.fact, difference.is_worse)
        for difference in changes.differences
    ]
    assert said == [("kws", "cycles", True), ("kws", "ram", False)]
    assert (changes.new, changes.gone) == (1, 0)


def test_a_run_that_was_stopped_says_so(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sweep", "report", str(held)]) == 0
    assert "the run was stopped" in capsys.readouterr().out
    assert cli.main(["sweep", "report", str(held), "--name", "sunday"]) == 2
    assert "has no run sunday" in capsys.readouterr().err


# ---- files of somebody else ----------------------------------------------------------

_RECURSIVE = """
CREATE VIEW {0} AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
SELECT 'a' AS name, x AS began, x AS ended, '' AS version, '' AS sdk FROM n;
"""
HOSTILE = {
    "an endless view": (
        f"DROP TABLE runs; {_RECURSIVE.format('runs')}", "other tables"
    ),
    "a view in capitals": (
        f"DROP TABLE runs; {_RECURSIVE.format('RUNS')}", "other tables"
    ),
    "a virtual table": (
        "DROP TABLE runs; CREATE VIRTUAL TABLE runs USING"
        " fts5(name, began, ended, version, sdk, settings)", "other tables"
    ),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM points; END",
        "other tables",
    ),
    "computed columns": (
        "ALTER TABLE runs RENAME TO old; CREATE TABLE runs (name, began, ended,"
        " version, sdk AS (hex(zeroblob(1000000))), settings);", "are computed"
    ),
    "no column": ("ALTER TABLE runs DROP COLUMN sdk", "no such column"),
    "text as a time": ("UPDATE runs SET began = 'x'", "not of its column's type"),
    "no year": ("UPDATE runs SET began = 1e300", "of no year"),
    "an endless year": ("UPDATE runs SET ended = 9e999", "of no year"),
    "bytes as a name": (
        "UPDATE runs SET name = x'41' WHERE name = 'monday'", "column's"
    ),
    "no text": ("UPDATE runs SET version = CAST(x'ff' AS TEXT)", "UTF-8"),
    "a number as a program": ("UPDATE members SET program = x'00'", "type"),
    "text as cycles": ("UPDATE points SET cycles = 'many'", "column's type"),
    "bytes as cycles": ("UPDATE points SET ram = x'00'", "column's type"),
    "no seconds": ("UPDATE points SET seconds = NULL", "column's type"),
    "no such status": ("UPDATE points SET status = '[/]'", "another status"),
    "a text of any length": (
        "UPDATE points SET message = hex(zeroblob(9000000))", "too big"
    ),
    "a text in every row": (
        "UPDATE points SET message = hex(zeroblob(5000000));"
        "WITH RECURSIVE n(x) AS (SELECT 9 UNION ALL SELECT x + 1 FROM n WHERE x < 99)"
        " INSERT INTO members SELECT 'monday', x, 'a1', 'p', 'b', 'o', '' FROM n",
        "repeat too often",
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", [["history"], ["sweep", "report"]])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_of_somebody_else_is_refused(
    kind: str, words: list[str], held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, said = HOSTILE[kind]
    base = sqlite3.connect(held)
    base.executescript(script)
    base.close()
    before = held.read_bytes()
    run = ["--name", "monday"] if words[0] == "sweep" else []
    assert cli.main([*words, str(held), *run]) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert "bug in Ember" not in told
    assert len(told.strip().splitlines()) <= 2
    assert held.read_bytes() == before


def test_steps_end_what_a_file_does_not_explain(
    held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pages of a file that are their own children would have it."""
    monkeypatch.setattr("ember.sweep.results._STEPS", 10)
    monkeypatch.setattr("ember.sweep.results._STEPS_OF_BYTE", 0)
    results = Results(held, new=False)
    with pytest.raises(SdkError, match="takes too long for its size"):
        results.runs()
    results.close()


def test_results_are_read_where_nothing_can_be_written(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read-only, also of version 1, which a sweep would change."""
    base = sqlite3.connect(held)
    base.executescript(
        "ALTER TABLE members DROP COLUMN content; PRAGMA user_version = 1;"
    )
    base.close()
    before = held.read_bytes()
    assert cli.main(["history", str(held), "--all"]) == 0
    assert "digits" in capsys.readouterr().out
    assert held.read_bytes() == before
    with pytest.raises(SdkError, match="cannot write"):
        Results(held, new=False).end("monday")


def test_names_with_markup_are_only_names(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = sqlite3.connect(held)
    base.executescript(
        "UPDATE members SET board = '[/x]', program = '[red]' || program;"
        "UPDATE runs SET version = '[/y]'; UPDATE points SET outputs = '[/z]' || key"
    )
    base.close()
    assert cli.main(["history", str(held)]) == 0
    words = ["sweep", "report", str(held), "--name", "tuesday", "--baseline", "monday"]
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("[/x]", "[red]kws", "[/y]", "[/z]a1"))
