"""`ember sweep` with a real scheduler; workers that die, are slow, or know nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from committed_cases import path_of
from html_pages import needs_nothing

from ember import cli, paths
from ember.sweep import settings
from ember.sweep.results import Results

ROOT = Path(__file__).parents[3]
DASK = [sys.executable, "-m", "dask"]

# What a worker is told before it starts, which Dask may do twice: to wait before each
# batch; to die in its second one; to die of a certain case.
KEPT = """
from ember.sweep import work
run = work.kept = getattr(work, "kept", work.run)
"""
SLOW = f"""
import time
{KEPT}
def slowly(*facts):
    time.sleep(0.5)
    return run(*facts)
work.run = slowly
"""
MORTAL = f"""
import os, signal
{KEPT}
seen = []
def once(*facts):
    seen.append(1)
    if len(seen) > 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(*facts)
work.run = once
"""
DEADLY = f"""
import os, signal
{KEPT}
def chosen(batch, *facts):
    if any(member.program == "call_hardtanh_s8.bpte" for member in batch.members):
        os.kill(os.getpid(), signal.SIGKILL)
    return run(batch, *facts)
work.run = chosen
"""


def write(folder: Path, **facts: Any) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(json.dumps(facts))
    return path


def rows(path: Path) -> list[Any]:
    held = Results(path, new=False)
    recorded = held.rows(held.run(None))
    held.close()
    return recorded


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts programs, which end with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*words: str, **more: str) -> subprocess.Popen[bytes]:
        sdk = {"PYTHONPATH": str(ROOT / "sdk")}
        started.append(
            subprocess.Popen(
                [*DASK, *words],
                env=os.environ | sdk | more,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_twice(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """One of three workers dies in the middle, one is slow, one has another cache."""
    for name, text in (("slow.py", SLOW), ("mortal.py", MORTAL)):
        (tmp_path / name).write_text(text)
    where = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(where))
    local = ("--host", "127.0.0.1")
    start("scheduler", *common, *local, "--port", "0", "--no-dashboard")
    worker = (
        "worker",
        *common,
        *local,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
    )
    cache = {"EMBER_CACHE": str(paths.cache())}
    mortal = start(
        *worker, "--name", "mortal", "--preload", str(tmp_path / "mortal.py"), **cache
    )
    start(*worker, "--name", "slow", "--preload", str(tmp_path / "slow.py"), **cache)
    start(*worker, "--name", "other", EMBER_CACHE=str(tmp_path / "cache"))
    address = address_of(where, 3)
    sweep = write(
        tmp_path,
        programs=[
            str(path_of(name))
            for name in (
                "call_add_f16_f32",
                "call_add_s8_s64",
                "call_any_no_dims",
                "call_hardtanh_s8",
                "call_index_masks_apart",
            )
        ],
        boards=["host"],
        options=[{}, {"optimize": "size"}],
        batch=1,
    )
    assert cli.main(["sweep", str(sweep), "--scheduler", address]) == 0
    recorded = rows(tmp_path / "sweep.sqlite")
    assert {row.place for row in recorded} == {
        (name, "host", option)
        for name in (
            "call_add_f16_f32.bpte",
            "call_add_s8_s64.bpte",
            "call_any_no_dims.bpte",
            "call_hardtanh_s8.bpte",
            "call_index_masks_apart.bpte",
        )
        for option in ("", "optimize=size")
    }
    assert all(row.result.status == "passed" for row in recorded)
    assert mortal.wait(20) == -signal.SIGKILL
    assert {row.result.worker for row in recorded} >= {"slow", "other"}
    assert list((tmp_path / "cache" / "sweep").iterdir())


def address_of(where: Path, workers: int) -> str:
    """Of a scheduler that has its workers."""
    from distributed import Client

    end = time.monotonic() + 60
    while not where.is_file() and time.monotonic() < end:
        time.sleep(0.1)
    with Client(scheduler_file=str(where)) as client:
        client.wait_for_workers(workers, timeout=60)
        return str(client.scheduler.address)


@pytest.mark.slow
def test_a_case_that_kills_workers_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its neighbours in the batch have results."""
    deadly = tmp_path / "deadly.py"
    deadly.write_text(DEADLY)
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", str(deadly))
    names = ("call_add_f16_f32", "call_hardtanh_s8", "call_any_no_dims")
    sweep = write(
        tmp_path, programs=[str(path_of(name)) for name in names], boards=["host"]
    )
    words = [sys.executable, "-m", "ember", "sweep", str(sweep), "--workers", "1"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert "host call_hardtanh_s8.bpte: the worker died each time" in done.stdout
    status = {row.program: row.result.status for row in rows(tmp_path / "sweep.sqlite")}
    assert status == {
        "call_add_f16_f32.bpte": "passed",
        "call_hardtanh_s8.bpte": "error",
        "call_any_no_dims.bpte": "passed",
    }


@pytest.mark.slow
def test_a_sweep_goes_on_and_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write(
        tmp_path, programs=[str(path_of("call_add_f16_f32"))], boards=["host"]
    )
    words = ["--workers", "1", "--json", str(tmp_path / "facts.json")]
    assert cli.main(["sweep", str(first), "--name", "one", *words]) == 0
    pair = [str(path_of(name)) for name in ("call_add_f16_f32", "call_any_no_dims")]
    second = write(tmp_path, programs=pair, boards=["host"])
    capsys.readouterr()
    assert cli.main(["sweep", str(second), "--name", "two", *words]) == 0
    assert "2 points, 1 known already" in capsys.readouterr().out
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert facts["summary"] == {"passed": 2, "failed": 0, "error": 0}
    assert [case["name"] for case in facts["cases"]] == [
        "call_add_f16_f32.bpte",
        "call_any_no_dims.bpte",
    ]

    held = str(tmp_path / "sweep.sqlite")
    page, table = tmp_path / "page.html", tmp_path / "table.parquet"
    assert (
        cli.main(
            [
                *("sweep", "report", held, "--baseline", "one", "--html", str(page)),
                *("--parquet", str(table)),
            ]
        )
        == 0
    )
    assert "0 worse, 0 better, 1 new" in capsys.readouterr().out
    assert needs_nothing(page.read_text())
    from pyarrow import parquet

    assert parquet.read_table(table).column("program").to_pylist() == [
        "call_add_f16_f32.bpte",
        "call_any_no_dims.bpte",
    ]


# ---- the file ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("boards: [host]", "it needs programs, models or graphs"),
        ("programs: [x]\nboards: []", "boards: Tuple should have at least 1"),
        ("programs: [x]\nboards: [host]\nbord: 1", "unknown key: did you mean boards?"),
        ("programs: [x]\nboards: [host]\nbatch: 0", "batch: "),
        ("programs: [x]\nboards: [host]\noptions: [{rows: fit}]", "options.0.rows"),
        ("programs: [x]\nboards: [host]", "x does not exist"),
        ('programs: ["x*"]\nboards: [host]', "x* matches no file"),
        ("programs: [.]\nboards: [host]", "contains no case folder"),
        (f"programs: [{path_of('call_add_f16_f32')}]\nboards: [nowhere]", "nowhere"),
        (
            f"programs: [{path_of('call_add_f16_f32')}]\nboards: [ek-ra8m1]",
            "has no emulator",
        ),
        ("- 1", "valid dictionary"),
        ("a: [", "not YAML"),
    ],
)
def test_what_is_wrong_with_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    assert cli.main(["sweep", str(path)]) != 0
    error = capsys.readouterr().err
    assert said in error
    assert "bug in Ember" not in error
    assert not (tmp_path / "sweep.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.yaml"], "nowhere.yaml does not exist"),
        (["report", "nowhere.sqlite"], "nowhere.sqlite does not exist"),
        (["report"], "takes one file of results"),
        (["report", "x.sqlite", "--again"], "runs nothing"),
        (["a.yaml", "b.yaml"], "takes one SWEEP.yaml"),
    ],
)
def test_wrong_words(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert cli.main(["sweep", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_holds_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"not a data base" * 100)
    assert cli.main(["sweep", "report", str(path)]) == 1
    assert "holds no results" in capsys.readouterr().err
    assert path.read_bytes() == b"not a data base" * 100


def test_no_scheduler_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ember.sweep import cluster

    monkeypatch.setattr(cluster, "_CONNECT_S", 0.5)
    path = write(tmp_path, programs=[str(path_of("call_add_f16_f32"))], boards=["host"])
    assert cli.main(["sweep", str(path), "--scheduler", "tcp://127.0.0.1:9"]) == 1
    assert (
        "no scheduler of Dask answers at tcp://127.0.0.1:9" in capsys.readouterr().err
    )


def test_dask_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = "ember.sweep.cluster.importlib.util.find_spec"
    monkeypatch.setattr(find_spec, lambda name: None)
    path = write(tmp_path, programs=[str(path_of("call_add_f16_f32"))], boards=["host"])
    assert cli.main(["sweep", str(path)]) == 1
    error = capsys.readouterr().err
    assert "pip install 'ember[sweep]'" in error
    assert not (tmp_path / "sweep.sqlite").exists()


def test_off_is_a_word(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text("programs: [x]\nboards: [host]\noptions: [{rows: off}, {}]")
    assert {option.text for option in settings.read(path).options} == {""}
