"""What is compiled for one program, against what calls what in whole libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ember import boards, kernels, paths
from ember.select import loader
from ember.toolchain import compiler, libraries, parts
from ember.toolchain.compiler import Libraries
from ember.toolchain.elf import Archive

DIGITS = paths.root() / "examples" / "models" / "digits" / "digits.pte"


@pytest.fixture(scope="module", params=["host", "arm-user"])
def whole(request: pytest.FixtureRequest) -> Libraries:
    return libraries.build(boards.load(request.param), messages=True)


@pytest.fixture
def part(whole: Libraries, tmp_path: Path) -> Libraries:
    """As build(whole=False) gives them on a new computer."""
    folder = tmp_path / whole.folder.name
    folder.mkdir()
    archives = tuple(
        folder / path.name if path.name in compiler.PARTS else path
        for path in whole.archives
    )
    return replace(whole, folder=folder, archives=archives)


def test_every_symbol_of_a_kernel_is_found(whole: Libraries) -> None:
    sources = [
        source for path in whole.optional_archives for source in _sources(whole, path)
    ]
    guess = parts.Guess(sources)
    missed = {
        name
        for path in whole.optional_archives
        for name, source in _defined(whole, path)
        if not source.is_relative_to(paths.backends()) and source not in guess(name)
    }
    assert missed == set()


def test_a_backend_is_one_unit(whole: Libraries) -> None:
    sources = [
        source for path in whole.optional_archives for source in _sources(whole, path)
    ]
    chosen = parts.Guess(sources)("ember_backend_xnnpack")
    assert paths.backends() / "xnnpack.c" in chosen
    assert {source for source in sources if "backends/xnnpack" in str(source)} == chosen


@pytest.mark.parametrize(
    "symbols",
    [
        ["ember_kernel_add"],
        ["ember_kernel_convolution_f32", "ember_kernel_quantized_conv2d_mve"],
        ["ember_backend_xnnpack"],
        ["ember_kernel_softmax", "memcpy", "ember_method_load"],
    ],
    ids=lambda symbols: symbols[0],
)
def test_the_closure_is_that_of_whole_libraries(
    whole: Libraries, part: Libraries, symbols: list[str]
) -> None:
    closure = parts.defining(part, symbols)
    assert closure == parts.defining(whole, symbols)
    assert closure == parts.defining(part, symbols)  # from its record


@pytest.mark.slow
def test_a_first_build_compiles_what_its_program_needs(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    words = [sys.executable, "-m", "ember", "build", str(DIGITS), "--board", "host"]
    subprocess.run(
        [*words, "--out", str(tmp_path / "out")],
        env={**os.environ, "EMBER_CACHE": str(cache)},
        check=True,
        capture_output=True,
    )
    compiled = {path.name for path in cache.rglob("*.o") if "kernels" in path.parts}
    assert "convolution.c.o" in compiled
    assert len(compiled) < 80
    assert "sort.c.o" not in compiled


@pytest.mark.slow
def test_after_some_programs_all_kernels_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path))
    compiled = libraries.build(boards.load("host"), messages=True, whole=False)
    known = kernels.load()
    built: list[Path] = []
    monkeypatch.setattr(loader, "_make", lambda _, path, *__: built.append(path))
    for number in range(loader.MOST_PARTS):
        (tmp_path / "resolve" / "x" / f"part-{number}").mkdir(parents=True)
    part = tmp_path / "resolve" / "x" / "part-new" / "resolve"
    adding = frozenset({"aten::add.out"})
    content = loader.Content(known, (), adding, frozenset())
    assert not loader.make_part(compiled, part, content)
    (tmp_path / "resolve" / "x" / "part-0").rmdir()
    assert loader.make_part(compiled, part, content)
    assert built == [part]


def _sources(compiled: Libraries, archive: Path) -> tuple[Path, ...]:
    return compiled.sources(archive.stem)


def _defined(compiled: Libraries, path: Path) -> list[tuple[str, Path]]:
    archive = Archive(path)
    sources = _sources(compiled, path)
    return [
        (name, sources[archive.places.index(place)]) for name, place in archive.index
    ]
