"""A few random graphs, exported afresh; run.py tries thousands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

RUN = Path(__file__).parent / "run.py"
pytestmark = [pytest.mark.export, pytest.mark.slow]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RUN), *words], capture_output=True, text=True, check=False
    )


def test_graphs_agree(tmp_path: Path) -> None:
    pytest.importorskip("executorch")
    done = run("--count", "20", "--seed", "70001", "--cache", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "host: 20 passed" in done.stdout


def test_a_seed_is_always_the_same_graph() -> None:
    pytest.importorskip("executorch")
    texts = {run("--seed", "70003", "--show").stdout for _ in range(2)}
    assert len(texts) == 1
    assert "return v" in texts.pop()


def test_shrinking_finds_the_shortest_part(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("executorch")
    monkeypatch.syspath_prepend(str(RUN.parent))
    import exported
    import shrink

    seed = 70004
    steps = [str(step) for step in exported.program(seed, 0)[0].steps]
    guilty = steps[1:3]

    def differs(folder: Path) -> bool:
        text = (folder / "graph.txt").read_text()
        return all(step in text for step in guilty)

    def pretended(folders: list[Path], names: list[str]) -> list[SimpleNamespace]:
        found = [one for folder in folders for one in folder.iterdir()]
        return [
            SimpleNamespace(
                board=names[0],
                status="failed" if differs(one) else "passed",
                message="differs",
                path=one,
            )
            for one in found
        ]

    (text,) = shrink.smallest(seed, ["host"], pretended)
    assert all(step in text for step in guilty)
    assert sum(" = " in line for line in text.splitlines()) == len(guilty)
