"""Parts of all cases, for several machines."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from ember import cli, paths
from ember.cases import Found, picked
from ember.errors import SdkError, UsageError

CASES = [Found(f"case{index}", Path(f"case{index}")) for index in range(23)]


@pytest.mark.parametrize("parts", [1, 2, 8, 23, 40])
def test_every_case_is_in_one_part(parts: int) -> None:
    shares = [picked.part_of(CASES, part + 1, parts, {}) for part in range(parts)]
    names = [case.name for each in shares for case in each]
    assert sorted(names) == sorted(case.name for case in CASES)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_parts_take_the_same_time() -> None:
    known = {f"case{index}": 1_000_000.0 * index for index in range(23)}
    sums = [
        sum(known.get(case.name, 0) for case in picked.part_of(CASES, part, 4, known))
        for part in (1, 2, 3, 4)
    ]
    assert max(sums) < 1.2 * min(sums)


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "a/b", "1/0", "-1/2", ""])
def test_what_is_no_part(text: str) -> None:
    with pytest.raises(UsageError, match="such as 3/8"):
        picked.parse_part(text)


def test_costs_of_an_earlier_run(tmp_path: Path) -> None:
    path = tmp_path / "earlier.json"
    rows = [
        {"name": "a", "instructions": 5},
        {"name": "a", "instructions": 7},
        {"name": "b", "instructions": None},
    ]
    path.write_text(json.dumps({"cases": rows}))
    assert picked.costs(path) == {"a": 12, "b": 0}
    path.write_text("{}")
    with pytest.raises(SdkError, match="has no results of cases"):
        picked.costs(path)


@pytest.mark.slow
def test_reports_of_parts_are_one_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["test", str(paths.root() / "tests/cases"), "-k", "op_add or op_abs"]
    words += ["--board", "host"]
    assert cli.main([*words, "--json", "all.json"]) == 0
    names: list[str] = []
    for part in ("1/2", "2/2"):
        more = ["--shard", part, "--durations", "all.json", "--junit", "part.xml"]
        assert cli.main([*words, *more]) == 0
        elements = ET.parse("part.xml").iter("testcase")
        names += [element.attrib["name"] for element in elements]
    every = json.loads(Path("all.json").read_text())["cases"]
    assert sorted(names) == sorted(case["name"] for case in every)


def test_durations_without_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["test", str(paths.root() / "tests/cases/op_add.bpte"), "--board", "host"]
    assert cli.main([*words, "--durations", "x.json"]) == 2
    assert "--durations needs --shard" in capsys.readouterr().err


def test_the_workflow_has_options_that_exist() -> None:
    text = (paths.root() / "examples/ci/ember.yml").read_text()
    command = yaml.safe_load(text)["jobs"]["boards"]["steps"][-3]["run"]
    shown = (paths.root() / "docs/cli.md").read_text()
    options = [word for word in command.split() if word.startswith("--")]
    assert len(options) > 5
    assert [word for word in options if f"`{word} " not in shown] == []
