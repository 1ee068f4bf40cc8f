"""tools/trained: networks with weights of packages, from the package to the board."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from ember import paths

TOOL = paths.root() / "tools" / "trained"
PAGE = paths.root() / "docs" / "trained-models.md"


def _loaded(name: str, file: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOL / file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


trained = _loaded("trained", "__main__.py")


def packages() -> dict[str, tuple[str, ...]]:
    """Of every model; the other files of the folder help them."""
    needed = {}
    for path in sorted((TOOL / "models").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.Assign):
                continue
            if any("PACKAGES" in ast.unparse(target) for target in node.targets):
                needed[path.stem] = ast.literal_eval(node.value)
    return needed


def test_the_page_has_every_model_and_its_package() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    known = packages()
    assert len(known) >= 12
    for name, needed in known.items():
        package, _, version = needed[0].partition("==")
        (line,) = [row for row in lines if row.startswith(f"| `{name}` |")]
        assert f"| {package} {version} |" in line


def test_rows_that_were_not_made_again_stay() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert trained.merged(page, []) == page
    row = trained.Row(
        *("pitch", "int8", "qemu-a64", "xnnpack"), 7, 8, 0.5, 99.94, 90, 5
    )
    lines = trained.merged(page, [row]).splitlines()
    at = lines.index(
        "| pitch | int8 | qemu-a64 | xnnpack | 7 | 8 | 0.5 | 99.9 | 90 | 5 calls |"
    )
    assert lines[at - 1].startswith("| pitch | float | qemu-a64 |")
    assert lines[at + 1].startswith(("| pitch_frames |", "| pitch_small |"))


@pytest.mark.export
@pytest.mark.long
@pytest.mark.qemu
@pytest.mark.parametrize("mode", ["float", "int8"])
def test_a_network_runs_on_a_board(mode: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    words = ["face_check", "--board", "mps3-an547", "--only", mode]
    facts = tmp_path / "rows.json"
    done = subprocess.run(
        [sys.executable, TOOL, *words, "--json", facts],
        check=False,
        capture_output=True,
        text=True,
    )
    if "No matching distribution" in done.stderr:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(facts.read_text())
    assert row["failure"] == ""
    assert row["tests"] == 5
    assert row["bytes"] > 100_000
    assert row["distance"] < (1e-4 if mode == "float" else 0.2)


@pytest.mark.export
def test_a_session_starts_with_the_state_of_the_start() -> None:
    pytest.importorskip("torch")
    import torch

    measure = _loaded("measuring", "measure.py")

    class Counter(torch.nn.Module):  # type: ignore[misc] # PyTorch is Any
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("sum", torch.zeros(1))

        def forward(self, x: object) -> object:
            self.sum.add_(x)
            return self.sum

    model = types.SimpleNamespace(
        samples=lambda: [(torch.ones(1),) for _ in range(5)], SESSION=3
    )
    parts = measure.sessions(model)
    assert [len(calls) for calls in parts] == [3, 2]
    fresh = Counter()
    given = [x.item() for calls in parts for (x,) in measure.of_pytorch(fresh, calls)]
    assert given == [1, 2, 3, 1, 2]
    del model.SESSION
    assert [len(calls) for calls in measure.sessions(model)] == [5]


def test_a_reason_is_what_the_command_says() -> None:
    said = ["Warning: an error may follow", "ember export: sums overflow", "  hint: x"]
    assert trained._reason(said) == "sums overflow"
    assert trained._reason(["only this"]) == "only this"
    assert trained._reason([]) == "no word"
