"""What is written is whole or as it was: full disks, interrupts, two at a time."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import interrupts
import pytest

from ember import cli, paths, writing
from ember.errors import SdkError
from ember.firmware import folder as build_folder

EMBER = [sys.executable, "-m", "ember"]
READY = (
    "print('ready', flush=True); from ember.cli import main; raise SystemExit(main())"
)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2])}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, hidden ones too."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


# ---- files ---------------------------------------------------------------------------


def test_a_file_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    writing.write(path, b"before")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(
        SdkError, match=r"cannot write .*a\.json: the disk is full"
    ) as e:
        writing.write(path, b"after")
    assert "unchanged" in (e.value.hint or "")
    assert tree(tmp_path) == {"a.json": b"before"}


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a", tmp_path / "link"
    writing.write(path, b"1")
    path.chmod(0o640)
    link.symlink_to("a")
    writing.write(link, b"2")
    assert link.is_symlink()
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/dev/full", "the disk is full"),
        ("fifo", "cannot write"),  # nobody reads it
        ("folder", "it is a folder"),
        ("none/a.json", "No such file"),
        ("file/a.json", "Not a directory"),
        ("loop", "cannot write"),
        ("x" * 300, "File name too long"),
        ("a\0b", "is not a path"),
    ],
)
def test_places_that_cannot_be_written(
    tmp_path: Path, name: str, sentence: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SdkError, match=sentence) as error:
        writing.write(tmp_path / name, b"x")
    assert "\n" not in error.value.what


def test_a_claim_notices_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.bpte"
    claim = writing.Claim(path)
    path.write_bytes(b"another's")
    with pytest.raises(SdkError, match=r"another program wrote .* in the meantime"):
        claim.write(b"mine")
    assert path.read_bytes() == b"another's"
    writing.Claim(path).write(b"mine")
    assert path.read_bytes() == b"mine"


# ---- folders -------------------------------------------------------------------------


def fill(target: Path, texts: dict[str, str], whole: tuple[str, ...] = ()) -> None:
    with writing.folder(target, whole) as place:
        for name, text in texts.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)


def test_a_folder_is_replaced_but_for_others_files(tmp_path: Path) -> None:
    fill(tmp_path, {"src/a.c": "a", "src/b/b.c": "b", "c": "c"})
    (tmp_path / "mine").write_text("mine")
    before = (tmp_path / "src/a.c").stat()
    fill(tmp_path, {"src/a.c": "a", "c": "new"}, whole=("src",))
    assert tree(tmp_path) == {"src/a.c": b"a", "c": b"new", "mine": b"mine"}
    after = (tmp_path / "src/a.c").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert not (tmp_path / "src/b").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SdkError, ValueError])
def test_a_folder_that_is_not_finished_is_as_before(
    tmp_path: Path, error: type[BaseException]
) -> None:
    fill(tmp_path / "old", {"a": "a"})
    for name in ("old", "new/deep"):
        with pytest.raises(error), writing.folder(tmp_path / name) as place:
            (place / "a").write_text("half")
            raise error("no")
    assert tree(tmp_path) == {"old/a": b"a"}
    assert not (tmp_path / "new").exists()


def test_one_command_at_a_time(tmp_path: Path) -> None:
    with (
        writing.folder(tmp_path / "a"),
        pytest.raises(SdkError, match=r"another Ember command is writing .*a$"),
        writing.folder(tmp_path / "a"),
    ):
        pass


def test_what_a_killed_command_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / f"{writing._ASIDE}left").mkdir()
    fill(tmp_path, {"a": "a"})
    assert tree(tmp_path) == {"a": b"a"}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_builds_of_two_things_into_one_folder(tmp_path: Path) -> None:
    """The second waits; then the first one's is there, which it would overwrite."""
    script = (
        "import sys, time; from pathlib import Path\n"
        "from ember.firmware import folder as b\n"
        "folder = Path(sys.argv[1])\n"
        "with b.locked(folder, 'first', None), b.filled(folder, 'first') as place:\n"
        "    (place / '4-package').mkdir(); print('in', flush=True); time.sleep(0.5)\n"
    )

    def start() -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", script, str(tmp_path)]
        process = subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.read(2) == b"in"
        return process

    with start(), build_folder.locked(tmp_path, "first", None) as is_there:
        assert is_there
    with (
        start(),
        pytest.raises(SdkError, match="another Ember command is writing"),
        build_folder.locked(tmp_path, "second", None),
    ):
        pass
    with build_folder.locked(
        tmp_path, "second", "first"
    ) as is_there:  # afterwards it may
        assert not is_there


# ---- commands ------------------------------------------------------------------------

