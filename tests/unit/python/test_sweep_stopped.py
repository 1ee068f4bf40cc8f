"""`ember sweep` that is stopped keeps what it computed, and says how far it was."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import interrupts
import pytest
from committed_cases import matching, path_of

from ember import progress
from ember.sweep import cluster, runs
from ember.sweep.points import Batch
from ember.sweep.results import Results
from ember.sweep.work import PointResult

# A worker waits for ever in its second case, where no file `goes-on` is.
ENDLESS = """
import time, pathlib
from ember.sweep import work
result = work.kept = getattr(work, "kept", work._result)
seen = []
def waiting(outcome, batch):
    seen.append(1)
    while len(seen) == 2 and not pathlib.Path("goes-on").exists():
        time.sleep(0.05)
    return result(outcome, batch)
work._result = waiting
"""


def write(folder: Path, programs: list[str]) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(json.dumps({"programs": programs, "boards": ["host"]}))
    return path


def statuses(path: Path) -> list[str]:
    held = Results(path, new=False)
    recorded = [row.result.status for row in held.rows(held.run(None))]
    held.close()
    return recorded


def stored(path: Path) -> int:
    """Points, while a sweep begins or goes on."""
    with closing(sqlite3.connect(path)) as base:
        tables = base.execute("SELECT 1 FROM sqlite_master").fetchone()
        return len(base.execute("SELECT 1 FROM points").fetchall()) if tables else 0


@pytest.mark.slow
def test_a_stopped_sweep_keeps_what_it_computed(tmp_path: Path) -> None:
    """Even of its first batch; Ctrl-C reaches all processes of a terminal."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    names = ("add_f16_f32", "hardtanh_s8", "any_no_dims", "add_s8_s64")
    programs = [str(path_of(f"call_{name}")) for name in (*names, "index_masks_apart")]
    sweep = write(tmp_path, programs)
    words = [sys.executable, "-m", "ember", "sweep", str(sweep), "--workers", "1"]
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": str(tmp_path / "endless.py")}
    stopped = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=os.environ | preload,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=interrupts.heeded,  # noqa: PLW1509 - one thread
    )
    base = tmp_path / "sweep.sqlite"
    end = time.monotonic() + 120
    while not (base.is_file() and stored(base) == 1):
        assert time.monotonic() < end
        time.sleep(0.5)
    os.killpg(stopped.pid, signal.SIGINT)
    said = stopped.communicate(timeout=60)[0]
    assert stopped.returncode == 130
    assert "1 of 5 points stored: the same command goes on" in said
    assert "Traceback" not in said
    assert statuses(base) == ["passed"]
    (tmp_path / "goes-on").touch()
    done = subprocess.run(
        words, cwd=tmp_path, env=os.environ | preload, capture_output=True, check=True
    )
    assert b"5 points, 1 known already" in done.stdout
    assert len(statuses(base)) == 5


def test_batches_are_parts_for_all_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each gets four; what is done, of how many, is said from the start."""
    counts, sizes = [], []

    class Client:
        scheduler = SimpleNamespace(address="inproc")

        def scheduler_info(self) -> dict[str, Any]:
            return {"workers": ["one", "two"]}

        def register_plugin(self, plugin: object) -> None:
            pass

        def subscribe_topic(self, topic: str, handler: Callable[..., None]) -> None:
            self.told = handler

    client = Client()

    def done(*facts: Any) -> Iterator[tuple[Batch, list[PointResult]]]:
        counts.append(progress._steps[-1].count)
        for batch in facts[4]:
            sizes.append(len(batch.members))
            results = [
                PointResult(member.key, "passed", "") for member in batch.members
            ]
            client.told((0.0, {"result": asdict(results[0])}))  # its worker has it
            counts.append(progress._steps[-1].count)
            yield batch, results

    monkeypatch.setattr(cluster, "connected", lambda *_: nullcontext(client))
    monkeypatch.setattr(cluster, "_done", done)
    programs = [str(path) for path in matching("op_*")[:20]]
    plan = runs.planned(write(tmp_path, programs))
    held = Results(tmp_path / "sweep.sqlite")
    shown: list[str] = []
    runs.sweep(
        plan, held, runs.SweepOrder(), lambda *_: shown.append(""), lambda _: None
    )
    held.close()
    assert sizes == [3, 3, 3, 3, 3, 3, 2]
    assert counts[:3] == [" 0 of 20", " 1 of 20", " 4 of 20"]
    assert len(shown) == len(statuses(tmp_path / "sweep.sqlite")) == 20
