"""Objects of the runtime's applications and of packages are compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ember import boards, kept, paths
from ember.toolchain import build_tree, compiler, libraries
from ember.toolchain.compiler import Libraries

HEADER = '#include "ember/status.h"\nenum { ANSWER = 42 };\n'
SOURCE = '#include "made.h"\nextern const int answer;\nconst int answer = ANSWER;\n'


class Compilers:
    """Counts the compilers that are started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sources: list[str] = []
        run = build_tree.run

        def counted(words: Sequence[str], what: str, folder: Path) -> str:
            self.sources.append(Path(words[words.index("-c") + 1]).name)
            return run(words, what, folder)

        monkeypatch.setattr(compiler, "run", counted)

    def started(self) -> list[str]:
        sources, self.sources = self.sources, []
        return sorted(sources)


@pytest.fixture
def host_libraries(tmp_path: Path) -> Libraries:
    """Those of the host, without objects that other tests compiled."""
    built = libraries.build(boards.load("host"), messages=True, whole=False)
    folder = tmp_path / "libraries"
    folder.mkdir()
    return replace(built, folder=folder)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "made.h").write_text(HEADER)
    (folder / "made.c").write_text(SOURCE)
    return folder


def compiled(host_libraries: Libraries, package: Path, out: Path) -> list[bytes]:
    out.mkdir()
    sources = [paths.runtime() / "app" / "values.c", package / "made.c"]
    objects = host_libraries.compile(sources, out, [f"-I{package}"])
    assert [path.parent for path in objects] == [out, out]
    return [path.read_bytes() for path in objects]


def test_the_same_are_compiled_once(
    host_libraries: Libraries,
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compilers = Compilers(monkeypatch)
    first = compiled(host_libraries, package, tmp_path / "a")
    assert compilers.started() == ["made.c", "values.c"]
    assert compiled(host_libraries, package, tmp_path / "b") == first
    assert compilers.started() == []
    elsewhere = package.rename(tmp_path / "elsewhere")
    assert compiled(host_libraries, elsewhere, tmp_path / "c") == first
    assert compilers.started() == []


@pytest.mark.parametrize("name", ["made.h", "made.c"])
def test_a_change_is_seen(
    name: str,
    host_libraries: Libraries,
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compilers = Compilers(monkeypatch)
    before = compiled(host_libraries, package, tmp_path / "a")
    changed = package / name
    text = changed.read_text()
    changed.write_text(text.replace("42", "43").replace("= ANSWER", "= ANSWER + 1"))
    compilers.started()
    after = compiled(host_libraries, package, tmp_path / "b")
    assert compilers.started() == ["made.c"]
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_headers_of_the_runtime_are_seen(
    host_libraries: Libraries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tmp_path / "runtime_c" / "app"
    app.mkdir(parents=True)
    source, header = app / "values.c", app / "values.h"
    source.write_text("int one;\n")
    header.write_text("enum { A };\n")
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    before = compiler.object_place(host_libraries.folder, source, [])
    header.write_text("enum { B };\n")
    compiler._headers_of_runtime.cache_clear()
    after = compiler.object_place(host_libraries.folder, source, [])
    assert after != before
    assert compiler.object_place(host_libraries.folder, source, ["-DA"]) != after
    compiler._headers_of_runtime.cache_clear()


def test_files_of_users_are_compiled_each_time(
    host_libraries: Libraries,
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They may include whatever there is."""
    compilers = Compilers(monkeypatch)
    app = package / "made.c"
    for _ in range(2):
        host_libraries.compile([app], tmp_path, [f"-I{package}"], given=[app])
        assert compilers.started() == ["made.c"]


def test_old_objects_are_forgotten(
    host_libraries: Libraries,
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiler, "_KEPT", 2)
    monkeypatch.setattr(kept, "_IN_USE_S", 0)
    for number in range(3):
        (package / "made.h").write_text(HEADER.replace("42", str(number)))
        compiled(host_libraries, package, tmp_path / str(number))
    assert len(list((host_libraries.folder / "own").glob("*.o"))) == 2
