"""A kernel that recurses has no bound of its stack: what its user states counts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ember import cli, paths

CUSTOM = paths.root() / "examples" / "custom_op"
RECURSIVE = """\
static __attribute__((noinline)) float times(float x, int n) {
    return n > 0 ? x + 1.0f * times(x, n - 1) : 0.0f;
}
"""
BOARD = ("--board", "mps2-an386")
pytestmark = pytest.mark.qemu


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CUSTOM / "kernels", "kernels")
    source = Path("kernels", "mul3.c")
    text = source.read_text().replace("s->x[i] * 3.0f", "times(s->x[i], 3)")
    assert "times(" in text
    source.write_text(
        text.replace("static int32_t run", f"{RECURSIVE}\nstatic int32_t run")
    )
    Path("ember.yaml").write_text("kernels: [kernels]\n")


def ember(*words: str | Path) -> int:
    return cli.main([str(word) for word in words])


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert ember(*words) in (1, 2)
    return " ".join(capsys.readouterr().err.split())


def test_what_the_hint_says_works(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "run", CUSTOM / "mul3", *BOARD)
    assert "a function may call itself: times > times" in said
    assert "--stack BYTES, or `stack: BYTES` in ember.yaml" in said
    words = [*BOARD, "--stack", "2048", "--json", "run.json"]
    assert ember("run", CUSTOM / "mul3", *words) == 0
    log = json.loads(Path("run.json").read_text())
    assert log["nodes"][0]["kernel"] == "mul3"
    assert log["nodes"][0]["instructions"] > 0  # its twin with marks ran as well
    stack = log["stack"]
    assert (stack["bound"], stack["reserved"]) == (None, 2048)
    assert stack["used"] < 2048


@pytest.mark.parametrize("command", ["profile", "build", "plan", "run"])
def test_a_project_states_it(command: str) -> None:
    with Path("ember.yaml").open("a") as file:
        file.write("stack: 2K\n")
    assert ember(command, CUSTOM / "mul3", *BOARD) == 0


def test_a_test_runner_needs_no_proof() -> None:
    assert ember("test", CUSTOM / "mul3", *BOARD) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stack: much", "stack: 'much' is not a size: write 65536, 64K or 4M"),
        ("stack: 0", "stack: '0' is not a size"),
        ("stack: 255", "stack: it must have 256 bytes to 2G, not 255"),
        ("stack: 2G", "stack: it must have 256 bytes to 2G, not 2,147,483,648"),
        ("stak: 4K", "unknown key stak: did you mean stack?"),
    ],
)
def test_sizes_that_are_none(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ember.yaml").write_text(f"kernels: [kernels]\n{text}\n")
    assert said in refused(capsys, "run", CUSTOM / "mul3", *BOARD)