COMMANDS: dict[str, list[str]] = {
    "build": ["build", "MODEL", "--board", "host", "--out", "o"],
    "pack": ["pack", "MODEL", "--board", "host", "-o", "o"],
    "package": ["package", "MODEL", "--board", "mps2-an386", "-o", "o"],
    "new": ["new", "o", "--model", "MODEL"],
    "platformio": ["platformio", "o"],
    "select": ["select", "MODEL", "-o", "o"],
    "json": ["inspect", "MODEL", "--json", "o"],
    "html": ["plan", "MODEL", "--board", "mps2-an386", "--html", "o"],
    "junit": ["test", "BUNDLE", "--board", "host", "--junit", "o"],
    "bindings": ["bindings", "--selected", "OPS", "--board", "host", "-o", "o"],
}


def run(
    words: list[str], folder: Path, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*EMBER, *words],
        cwd=folder,
        # Python does not notice that half a module was written.
        env=ENVIRONMENT | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=before,
    )


def words_of(name: str, data: Path, folder: Path) -> list[str]:
    ops = folder.parent / "ops.yaml"
    if name == "bindings":
        assert cli.main(["select", str(data / "add.pte"), "-o", str(ops)]) == 0
    places = {
        "MODEL": str(data / "add.pte"),
        "BUNDLE": str(data / "bundle.bpte"),
        "OPS": str(ops),
    }
    return [places.get(word, word) for word in COMMANDS[name]]


def no_room(most: int) -> Callable[[], None]:
    """A file takes no more than that; what the kernel then says is handled alike."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_full_disk(
    tmp_path: Path, data: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "here"
    place.mkdir()
    words = words_of(name, data, place)
    if name not in ("new", "build"):
        monkeypatch.chdir(place)
        assert cli.main(words) == 0
    before = tree(place)
    if name == "pack":  # what is there is another one
        words += ["--messages"]
    if name in ("json", "junit", "html", "select"):
        (place / "o").write_bytes(b"before")
        before = tree(place)
    done = run(words, place, no_room(100))
    said = done.stderr
    if name in ("package", "platformio", "bindings"):  # the same files are not touched
        assert done.returncode in (0, 1)
    else:
        assert done.returncode == 1, said
        assert said.count("\n") <= 2
        assert "exceeds the file size limit" in said or "the disk is full" in said
    assert "bug in Ember" not in said
    assert "Traceback" not in said
    assert tree(place) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["build", "package", "new", "platformio"])
def test_interrupt(tmp_path: Path, data: Path, name: str) -> None:
    place = tmp_path / "here"
    place.mkdir()
    words = words_of(name, data, place)
    assert run(words, place).returncode == 0
    whole = tree(place)
    for delay in (0.2, 0.4, 0.8):
        shutil.rmtree(place / "o", ignore_errors=True)
        process = subprocess.Popen(
            [sys.executable, "-c", READY, *words],
            cwd=place,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=interrupts.heeded,  # noqa: PLW1509 - one thread
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"  # Python can be interrupted
        deadline = time.monotonic() + delay
        while time.monotonic() < deadline and not (place / "o").exists():
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert process.returncode in (0, 130, -signal.SIGINT), said
        assert process.returncode != 130 or "interrupted" in said
        assert tree(place) in ({}, whole)


@pytest.mark.slow
def test_a_full_disk_of_a_real_kind(tmp_path: Path, data: Path) -> None:
    """A file system of 64 kB, where one may be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        for name in ("build", "pack", "package", "new", "json", "bindings"):
            (place / "rest").write_bytes(bytes(64 << 10))
            done = run(words_of(name, data, place), place)
            assert done.returncode == 1, done.stdout
            assert "the disk is full" in done.stderr
            assert "bug" not in done.stderr
            assert list(tree(place)) == ["rest"]
            assert not list(place.glob("o/*"))
            shutil.rmtree(place / "o", ignore_errors=True)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_while_libraries_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so; the next build starts with a new tree."""
    from ember import boards
    from ember.toolchain import build_tree

    monkeypatch.setenv("EMBER_CACHE", str(tmp_path))
    tools = tmp_path / "bin"
    tools.mkdir()
    said = "fatal error: error writing to x.o: No space left on device"
    ninja = tools / "ninja"
    ninja.write_text(f'#!/bin/sh\necho "{said}"\nexit 1\n')
    cmake = tools / "cmake"
    cmake.write_text('#!/bin/sh\nwhile [ "$1" != -B ]; do shift; done; mkdir -p "$2"\n')
    for tool in (ninja, cmake):
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    config = build_tree.Config(boards.load("host"), "host", messages=False)
    with pytest.raises(SdkError, match=r"cannot compile .*: the disk is full"):
        build_tree.compile_libraries(config)
    assert not config.build.exists()


def test_paths_that_cmake_cannot_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("/x/a;b", '/x/"', "/x/a\nb"):
        monkeypatch.setenv("EMBER_CACHE", path)
        with pytest.raises(SdkError, match="which CMake cannot handle"):
            paths.cache()
