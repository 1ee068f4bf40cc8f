"""A few random graphs, exported afresh; `ember sweep` tries thousands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = Path(__file__).parent / "run.py"
pytestmark = [pytest.mark.export, pytest.mark.slow]


@pytest.fixture
def exported() -> Any:
    pytest.importorskip("executorch")
    from ember.sweep.graphs import exported

    return exported


def run(*words: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("executorch")
    return subprocess.run(
        [sys.executable, str(RUN), *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("family", "count"),
    [("core", 12), ("half", 3), ("integer", 3), ("dynamic", 3), ("control", 3)],
)
def test_graphs_agree(family: str, count: int) -> None:
    words = ("--family", family, "--count", str(count), "--seed", "70001")
    done = run(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"host: {count} passed" in done.stdout


@pytest.mark.parametrize("family", ["xnnpack", "cortex_m"])
def test_graphs_of_other_flows_agree(family: str) -> None:
    done = run("--family", family, "--count", "2", "--seed", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "host: 2 passed" in done.stdout


def test_families_have_what_they_are_named_for(exported: Any) -> None:
    def texts(family: str) -> str:
        return "".join(exported.program(family, n, 0)[0].source() for n in range(24))

    assert "float16" in texts("half") and "float32 (" not in texts("half")
    assert "flow.branch" in texts("control") and "flow.scanned" in texts("control")
    assert "int64" in texts("integer")
    assert "F.conv2d" in texts("cortex_m")
    assert all(exported.program("dynamic", n, 0)[0].batch for n in range(8))


def test_a_step_that_has_nothing_to_choose_from_is_dropped(exported: Any) -> None:
    """The groups of a tensor without channels, for instance."""
    import random

    from ember.sweep.graphs.builder import Reject
    from ember.sweep.graphs.picker import Picker

    with pytest.raises(Reject):
        Picker(random.Random(0), [1], False).one_of([])


def test_a_seed_is_always_the_same_graph() -> None:
    texts = {run("--seed", "70003", "--show").stdout for _ in range(2)}
    assert len(texts) == 1
    assert "return v" in texts.pop()


def test_shortcuts_change_no_byte(exported: Any) -> None:
    """Two programs made with them, by processes that are ready, and without them."""
    text = (
        "import sys, hashlib; from ember.sweep.graphs import exported\n"
        "if sys.argv[1] == 'ready': exported.start()\n"
        "for n in (70003, 70005):\n"
        "    program = exported.accepted('core', n, [])[2]\n"
        "    print(hashlib.sha256(program.files['model.pte']).hexdigest())\n"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", text, how],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for how in ("ready", "plain")
    }
    assert len(hashes) == 1
    assert len(hashes.pop().split()) == 2


def test_shrinking_finds_the_smallest_part(exported: Any, tmp_path: Path) -> None:
    """The first and the last of three steps in a row are guilty."""

    seed = 70004
    steps = [str(step) for step in exported.program("core", seed, 0)[0].steps]
    guilty = [steps[1], steps[3]]

    def differing(folders: list[Path]) -> list[Path]:
        return [
            folder
            for folder in folders
            if all(step in (folder / "graph.txt").read_text() for step in guilty)
        ]

    text = exported.smallest("core", seed, differing, tmp_path / "case")
    assert all(step in text for step in guilty)
    assert sum(" = " in line for line in text.splitlines()) == len(guilty)
    assert json.loads((tmp_path / "case" / "case.json").read_text())["runs"]
    assert (tmp_path / "case" / "graph.txt").read_text() == text


def test_where_no_part_differs_alone_the_whole_is_the_case(
    exported: Any, tmp_path: Path
) -> None:

    whole = exported.program("core", 70004, 0)[0].source()
    text = exported.smallest("core", 70004, lambda folders: [], tmp_path / "case")
    assert text == whole
    assert (tmp_path / "case" / "model.pte").is_file()
