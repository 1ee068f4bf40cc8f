"""Programs for the tests: the files in data/ and, when present, tests/cases/."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ember.program import bundle

DATA = Path(__file__).parent / "data"
CASES = Path(__file__).parents[2] / "cases"

PROGRAMS = sorted([*DATA.glob("*.pte"), *CASES.glob("*.pte"), *CASES.glob("*.bpte")])
BUNDLES = sorted([*DATA.glob("*.bpte"), *CASES.glob("*.bpte")])
TENSOR_DATA = sorted([*DATA.glob("*.ptd"), *CASES.glob("*.ptd")])


def _name(path: Path) -> str:
    return path.name if path.parent == DATA else str(path.relative_to(CASES))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture, paths in (
        ("program_file", PROGRAMS),
        ("bundle_file", BUNDLES),
        ("data_file", TENSOR_DATA),
    ):
        if fixture in metafunc.fixturenames:
            inside = fixture == "program_file"
            metafunc.parametrize(fixture, paths, ids=_name, indirect=inside)


@pytest.fixture
def program_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A .pte; a bundle's program in a separate file."""
    path: Path = request.param
    if path.suffix == ".pte":
        return path
    file = tmp_path_factory.mktemp("program") / "model.pte"
    file.write_bytes(bundle.read(path).program)
    return file


@pytest.fixture
def programs() -> list[Path]:
    return PROGRAMS


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    yield
