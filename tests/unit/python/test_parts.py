"""Archives of what a firmware calls, against those of everything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from committed_cases import path_of

from ember import boards, cases, kernels, paths
from ember.firmware import build, linking, runner
from ember.run import testing
from ember.toolchain import compiler, elf, libraries, parts
from ember.toolchain.compiler import Libraries
from ember.toolchain.elf import Archive

DIGITS = paths.root() / "examples" / "models" / "digits" / "digits.pte"


@pytest.fixture(scope="module")
def whole() -> Libraries:
    return libraries.build(boards.load("host"), messages=True)


@pytest.fixture
def without_kernels(whole: Libraries, tmp_path: Path) -> Libraries:
    """As build(whole=False) gives them on a new computer."""
    folder = tmp_path / whole.folder.name
    folder.mkdir()
    archives = tuple(
        folder / path.name if path.name in compiler.PARTS else path
        for path in whole.archives
    )
    return replace(whole, folder=folder, archives=archives)


def test_same_firmware(
    whole: Libraries, without_kernels: Libraries, tmp_path: Path
) -> None:
    built = build(DIGITS, "host", out=tmp_path / "built")
    (methods,) = built.all_methods
    sources = linking.Sources(built.folder / "4-package", methods, None)
    compiled = sources.compile(whole, tmp_path)
    contents = []
    for variant in (whole, without_kernels):
        elf_file = tmp_path / "firmware.elf"
        linking.link_inputs(variant, compiled).link(elf_file, None)
        contents.append(elf_file.read_bytes())
    assert contents[0] == contents[1]
    part = parts.of(without_kernels, compiled)
    assert [path.name for path in part.archives] == [
        "libember_kernels.a",
        "libember_core.a",
    ]
    members = {path.stem: len(Archive(path).places) for path in part.archives}
    assert members["libember_kernels"] < 40


def test_a_runner_has_the_kernels_of_its_cases(
    without_kernels: Libraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SimpleNamespace(
        build=lambda *_, **__: without_kernels, user_objects=libraries.user_objects
    )
    monkeypatch.setattr(runner, "libraries", given)
    host = boards.load("host")
    case_files = cases.find([path_of("op_add")])
    firmware_file = runner.for_programs(
        host, [cases.read(case).program for case in case_files]
    )
    names = {symbol.name for symbol in elf.read(firmware_file).symbols}
    found_there = {name for name in names if name.startswith("ember_kernel_")}
    wanted = kernels.load().operators["aten::add.out"].usable(())
    assert found_there == {f"ember_kernel_{name}" for name in wanted}
    (tested,) = testing.test(case_files, [host], jobs=1)
    assert (tested.status, tested.message) == ("passed", "")


def test_a_table_has_its_kernels_and_all_engines_when_asked(
    without_kernels: Libraries,
) -> None:
    known = kernels.load()
    table = kernels.operator_table({"aten::add.out": ("add_f32",)}, known)
    sizes = {}
    for engines in (False, True):
        selected = parts.of_tables(without_kernels, [table], engines=engines)
        (archive,) = (
            path for path in selected.archives if path.stem == "libember_kernels"
        )
        defined = {name for name, _ in Archive(archive).index}
        assert "ember_kernel_add_f32" in defined
        assert ("ember_fill_run" in defined) == engines
        sizes[engines] = len(defined)
    assert sizes[False] < sizes[True] < 400


def test_whole_ones_stay(whole: Libraries) -> None:
    assert parts.of(whole, []) is whole


@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps3-an547", "qemu-a64-sme"])
def test_calls_are_those_of_this_computer(board: str) -> None:
    """What a file calls does not depend on what it is compiled for."""
    target = boards.load(board)
    there = _calls(libraries.build(target, messages=True))
    here = _calls(libraries.build(boards.computer(target), messages=True))
    offered = {name for defined, _ in there.values() for name in defined}
    more = {
        path: (needed & offered) - defined - here[path][1]
        for path, (defined, needed) in there.items()
    }
    assert {path: names for path, names in more.items() if names} == {}


def _calls(built: Libraries) -> dict[Path, tuple[set[str], set[str]]]:
    """By file, or by folder if the host compiles a model of all its files: the
    symbols that it defines, and those that it needs."""
    calls: dict[Path, tuple[set[str], set[str]]] = {}
    for path in built.archives:
        if path.name not in compiler.PARTS:
            continue
        archive = Archive(path)
        for place, source in zip(archive.places, built.sources(path.stem), strict=True):
            defined, needed = calls.setdefault(_unit(source), (set(), set()))
            member = archive.member(place)
            defined.update(member.defined)
            needed.update(member.needed())
    return calls


def _unit(source: Path) -> Path:
    folder = source.parent
    return folder.parent if folder.name in ("model", "device") else source
