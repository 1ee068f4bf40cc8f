"""`ember test`: starts, faults, time-outs, reports, with a script for a runner."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from committed_cases import path_of

from ember import boards, cases, cli
from ember.cases import picked
from ember.errors import UsageError
from ember.firmware import runner
from ember.select.rules import Rules

# Speaks the protocol of runtime_c/app/batch.h; does with each case what the next word
# of plan.json says.
SCRIPT = """#!{python}
import json, pathlib, struct, sys
plan_file = pathlib.Path(__file__).with_name("plan.json")
starts = pathlib.Path(__file__).with_name("starts")
starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
data = pathlib.Path(sys.argv[1]).read_bytes()
out = open(sys.argv[2], "wb", buffering=0)

def record(kind, body):
    out.write(struct.pack("<II", kind, len(body)) + body)

def result(index, status=0, stage=6, needed=2**64 - 1, message=b""):
    head = struct.pack("<IiIIII6Q", index, status, stage, 0, 0, len(message), needed,
                       0, 0, 0, 0, 7)
    record(6, head + message + bytes(-len(message) % 4))

at, index = 0, 0
while True:
    kind, length = struct.unpack_from("<II", data, at)
    at += 8 + length
    if kind == 1:
        record(1, struct.pack("<IIQ", 5, 8, 1000))
    if kind == 4:
        record(4, struct.pack("<QQ", 0, 0))
        break
    if kind != 2:
        continue
    plan = json.loads(plan_file.read_text())
    word = plan.pop(0)
    plan_file.write_text(json.dumps(plan))
    if word == "fault":
        print("EMBER PANIC out of ideas", flush=True)
        sys.exit(113)
    while word == "hang":
        pass
    if word == "stop":
        sys.exit(0)
    if word == "room":
        result(index, -3, 0, 5000, b"no room")
    elif word == "refuse":
        result(index, -1, 4, message=b"cannot do that")
    else:
        record(5, struct.pack("<IIiI", index, 0, 0, 0))
        out.write(struct.pack("<4sI", b"EMV1", 1))
        numbers = [2.0] * 6 if word == "ok" else [2.0] * 5 + [2.5]
        out.write(struct.pack("<6I6f", 5, 6, 2, 24, 2, 3, *numbers))
        result(index)
    index += 1
"""


class Bench:
    """A folder of cases, and the runner that does with them as planned."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder = folder
        self.model = model
        self.script = folder / "runner.py"
        self.script.write_text(SCRIPT.replace("{python}", sys.executable))
        self.script.chmod(self.script.stat().st_mode | stat.S_IXUSR)

    def plan(self, *words: str) -> None:
        """Cases c0, c1, .. of which the runner does what `words` say."""
        (self.folder / "plan.json").write_text(json.dumps(words))
        for index in range(len(words)):
            self.case(f"c{index}")

    def case(self, name: str) -> Path:
        place = self.folder / "cases" / name
        place.mkdir(parents=True)
        shutil.copy(self.model, place / "model.pte")
        np.save(place / "x.npy", np.ones((2, 3), "float32"))
        np.save(place / "y.npy", np.full((2, 3), 2, "float32"))
        run = {"inputs": ["x.npy", "x.npy"], "outputs": ["y.npy"]}
        (place / "case.json").write_text(json.dumps({"runs": [run]}))
        return place

    def test(self, *options: str) -> int:
        words = ["test", str(self.folder / "cases"), "--board", "host", *options]
        return cli.main(words)

    @property
    def starts(self) -> int:
        return len((self.folder / "starts").read_text())


