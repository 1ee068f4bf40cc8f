"""The order of tests, and virtual environments that tests of packages need, made once
and kept in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ember import paths

# What reads packages of Ember: PlatformIO, Kconfig, ESP-IDF's component manager, pyOCD.
TOOLS = (
    *("platformio==6.2.0", "scons==4.11.1", "kconfiglib==14.1.0"),
    *("idf-component-manager==3.1.2", "pyocd==0.46.0", "jsonschema==4.26.0"),
)


pytest_plugins = ["cpu_times"]

# What takes longest, by --cpu-times. The first three need few libraries in common, so
# that processes do not wait for each other's compilers.
LONGEST = (
    *("cases_on_boards", "platformio", "emulator", "linux", "transport"),
    *("certificate", "estimate", "selective_build", "cmake", "applications"),
    *("prepared", "flashing", "fuzz", "here", "c", "writing", "hostile_inputs"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, then those with most slow tests, those on boards before,
    so that what ends last is short."""
    slow = [test for test in items if test.get_closest_marker("slow")]
    every = Counter(test.path for test in slow)
    on_boards = Counter(test.path for test in slow if test.get_closest_marker("qemu"))
    places = {f"test_{name}": place for place, name in enumerate(LONGEST)}

    def key(test: pytest.Item) -> tuple[int, int, int]:
        place = places.get(test.path.stem, len(places))
        return place, -on_boards[test.path], -every[test.path]

    items.sort(key=key)


Environment = Callable[[str, Sequence[str]], Path]


@pytest.fixture(scope="session")
def environment() -> Environment:
    """The folder of a virtual environment, by its name and what is installed."""
    return _environment


def _environment(name: str, packages: Sequence[str]) -> Path:
    """Made once; skips without PyPI."""
    key = hashlib.sha256("\n".join([sys.version, *packages]).encode()).hexdigest()[:12]
    folder = paths.writable_folder(paths.cache() / "test-venvs") / f"{name}-{key}"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").is_file():
            shutil.rmtree(folder, ignore_errors=True)
            make = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
            subprocess.run(make, check=True)
            # Installing pip as well would take seconds.
            pip = [sys.executable, "-m", "pip", "--python", str(folder)]
            words = [*pip, "install", "-q", "--no-compile", *packages]
            done = subprocess.run(words, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(f"{name} cannot be installed: {done.stderr[-300:]}")
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def package_tools(environment: Environment) -> Path:
    """The folder of the programs of TOOLS."""
    return environment("package-tools", TOOLS) / "bin"
