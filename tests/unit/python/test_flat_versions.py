"""Whatever version of flatbuffers wrote a program: it reads the same."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import positions
import pytest

from ember import program

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted((Path(__file__).parent / "data").glob("*.pte"))
NEW = ("25.12.19",)  # the first that compares the sizes of tables
VERSIONS = (
    "24.3.25",
    *(
        pytest.param(version, marks=pytest.mark.long)
        for version in ("25.2.10", "25.9.23")
    ),
    *NEW,
)


@pytest.fixture(scope="session")
def with_package(
    environment: Callable[[str, Sequence[str]], Path],
) -> Callable[..., None]:
    """Runs package_builder.py beside a version of the package."""

    def run(version: str, *words: str | Path) -> None:
        home = environment(f"flatbuffers-{version}", [f"flatbuffers=={version}"])
        packages = next(home.glob("lib/python*/site-packages"))
        script = ROOT / "tests/shared/package_builder.py"
        search = os.pathsep.join([str(packages), str(ROOT / "sdk")])
        subprocess.run(
            [sys.executable, script, version, *words],
            env={**os.environ, "PYTHONPATH": search},
            check=True,
        )

    return run


@pytest.fixture(scope="session")
def written(
    with_package: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The folder of PROGRAMS as a version of the package writes them."""
    known: dict[str, Path] = {}

    def by(version: str) -> Path:
        if version not in known:
            folder = tmp_path_factory.mktemp("written")
            with_package(version, *PROGRAMS, folder)
            known[version] = folder
        return known[version]

    return by


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
@pytest.mark.parametrize("version", VERSIONS)
def test_reads_the_same(
    version: str, path: Path, written: Callable[[str], Path]
) -> None:
    content = program.read(path)
    again = program.read(written(version) / path.name)
    assert again == program.parse(program.write(content))
    assert program.write(again) == program.write(content)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_old_versions_have_fields_past_the_stated_size(
    version: str, written: Callable[[str], Path]
) -> None:
    """Else the test above has nothing to find."""
    past = [path.name for path in PROGRAMS if fields_past(written(version) / path.name)]
    assert past


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_what_ember_writes_is_the_same_with_every_version(
    version: str, with_package: Callable[..., None], tmp_path: Path
) -> None:
    with_package(version, "--as-ember", *PROGRAMS, tmp_path)
    for path in PROGRAMS:
        ours = program.write(program.read(path))
        assert (tmp_path / path.name).read_bytes() == ours


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
@pytest.mark.parametrize("version", NEW)
def test_what_ember_writes_is_what_the_package_writes(
    version: str, path: Path, written: Callable[[str], Path]
) -> None:
    ours = program.write(program.read(path))
    assert (written(version) / path.name).read_bytes() == ours


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_what_ember_writes_states_true_sizes(path: Path, tmp_path: Path) -> None:
    ours = tmp_path / path.name
    ours.write_bytes(program.write(program.read(path)))
    assert not fields_past(ours)


def fields_past(path: Path) -> list[str]:
    """The tables with a scalar that ends past the size their vtable states."""
    data = path.read_bytes()
    places = {position.path: position for position in positions.walk(data)}
    past = []
    for name, position in places.items():
        table, dot, _ = name.rpartition(".")
        head = places.get(f"{table}@")
        if position.kind != "scalar" or not dot or name.endswith("]") or head is None:
            continue
        stated = places[f"{table}@table_size"].at
        size = struct.unpack_from("<H", data, stated)[0]
        if position.at + position.width > head.at + size:
            past.append(table)
    return past
