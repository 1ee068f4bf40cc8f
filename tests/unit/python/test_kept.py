# SPDX-License-Identifier: Apache-2.0
"""What is kept in the cache folder is asked for again when what it is of changes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ember import files, kept
from ember.toolchain import tools

OLD_NS = 10**9


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("EMBER_CACHE", str(folder))
    return folder


class Asked:
    """An answer that counts how often it is asked for."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> Any:
        self.times += 1
        return self.answer


def test_an_answer_is_asked_for_once() -> None:
    answer = Asked({"a": [1, 2.5, None, "x"]})
    for _ in range(3):
        assert kept.kept("what", "1", answer) == answer.answer
    assert answer.times == 1
    assert kept.kept("what", "2", answer) == answer.answer
    assert kept.kept("other", "2", answer) == answer.answer
    assert answer.times == 3


@pytest.mark.parametrize("answer", [{1: "a number"}, ("a", "tuple"), {"set"}])
def test_what_json_changes_is_not_kept(answer: Any) -> None:
    asked = Asked(answer)
    assert [kept.kept("what", "1", asked) for _ in range(2)] == [answer, answer]
    assert asked.times == 2


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"of": "1"}', b"\xff"])
def test_a_broken_file_is_asked_for_again(cache: Path, content: bytes) -> None:
    asked = Asked("yes")
    kept.kept("what", "1", asked)
    (file,) = (cache / "kept").iterdir()
    file.write_bytes(content)
    assert kept.kept("what", "1", asked) == "yes"
    assert asked.times == 2


def test_without_a_folder_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "file" / "cache"))
    assert kept.kept("what", "1", Asked("yes")) == "yes"


