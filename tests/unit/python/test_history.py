"""`ember history`: runs of sweeps become courses of figures."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from html_pages import needs_nothing

from ember import boards, cli
from ember.cases import Found
from ember.sweep import compared
from ember.sweep.content import CaseContent
from ember.sweep.points import Point
from ember.sweep.results import Results
from ember.sweep.settings import Option
from ember.sweep.work import PointResult

HOST = boards.load("host")


def point(key: str, program: str, content_digest: str | None = None) -> Point:
    content = CaseContent(Found(program, Path(program)), content_digest or key)
    return Point(key, program, HOST, Option(), content)


def result(key: str, **figures: int) -> PointResult:
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
    results = Results(held, new=False)
    rows = results.rows(results.run("tuesday"))
    assert [row.content for row in rows] == ["", "", ""]
    results.begin("wednesday", "s3", "{}", [point("a2", "kws", "m")])
    (row,) = results.rows(results.run("wednesday"))
    assert (row.content, row.result.cycles) == ("m", 1100)
    results.close()


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
    changes = compared.compare(before, after)
    said = [(one.row.program, one.fact, one.is_worse) for one in changes.differences]
    assert said == [("kws", "cycles", True), ("kws", "ram", False)]
    assert (changes.new, changes.gone) == (1, 0)


def test_a_run_that_was_stopped_says_so(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sweep", "report", str(held)]) == 0
    assert "the run was stopped" in capsys.readouterr().out
    assert cli.main(["sweep", "report", str(held), "--name", "sunday"]) == 2
    assert "has no run sunday" in capsys.readouterr().err