@pytest.fixture
def bench(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    fake = Bench(tmp_path, data / "add.pte")
    monkeypatch.setattr(runner, "for_programs", lambda board, *_: fake.script)
    return fake


def results(bench: Bench, *options: str) -> dict[str, dict[str, object]]:
    path = bench.folder / "out.json"
    bench.test("--json", str(path), *options)
    return {case["name"]: case for case in json.loads(path.read_text())["cases"]}


def test_all_cases_take_one_start(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.plan("ok", "ok", "ok")
    assert bench.test() == 0
    assert bench.starts == 1
    out = capsys.readouterr().out
    assert "passed host c1" in out
    assert "3 passed, 0 failed, 0 errors in" in out


def test_a_difference_fails_with_the_command_that_runs_it_again(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.plan("ok", "wrong")
    assert bench.test() == 1
    out = capsys.readouterr().out
    assert "failed host c1: output 0 differs at [1, 2]: 2.5, expected 2" in out
    assert f"ember test {bench.folder / 'cases' / 'c1'} --board host" in out


def test_a_fault_ends_one_case_and_not_the_others(bench: Bench) -> None:
    bench.plan("ok", "fault", "ok", "stop", "ok")
    by_name = results(bench)
    assert [case["status"] for case in by_name.values()] == [
        "passed",
        "error",
        "passed",
        "error",
        "passed",
    ]
    assert "panic: out of ideas" in str(by_name["c1"]["message"])
    assert "ended during the case" in str(by_name["c3"]["message"])
    assert bench.starts == 3


def test_a_case_that_hangs_is_timed_out(bench: Bench) -> None:
    bench.plan("ok", "hang", "ok")
    by_name = results(bench, "--timeout", "1")
    assert by_name["c1"]["message"] == "time-out: the case was still running after 1 s"
    assert by_name["c2"]["status"] == "passed"


def test_a_case_that_does_not_fit_says_the_bytes(bench: Bench) -> None:
    bench.plan("room")
    by_name = results(bench)
    assert by_name["c0"]["status"] == "error"
    assert by_name["c0"]["message"] == (
        "does not fit host: needs 5,000 bytes of memory, has 1,000"
    )


def test_a_refused_case_says_where(bench: Bench) -> None:
    bench.plan("refuse")
    assert results(bench)["c0"]["message"] == (
        "executing forward, instruction 0 (aten::add.out): cannot do that"
    )


def test_a_broken_folder_is_an_error_among_others(bench: Bench) -> None:
    bench.plan("ok", "ok")
    (bench.folder / "cases" / "c0" / "x.npy").unlink()
    by_name = results(bench)
    assert by_name["c0"]["status"] == "error"
    assert "x.npy is missing" in str(by_name["c0"]["message"])
    assert by_name["c1"]["status"] == "passed"


def test_json_has_the_promised_keys(bench: Bench) -> None:
    bench.plan("ok", "wrong", "refuse")
    path = bench.folder / "out.json"
    assert bench.test("--json", str(path)) == 1
    data = json.loads(path.read_text())
    assert data["summary"] == {"passed": 1, "failed": 1, "error": 1}
    assert data["seconds"] > 0
    assert data["cases"][1] == {
        "name": "c1",
        "board": "host",
        "status": "failed",
        "message": "output 0 differs at [1, 2]: 2.5, expected 2; "
        "1 of 6 elements differ",
        "max_abs_diff": 0.5,
        "instructions": None,
        "work": 7,
    }


def test_json_on_stdout_is_alone(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.plan("ok")
    assert bench.test("--json", "-") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["summary"]["passed"] == 1
    assert "passed host c0" in captured.err


def test_junit_counts_and_names(bench: Bench) -> None:
    bench.plan("ok", "wrong", "refuse")
    path = bench.folder / "junit.xml"
    bench.test("--junit", str(path))
    (suite,) = ET.fromstring(path.read_bytes())
    assert suite.attrib["name"] == "host"
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "1")
    good, bad, error = suite
    assert (good.attrib["name"], len(good)) == ("c0", 0)
    assert bad[0].tag == "failure"
    assert error[0].tag == "error"
    assert "--board host" in (error[0].text or "")


def test_rules_of_a_project_are_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = path_of("op_add")
    read_cases = [cases.read(path) for path in cases.find([case])]
    m55 = boards.load("mps3-an547")
    programs = [read_case.program for read_case in read_cases]
    free, _ = runner.needs(programs, m55, Rules())
    assert "add_f32_mve" in free["aten::add.out"]
    bound, _ = runner.needs(programs, m55, Rules(forbid=("mve",)))
    assert bound["aten::add.out"] == tuple(
        kernel for kernel in free["aten::add.out"] if not kernel.endswith("_mve")
    )
    pinned, _ = runner.needs(programs, m55, Rules(pins={"aten::add.out": "add"}))
    assert pinned["aten::add.out"] == ("add",)
    project = tmp_path / "ember.yaml"
    project.write_text("pin: {aten::add.out: sub, a/forward/0: add}\n")
    words = ["test", str(case), "--board", "host", "--project", str(project)]
    assert cli.main(words) == 1
    said = capsys.readouterr()
    assert "aten::add.out is pinned to sub" in said.err
    assert "pins of single calls are ignored here" in said.out


def test_k_chooses_by_name(bench: Bench) -> None:
    bench.plan("ok", "ok")
    assert list(results(bench, "-k", "c1 or nothing")) == ["c1"]
    assert bench.test("-k", "nothing") == 2


@pytest.mark.parametrize(
    "options", [("--board", "hots"), ("-k", "c0 and"), ("--jobs", "0")]
)
def test_wrong_usage(bench: Bench, options: tuple[str, ...]) -> None:
    bench.plan("ok")
    assert bench.test(*options) != 0


@pytest.mark.parametrize(
    ("expression", "matching"),
    [
        ("", {"add_f32", "add_bf16", "mul_f32"}),
        ("add", {"add_f32", "add_bf16"}),
        ("ADD and not bf16", {"add_f32"}),
        ("mul or bf16", {"mul_f32", "add_bf16"}),
        ("not (mul or bf16)", {"add_f32"}),
        ("not not mul", {"mul_f32"}),
    ],
)
def test_expressions(expression: str, matching: set[str]) -> None:
    wanted: Callable[[str], bool] = picked.parse_filter(expression)
    names = {"add_f32", "add_bf16", "mul_f32"}
    assert {name for name in names if wanted(name)} == matching


@pytest.mark.parametrize("expression", ["and", "a b", "(a", "a)", "not", "a or"])
def test_broken_expressions(expression: str) -> None:
    with pytest.raises(UsageError, match="is not a valid expression"):
        picked.parse_filter(expression)
