"""The rooms of the SDK: imports run one way, not in circles; none is crowded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from ember import cli

PACKAGE = Path(__file__).resolve().parents[3] / "sdk" / "ember"
# Top to bottom: a room imports from itself and from those below it.
ROOMS = (
    *("cli", "sweep", "frontends", "export", "packaging", "release", "run", "flash"),
    *("hil", "firmware", "plan", "select", "model", "cases", "cycles", "toolchain"),
    *("kernels", "boards", "program", "files"),
)
ALL = (*ROOMS, "")  # below all: errors, paths, output ... beside the rooms
ENTRY = "ember.__main__"
MOST_LINES = 500  # of a file of tests
MOST_FILES = 25
VERBS = {verb.replace("-", "_") for verb in cli.VERBS}


def modules() -> dict[str, Path]:
    by_name = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if "templates" not in parts and "_data" not in parts:
            by_name[".".join(part for part in parts if part != "__init__")] = path
    return by_name


MODULES = modules()


def room(module: str) -> str:
    first = module.split(".")[1] if "." in module else ""
    return first if (PACKAGE / first).is_dir() else ""


def imports(path: Path) -> Iterator[str]:
    """Modules of the SDK that a file imports, other than for the type checker."""
    tree = ast.parse(path.read_text())
    typing = [n for n in ast.walk(tree) if isinstance(n, ast.If) and _is_typing(n)]
    ignored = {id(n) for block in typing for n in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in ignored:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for imported in node.names:
                whole = f"{node.module}.{imported.name}"
                yield whole if whole in MODULES else node.module


def _is_typing(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def used() -> dict[str, set[str]]:
    direct = {
        name: {
            module
            for module in imports(path)
            if module in MODULES and module != "ember"
        }
        for name, path in MODULES.items()
    }
    return {name: imported - {name} for name, imported in direct.items()}


@pytest.fixture(scope="module", name="uses")
def _uses() -> dict[str, set[str]]:
    return used()


def test_every_room_is_known() -> None:
    rooms = {
        folder.name
        for folder in PACKAGE.iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert rooms == set(ROOMS)


def test_no_import_runs_up(uses: dict[str, set[str]]) -> None:
    up = [
        f"{module} imports {other}"
        for module, others in uses.items()
        for other in others
        if module != ENTRY and ALL.index(room(other)) < ALL.index(room(module))
    ]
    assert not up, "\n".join(sorted(up))


def test_no_circles(uses: dict[str, set[str]]) -> None:
    """A package may import its own modules, and these each other."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_room_is_crowded() -> None:
    for folder in {path.parent for path in MODULES.values()}:
        files = sorted(file.name for file in folder.iterdir() if file.is_file())
        if folder == PACKAGE / "cli":  # one for each verb
            files = [file for file in files if file.split(".")[0] not in VERBS]
        assert len(files) <= MOST_FILES, f"{folder}: {len(files)} files"


def test_no_file_of_tests_is_long() -> None:
    files = Path(__file__).resolve().parents[2].rglob("*.py")
    long = [path.name for path in files if path.read_bytes().count(b"\n") > MOST_LINES]
    assert not long


def test_stages_of_a_build_are_called_only_by_the_pipeline() -> None:
    """All others ask it, so that a model's way to firmware is in one place."""
    stages = re.compile(r"\b(placing\.place|pack\.fill|Linking)\(")
    assert _callers(stages) == {"ember.firmware.pipeline"}
    select = re.compile(r"\bselections?\.examine\(")
    below_run = {
        name for name in _callers(select) if room(name) not in ("cli", "export")
    }
    assert below_run == {"ember.firmware.pipeline"}


def _callers(function: re.Pattern[str]) -> set[str]:
    return {
        name
        for name, path in MODULES.items()
        if function.search(path.read_text("utf-8")) and ".plan." not in name
    }
