"""The command line: exit statuses, one error boundary, `ember inspect`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from committed_cases import path_of

from ember import cli, output
from ember.errors import SdkError, UsageError

# For processes of their own, where Ember may not be installed.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2])}


def fake(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """A verb `fail` that raises."""

    def command() -> None:
        raise error

    module = types.ModuleType("ember.cli.fail")
    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(cli.VERBS, "fail", "Fail.")
    monkeypatch.setitem(sys.modules, "ember.cli.fail", module)


def test_sdk_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, SdkError("the thing broke", "mend it"))
    assert cli.main(["fail"]) == 1
    assert capsys.readouterr().err == "ember fail: the thing broke\n  hint: mend it\n"


def test_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, UsageError("no such board"))
    assert cli.main(["fail"]) == 2


def test_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, KeyboardInterrupt())
    assert cli.main(["fail"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_bug_keeps_its_traceback_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, ZeroDivisionError("division by zero"))
    assert cli.main(["fail"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "ZeroDivisionError: division by zero" in said
    kept = Path(said.split("traceback in ")[1].strip())
    assert "ZeroDivisionError" in kept.read_text()
    kept.unlink()


@pytest.mark.parametrize(
    "words", [["nothing"], ["--nothing"], ["inspect"], ["inspect", "--nothing"]]
)
def test_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    assert "--help" in capsys.readouterr().err


def test_every_verb_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    listed = capsys.readouterr().out
    for verb in cli.VERBS:
        assert verb in listed
        assert cli.main([verb, "--help"]) == 0
        assert "--help" in capsys.readouterr().out


def test_help_at_60_columns_cuts_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for verb in cli.VERBS:
        assert cli.main([verb, "--help"]) == 0
        shown = capsys.readouterr().out
        assert "\u2026" not in shown, verb
        assert max(map(len, shown.splitlines())) <= 60, verb


def test_options_of_tests_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["test", "--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("Which cases", "How they run", "Real boards", "Baselines and reports"):
        assert f"\u2500 {name} \u2500" in shown


@pytest.mark.parametrize(
    ("words", "place", "completed"),
    [
        ("ember te", 1, ["test"]),
        ("ember test --board mps3", 3, ["mps3-an547"]),
        ("ember run m.pte --det", 3, ["--details"]),
        ("ember nothing --bo", 2, []),
    ],
)
def test_shells_complete(
    words: str, place: int, completed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"_EMBER_COMPLETE": "complete_bash", "COMP_WORDS": words}
    done = subprocess.run(
        [sys.executable, "-m", "ember"],
        env=os.environ | asked | {"COMP_CWORD": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == completed
    assert "bug in Ember" not in done.stderr


def test_doctor_is_named_where_a_tool_is_missing(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert cli.main(["build", str(data / "add.pte"), "--board", "mps2-an386"]) == 1
    error = capsys.readouterr().err
    assert "install it: apt-get install" in error
    assert "; `ember doctor` lists what else is missing" in error
    assert cli.main(["build", "nowhere.pte", "--board", "host"]) != 0
    assert "ember doctor" not in capsys.readouterr().err


def test_a_table_without_room_loses_nothing() -> None:
    console = output.console()
    console.width, console.file = 30, io.StringIO()
    assert isinstance(console.file, io.StringIO)
    table = output.table("a long name", ">instructions", ">cycles", ">bytes")
    table.add_row("x" * 40, "123,456,789", "987,654,321", "111,222,333")
    console.print(table)
    shown = console.file.getvalue()
    assert "\u2026" not in shown
    for text in ("instructions", "123,456,789", "987,654,321", "111,222,333"):
        assert text in shown
    assert console.width == 30


def test_no_odd_texts(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ember.cli.reports import builds

    assert cli.main(["inspect", str(data / "mlp.pte")]) == 0
    assert "0 of them" not in capsys.readouterr().out
    same = {"name": "weights", "status": "used", "planned": 0}
    builds.show_passes(output.console(), [same | {"constants": 0, "instructions": 0}])
    assert capsys.readouterr().out == "pass weights: sizes unchanged\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ember ")


def need_tables(shown: str) -> None:
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "method " in shown
    assert "constants" in shown


@pytest.mark.long
@pytest.mark.parametrize("values", [[], ["--values"]])
def test_inspect_shows_every_program(
    program_file: Path, values: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["inspect", str(program_file), *values]) == 0
    need_tables(capsys.readouterr().out)


def test_inspect_shows_one_program_of_four(
    programs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(programs) > 450
    for path in programs[::4]:
        assert cli.main(["inspect", str(path), "--values"]) == 0, path
        need_tables(capsys.readouterr().out)


def test_inspect_shows_the_program_of_a_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (("op_add", "aten::add.out"), ("special_ptd", "model.bpte")):
        assert cli.main(["inspect", str(path_of(name))]) == 0
        assert said in capsys.readouterr().out
    assert cli.main(["inspect", str(tmp_path)]) == 1
    assert "has no program" in capsys.readouterr().err


def test_inspect_shows_bundles_and_data(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["inspect", str(data / "bundle.bpte")]) == 0
    assert "expected outputs" in capsys.readouterr().out
    assert cli.main(["inspect", str(data / "external.ptd")]) == 0
    assert "layers.0.weight" in capsys.readouterr().out


def facts(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    assert cli.main(["inspect", str(path), "--json", "-", *more]) == 0
    report = json.loads(capsys.readouterr().out)
    assert isinstance(report, dict)
    return report


def test_inspect_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = facts(data / "conv.pte", capsys)
    (method,) = report["methods"]
    assert method["inputs"][0]["shape"] == [1, 2, 5, 5]
    assert method["inputs"][0]["dim_order"] == [0, 2, 3, 1]
    assert {"name": "aten::cat.out", "calls": 1, "dtypes": ["float32"]} in method[
        "operators"
    ]
    assert report["constants"]["unused_bytes"] == 8
    assert report["segments"][0]["use"] == "constants"
    dynamic = facts(data / "dynamic.pte", capsys)["methods"][0]["inputs"][0]
    assert dynamic["dynamism"] == "bounded"
    delegate = facts(data / "delegate_inline.pte", capsys)["methods"][0]["delegates"][0]
    assert (delegate["id"], delegate["location"]) == ("XnnpackBackend", "inline")
    assert len(facts(data / "delegate.pte", capsys)["named_data"]) == 4


def test_inspect_one_method(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = facts(data / "methods.pte", capsys, "--method", "add", "--values")
    assert [method["name"] for method in report["methods"]] == ["add"]
    assert len(report["methods"][0]["values"]) == report["methods"][0]["value_count"]
    assert report["constants"]["unused_count"] == 0
    assert cli.main(["inspect", str(data / "methods.pte"), "--method", "ad"]) == 1
    assert "did you mean 'add'" in capsys.readouterr().err


def test_inspect_writes_json_files(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "facts.json"
    assert cli.main(["inspect", str(data / "add.pte"), "--json", str(target)]) == 0
    assert json.loads(target.read_text())["kind"] == "program"
    assert "method forward" in capsys.readouterr().out
    nowhere = str(tmp_path / "none" / "facts.json")
    assert cli.main(["inspect", str(data / "add.pte"), "--json", nowhere]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(data: Path) -> None:
    line = f"{sys.executable} -m ember inspect {data / 'trace.pte'} --values | head -1"
    done = subprocess.run(
        line, shell=True, check=False, capture_output=True, text=True, env=ENVIRONMENT
    )
    assert done.stderr == ""


def test_the_sdk_imports_no_torch(data: Path) -> None:
    code = (
        "import sys; from ember.cli import main;"
        f"main(['inspect', {str(data / 'add.pte')!r}]);"
        "assert not {'torch', 'executorch'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
