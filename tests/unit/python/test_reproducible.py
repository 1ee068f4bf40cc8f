"""Firmware, map, certificate and bill of materials are the same bytes from another
checkout with another cache, in folders with other names, as another user elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from ember import paths

ROOT = paths.root()
SOURCES = ("backends", "boards", "cmake", "kernels", "runtime_c", "sdk", "toolchains")
FILES = ("firmware.elf", "firmware.map", "certificate.json", "size.json")


@dataclass(frozen=True)
class User:
    """What differs between two who build the same."""

    language: str
    zone: str
    hash_seed: int
    umask: int


HERE = User("C.UTF-8", "UTC", 1, 0o022)
THERE = User("C", "Asia/Kathmandu", 4711, 0o077)


def build(checkout: Path, cache: Path, here: Path, board: str, user: User) -> Path:
    """The build folder of the digits in `here`, whose parent is the user's home."""
    here.mkdir(parents=True)
    shutil.copy(ROOT / "examples/models/digits/digits.pte", here)
    words = [sys.executable, "-m", "ember", "build", "digits.pte", "--board", board]
    words += ["--sbom", "sbom.json"]
    variables = {
        "PYTHONPATH": str(checkout / "sdk"),
        "EMBER_CACHE": str(cache),
        "HOME": str(here.parent),
        "LC_ALL": user.language,
        "TZ": user.zone,
        "PYTHONHASHSEED": str(user.hash_seed),
    }
    done = subprocess.run(
        [*words, "--out", "made"],
        cwd=here,
        env={**os.environ, **variables},
        umask=user.umask,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return here / "made"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second checkout, at a long path with a space."""
    folder = tmp_path_factory.mktemp("c") / "another checkout of the same sources"
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copytree(ROOT / "tools/plugin", folder / "tools/plugin")
    for name in ("CMakeLists.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.mark.slow
@pytest.mark.broad
@pytest.mark.parametrize("board", ["host", "mps2-an386", "mps3-an547"])
def test_same_bytes_from_another_checkout(
    board: str, other: Path, tmp_path: Path
) -> None:
    first = build(ROOT, paths.cache(), tmp_path / "a", board, HERE)
    there = other.parent / "a cache, too"
    second = build(other, there, tmp_path / "a much longer name" / "b", board, THERE)
    for name in FILES:
        from_here, from_there = (out / "5-firmware" / name for out in (first, second))
        assert from_here.read_bytes() == from_there.read_bytes(), name
    from_here, from_there = (out.parent / "sbom.json" for out in (first, second))
    assert from_here.read_bytes() == from_there.read_bytes()


def wheel(checkout: Path, into: Path, epoch: str | None, umask: int) -> bytes:
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index"]
    words += ["--no-build-isolation", "-w", str(into), str(checkout)]
    variables = {} if epoch is None else {"SOURCE_DATE_EPOCH": epoch}
    kept = {key: text for key, text in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    subprocess.run(words, check=True, env=kept | variables, umask=umask)
    (built,) = into.iterdir()
    return built.read_bytes()


@pytest.mark.slow
@pytest.mark.broad
def test_wheels_of_two_checkouts_are_the_same_bytes(tmp_path: Path) -> None:
    """Their files are of different days; only SOURCE_DATE_EPOCH dates the wheels."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = facts["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    first, second = tmp_path / "a", tmp_path / "another name" / "b"
    build = {"pyproject.toml", "hatch_build.py", "README.md", ".gitignore"}
    for name in {*named, *build, "sdk"}:
        source = ROOT / name
        for checkout in (first, second):
            target = checkout / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, ignore=ignored)
            else:
                shutil.copy(source, target)
    for path in second.rglob("*"):
        os.utime(path, (0, 1_000_000_000))
    day = "1700000000"
    built = wheel(first, tmp_path / "1", day, 0o022)
    assert built == wheel(second, tmp_path / "2", day, 0o077)
    assert built != wheel(first, tmp_path / "3", "1600000000", 0o022)
    assert wheel(first, tmp_path / "4", None, 0o022) == wheel(
        second, tmp_path / "5", None, 0o077
    )


ECHO = """\
#include "ember/port.h"
int main(void) {
    char line[64];
    const size_t length = ember_port_arguments(line, sizeof(line));
    ember_port_log(line);
    ember_port_exit((int)length);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a", "a name with spaces", "long" * 40])
def test_arguments_of_a_program_with_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "echo.c").write_text(ECHO)
    sources = [
        ROOT / "runtime_c/port" / source for source in ("host/host.c", "common.c")
    ]
    words = ["cc", "-std=c11", f"-I{ROOT / 'runtime_c/include'}", f"-I{ROOT}"]
    words += ["-D_GNU_SOURCE", "-o", str(tmp_path / name), str(tmp_path / "echo.c")]
    subprocess.run([*words, *map(str, sources)], check=True)
    done = subprocess.run(
        [tmp_path / name, "in.bin", "out.bin"], capture_output=True, check=False
    )
    assert (done.stderr, done.returncode) == (b"in.bin out.bin", 14)
    done = subprocess.run([tmp_path / name], capture_output=True, check=False)
    assert (done.stderr, done.returncode) == (b"", 0)
    done = subprocess.run([tmp_path / name, "x" * 99], capture_output=True, check=False)
    assert (done.stderr, done.returncode) == (b"", 0)
