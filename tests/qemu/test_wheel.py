"""The wheel in an environment of its own, in an empty folder: nothing of a checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ember import __version__, paths

ROOT = paths.root()
SCORES = ["-1.673", "-0.401", "-1.371", "0.178", "-1.871"]  # the first five, of zeros
pytestmark = [pytest.mark.qemu, pytest.mark.long]


@pytest.fixture(scope="module")
def programs(
    environment: Callable[[str, Sequence[str]], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The folder of programs of an environment with the wheel of this checkout.

    It stands in the cache, so that its libraries are compiled only when they change.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folder = environment("wheel", project["dependencies"])
    wheels = tmp_path_factory.mktemp("wheels")
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index"]
    words += ["--no-build-isolation", "-w", str(wheels), str(ROOT)]
    subprocess.run(words, check=True)
    (wheel,) = wheels.iterdir()
    install = [sys.executable, "-m", "pip", "--python", str(folder), "install", "-q"]
    install += ["--no-deps", "--no-index", "--force-reinstall"]
    subprocess.run([*install, wheel], check=True)
    return folder / "bin"


class Shell:
    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        path = f"{programs}:{os.environ['PATH']}"
        self.variables = kept | {"PATH": path, "NO_COLOR": "1", "COLUMNS": "80"}

    def __call__(self, line: str, *words: object) -> str:
        done = subprocess.run(
            [*line.split(), *map(str, words)],
            cwd=self.folder,
            env=self.variables,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_from_new_to_run(programs: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path, programs)
    assert shell("ember --version") == f"ember {__version__}\n"
    shell("ember new reader --template cmake --board mps2-an386")
    model = "reader/models/digits.pte"
    assert "stack bound" in shell(f"ember build {model} --board mps2-an386")
    said = shell(f"ember run {model} --board mps2-an386")
    assert "output 0: float32[1,10] -1.67" in said
    assert "convolution_f32" in said
    # What a project finds is the package in the environment.
    package = Path(shell("ember cmake-dir").strip())
    assert programs.parent in package.parents
    shell("cmake -S reader -B reader/build -G Ninja")
    shell("cmake --build reader/build")
    lines = shell("ctest --test-dir reader/build -V").splitlines()
    at = lines.index("1: executed")
    assert [line.removeprefix("1: ") for line in lines[at + 1 : at + 6]] == SCORES
    cache = (tmp_path / "reader/build/CMakeCache.txt").read_text()
    assert re.search(rf"^ember_DIR:\w+={re.escape(str(package))}$", cache, re.M)


def test_what_the_templates_need_is_in_it(programs: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path, programs)
    for template in ("platformio", "zephyr", "arduino"):
        shell(f"ember new {template} --template {template} --board netduinoplus2")
    assert (tmp_path / "platformio/test/test_model/test_main.c").is_file()
    facts = (tmp_path / "platformio/.ember/python.json").read_text()
    assert str(programs.parent) in facts
    assert str(ROOT) not in facts
    shell("ember package zephyr/models/digits.pte --board netduinoplus2 -o all")
    assert (tmp_path / "all/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