# ---- files ---------------------------------------------------------------------------


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was touched a moment ago."""
    later = time.time_ns() + 3600 * OLD_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)


def write(path: Path, text: str) -> None:
    """A file of the same age, whatever it contains."""
    path.write_text(text)
    os.utime(path, ns=(OLD_NS, OLD_NS))


def test_files_are_read_when_one_was_touched(
    tmp_path: Path, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched, other = tmp_path / "a.c", tmp_path / "b.c"
    write(touched, "int a;")
    write(other, "int b;")
    files = [str(touched), str(other)]
    first = kept.digest(tmp_path, files)
    with monkeypatch.context() as unread:
        unread.setattr(kept, "_read", lambda *_: pytest.fail("they are read"))
        assert kept.digest(tmp_path, reversed(files)) == first
    write(touched, "int c;")  # as long, and as old
    assert kept.digest(tmp_path, files) != first
    write(touched, "int a;")
    assert kept.digest(tmp_path, files) == first
    assert kept.digest(tmp_path, files[:1]) != first


def test_of_files_touched_now_nothing_is_kept(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;")
    kept.digest(tmp_path, [str(tmp_path / "a.c")])
    assert not cache.exists()


def test_a_file_that_is_replaced_just_now(cache: Path, tmp_path: Path) -> None:
    assert kept.digest(tmp_path, [str(tmp_path / "gone.c")])
    assert not cache.exists()


def test_long_yaml_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.yaml"
    lines = [f"- {{op: a{number}, kernels: [x, y]}}\n" for number in range(2000)]
    path.write_text("".join(lines))
    first = files.read_yaml(path)
    parse = Asked("parsed again")
    monkeypatch.setattr(files, "_parsed", lambda *_: parse())
    assert files.read_yaml(path) == first
    path.write_text("".join(reversed(lines)))
    assert files.read_yaml(path) == "parsed again"


# ---- programs ------------------------------------------------------------------------


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Where a program is found that has no other name."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    answer = Asked("1.2.3")
    monkeypatch.setattr(tools, "_asked", lambda _: answer())
    return answer


def versions(name: str) -> list[str | None]:
    """As three commands see it."""
    reported = []
    for _ in range(3):
        tools.version.cache_clear()
        reported.append(tools.version(name))
    tools.version.cache_clear()
    return reported


def test_a_version_is_asked_for_until_the_program_changes(
    asked: Asked, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "toy-cc"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    assert versions("toy-cc") == ["1.2.3"] * 3
    asked.answer = "1.2.4"
    program.write_bytes(b"\x7fELf")
    assert versions("toy-cc") == ["1.2.4"] * 3
    assert asked.times == 2


@pytest.mark.parametrize("text", [b"#!/bin/sh\n", b"\x7fELF"])
def test_what_stands_for_other_programs_is_always_asked(
    asked: Asked, tmp_path: Path, text: bytes
) -> None:
    program = tmp_path / "bin" / ("toy-cc" if text.startswith(b"#!") else "wrapper")
    program.write_bytes(text)
    program.chmod(0o755)
    if program.name == "wrapper":
        (tmp_path / "bin" / "toy-cc").symlink_to(program)
    versions("toy-cc")
    assert asked.times == 3


def made(folder: Path, ages: dict[str, float]) -> dict[str, Path]:
    """Files of a cache, by name, and the seconds since they were used."""
    now, places = time.time(), {}
    for name, age in ages.items():
        places[name] = folder / name
        places[name].write_text(name)
        os.utime(places[name], (now - age, now - age))
    return places


def test_what_was_not_used_for_longest_is_forgotten(tmp_path: Path) -> None:
    places = made(tmp_path, {"a": 9000, "b": 8000, "c": 7000})
    folder = tmp_path / "d"
    folder.mkdir()
    os.utime(folder, (1, 1))
    kept.forget_old([*places.values(), folder, tmp_path / "gone"], 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


def test_what_another_process_has_found_stays(tmp_path: Path) -> None:
    places = made(tmp_path, {"a": 9000, "b": 8000, "c": 7000, "d": 60})
    kept.seal(places["a"], places["a"])
    assert kept.found(places["a"])
    kept.forget_old(places.values(), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.sum", "d"]


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    assert not kept.found(tmp_path / "nothing")
    assert not list(tmp_path.iterdir())


# ---- what compilers make -------------------------------------------------------------


@pytest.fixture
def place(cache: Path) -> Path:
    cache.mkdir()
    return cache / "entry"


def aside(tmp_path: Path, content: bytes = b"content", *, folder: bool = False) -> Path:
    path = tmp_path / "cache" / "aside"
    if folder:
        path.mkdir()
        (path / "file").write_bytes(content)
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("content", [b"", b"conten", b"Content"])
def test_damage_is_found_and_said(
    content: bytes,
    folder: bool,
    place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not kept.found(place)
    for _ in range(2):
        kept.put(aside(tmp_path, folder=folder), place)
        assert kept.found(place)
        monkeypatch.setattr(kept, "_checked", {})  # as another process
        assert kept.found(place)
        (place / "file" if folder else place).write_bytes(content)
        monkeypatch.setattr(kept, "_checked", {})
        assert not kept.found(place)
        assert f"{place} was damaged: it is made again" in capsys.readouterr().err
        assert not place.exists()
        assert not kept.found(place)
        assert capsys.readouterr().err == ""


def test_a_file_without_a_digest_is_made_again(place: Path, tmp_path: Path) -> None:
    """Put there by an older version, or its digest was lost."""
    place.write_bytes(b"old")
    assert not kept.found(place)
    kept.put(aside(tmp_path), place)
    assert kept.found(place)


WRITER = """
import sys, tempfile
from pathlib import Path
from ember import kept
place = Path(sys.argv[1])
for turn in range(100):
    for folder in (False, True):
        target = place.with_name(f"{place.name}{turn}{folder}")
        if not kept.found(target):
            with tempfile.TemporaryDirectory(dir=place.parent) as aside:
                item = Path(aside) / "made"
                if folder:
                    item.mkdir()
                content = sys.argv[2].encode() * 100_000
                (item / "a" if folder else item).write_bytes(content)
                kept.put(item, target)
        assert kept.found(target), target
"""


def test_writers_at_once_find_what_is_whole(place: Path) -> None:
    """Also where they make it in different ways."""
    words = [sys.executable, "-c", WRITER, str(place)]
    running = [
        subprocess.Popen([*words, text], stderr=subprocess.PIPE, text=True)
        for text in "abc"
    ]
    said = [process.communicate()[1] for process in running]
    assert said == [""] * 3
    assert all(process.returncode == 0 for process in running)


def test_a_full_disk_leaves_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as only_here:
        only_here.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            kept.put(aside(tmp_path), place)
    assert not kept.found(place)
    kept.put(aside(tmp_path), place)
    assert kept.found(place)


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_another_user_reads_but_is_told_where_it_must_write(
    place: Path, tmp_path: Path
) -> None:
    kept.put(aside(tmp_path), place)
    code = f"""
import os
from pathlib import Path
from ember import kept, paths
os.setuid(65534)
assert kept.found(Path({str(place)!r}))
paths.cache()
"""
    for folder in (tmp_path, *tmp_path.parents):
        if folder != Path("/tmp") and folder.is_relative_to("/tmp"):
            folder.chmod(0o755)
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(f"cannot write the folder {place.parent}: permission denied")
