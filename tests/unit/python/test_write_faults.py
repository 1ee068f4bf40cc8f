"""Commands whose writes fail, each once: a sentence, nothing half-written, and the next
run does it all."""

from __future__ import annotations

import shutil
from pathlib import Path

import committed
import numpy as np
import pytest
import write_faults
from committed_cases import path_of

from ember import boards, cli, paths
from ember.cases import Found
from ember.sweep.points import CaseContent, Point
from ember.sweep.results import Results
from ember.sweep.settings import Option
from ember.sweep.work import PointResult

DIGITS = paths.root() / "examples/models/digits/digits.pte"
CASE = path_of("op_add")
OPERATORS = Path(__file__).parent / "data/op_info/op_index_put.yaml"
ON = ("digits.pte", "--board", "mps2-an386")
HOST = ("--board", "host")
PAGES = ("--json", "p.json", "--html", "p.html", "--trace", "p.trace")
DUMPS = ("--etdump", "p.etdump", "--etdump-values", "p.values")
FIGURES = ("--baseline", "figures.json", "--summary", "figures.md")
NEW = ("new", "project", "--model", *ON, "--template")
JSON = ("--json", "f.json")
TABLES = (*JSON, "--parquet", "f.parquet")
COMMANDS = {
    "doctor": ("doctor", *HOST, *JSON),
    "boards": ("boards", *JSON),
    "probes": ("probes", *JSON),
    "select": ("select", *ON, "--json", "selection.json", "--out", "ops.yaml"),
    "inspect": ("inspect", "digits.pte", "--json", "inspected.json"),
    "sign": ("sign", "digits.pte", "--key", "key.pem", "--version", "1"),
    "bindings": ("bindings", "--selected", "ops.yaml", *HOST, "--out", "out"),
    "compare": ("compare", "1.json", "2.json", "--json", "c.json", "--html", "c.html"),
    "test": ("test", "case", *HOST, "--json", "t.json", "--junit", "t.xml"),
    "baseline": ("test", "case", *ON[1:], *FIGURES),
    "debug": ("debug", "case", *HOST, "--json", "d.json"),
    "run": ("run", "digits.pte", *HOST, "--out", "out", "--json", "r.json"),
    "profile": ("profile", *ON, "--out", "out", *DUMPS, *PAGES),
    "plan": ("plan", *ON, "--json", "plan.json", "--html", "plan.html"),
    "build": ("build", *ON, "--out", "out", *JSON, "--sbom", "sbom.json"),
    "pack": ("pack", *ON, "--out", "out"),
    "new": (*NEW, "cmake"),
    **{f"new {name}": (*NEW, name) for name in ("platformio", "zephyr", "arduino")},
    "package": ("package", *ON, "--out", "out"),
    "keygen": ("keygen", "key.pem", "--header", "key.h"),
    "platformio": ("platformio", "out"),
    "flash": ("flash", "digits.pte", "--board", "rpi-pico", "--probe", "drive", *JSON),
    "dry run": ("flash", *ON[:2], "netduinoplus2", "--dry-run", *JSON),
    "sweep": ("sweep", "sweep.yaml", "--name", "first", "--workers", "1"),
    "report": ("sweep", "report", "sweep.sqlite", *TABLES, "--html", "r.html"),
    "history": ("history", "sweep.sqlite", "--all", "--html", "h.html", *JSON),
}
EXPORTS = {
    "program": ("export", "net.py", "--out", "net.pte"),
    "tests and report": (
        *("export", "net.py", "--quantize", "int8", "--board", "mps2-an386"),
        *("--calibrate", "samples.npy"),
        *("--out", "net.bpte", "--report", "report.html", *JSON),
    ),
    "record": ("export", "net.py", "--out", "net.pte", "--etrecord", "net.etrecord"),
}
NET = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.ReLU())
example_inputs = (torch.zeros(1, 6),)
"""
# Which of the writes fail; other runs take others, and in the end all.
FEW = {"select": 8, "inspect": 2, "sign": 1, "bindings": 2, "compare": 2}
FEW |= {"keygen": 1, "history": 2, "report": 3, "doctor": 2, "boards": 2, "probes": 2}
QUICK = {"keygen", "doctor", "boards", "select"}  # others are `broad`
SOME = {"plan": 9, "build": 23, "pack": 29, "new": 11, "package": 31}
SOME |= {"new platformio": 241, "new zephyr": 223, "new arduino": 211}
SOME |= {"baseline": 17, "test": 5, "debug": 5, "run": 23, "profile": 31}
SOME |= {"platformio": 151, "flash": 67, "dry run": 59, "sweep": 17}


def prepare(work: Path, name: str) -> None:
    """What a command needs besides the digits."""
    work.mkdir(parents=True)
    if name in EXPORTS:
        prepare_export(work)
        return
    shutil.copy(DIGITS, work)
    if name == "sign":
        assert cli.main(["keygen", str(work / "key.pem")]) == 0
    elif name == "bindings":
        shutil.copy(OPERATORS, work / "ops.yaml")
    elif name in ("test", "debug", "baseline"):
        committed.copied(CASE.stem, work / "case")
    elif name in ("report", "history"):
        store(work / "sweep.sqlite")
    elif name == "flash":
        (work / "drive").mkdir()
        (work / "drive/INFO_UF2.TXT").write_text("Board-ID: RPI-RP2\n")
    elif name == "sweep":
        committed.copied(CASE.stem, work / "case")
        (work / "sweep.yaml").write_text("{programs: [case], boards: [host]}")
    elif name == "compare":
        words = ["profile", str(work / ON[0]), *ON[1:], "--out", str(work / "built")]
        assert cli.main([*words, "--json", str(work / "1.json")]) == 0
        shutil.rmtree(work / "built")
        shutil.copy(work / "1.json", work / "2.json")


def store(path: Path) -> None:
    """The results of a sweep of one program."""
    content = CaseContent(Found("kws", path), "digest")
    point = Point("key", "kws", boards.load("host"), Option(), content)
    results = Results(path)
    results.begin("monday", "sdk", "{}", [point])
    results.add([PointResult("key", "passed", "", cycles=1000, ram=64)])
    results.end("monday")
    results.close()


def test_every_command_is_here() -> None:
    tried = {words[0] for words in (*COMMANDS.values(), *EXPORTS.values())}
    assert cli.VERBS.keys() - tried == {"cmake-dir"}  # it writes no files


def prepare_export(work: Path) -> None:
    (work / "net.py").write_text(NET)
    samples = np.random.default_rng(0).standard_normal((4, 1, 6))
    np.save(work / "samples.npy", samples.astype("float32"))


def check(folder: Path, name: str, step: int, fault: str = "full") -> None:
    root = folder / "root"
    prepare(root / "work", name)
    words = (COMMANDS | EXPORTS)[name]
    outcome = write_faults.faults(root, words, fault, step, paths.cache())
    assert outcome.writes > 2
    assert outcome.problems == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param(name, step, marks=() if name in QUICK else pytest.mark.broad)
        for name, step in FEW.items()
    ],
)
def test_a_write_fails(tmp_path: Path, name: str, step: int) -> None:
    check(tmp_path, name, step)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param("select", marks=pytest.mark.broad), "sign"]
)
def test_half_of_a_write_is_made(tmp_path: Path, name: str) -> None:
    check(tmp_path, name, FEW[name], "full after a half")


@pytest.mark.slow
@pytest.mark.broad
@pytest.mark.parametrize(("name", "step"), SOME.items())
def test_a_write_of_a_long_command_fails(tmp_path: Path, name: str, step: int) -> None:
    check(tmp_path, name, step, "broken")


# PyTorch takes seconds to start; `long` has every write.
@pytest.mark.export
@pytest.mark.slow
@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", EXPORTS)
def test_a_write_of_an_export_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: int
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))  # PyTorch leaves it
    check(tmp_path, name, step)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in COMMANDS if "new " not in name])
@pytest.mark.parametrize("fault", ["full", "full after a half"])
def test_every_write_fails(tmp_path: Path, name: str, fault: str) -> None:
    check(tmp_path, name, 1, fault)
