"""The C tests of the core, built once for a target and run one after another."""

from __future__ import annotations

import math
import resource
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import c_programs
import crafted
import programs as toy_programs
from c_programs import CORE_LIBRARY, KERNELS, TESTS, TOPICS, Target

_APART = ("test_slots", "test_verify")  # of code beside the core
# Of a processor, whatever else it does, until a test is taken for endless.
_LEAST_SECONDS = 3
_WAIT = 3600.0  # seconds, for a processor


class CoreTests:
    """Programs of all C tests in a folder, and the files that they read. With `apart`
    they load the core, of which parts can be changed."""

    def __init__(self, folder: Path, target: Target, apart: bool = False) -> None:
        self._target = target
        self._given = folder / "programs"
        self._given.mkdir()
        toy_programs.write_all(self._given)
        crafted.write_all(self._given)
        self._built = folder / target.name
        self._built.mkdir()
        (self._built / "changed").mkdir()
        self._builder = c_programs.Builder(self._built)
        self._files = crafted.collect()
        self._answers = {
            f"{file.file} {file.stage} {file.status}" for file in self._files
        }
        build = self._builder.build_apart if apart else self._builder.build
        self.programs = {
            name: build(target, name, *files) for name, files in _sources().items()
        }
        self._order: dict[str, list[str]] = {}  # for each part: what killed last
        self._seconds = dict.fromkeys(self.programs, 120)

    def run(self, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """One of the programs; of `crafted` the answers are in stderr."""
        files = [file.file for file in self._files] if name == "crafted" else []
        limit = ("prlimit", f"--cpu={self._seconds[name]}")
        return c_programs.run(
            replace(self._target, runner=limit),
            self.programs[name],
            str(self._given),
            *files,
            timeout=_WAIT,
            **{"LD_LIBRARY_PATH": str(self._built), **environment},
        )

    def failing(self) -> str | None:
        """The first test that fails as the core is; takes the times of all."""
        for name in self.programs:
            began = _processor_seconds()
            if not self._passes(name):
                return name
            seconds = _processor_seconds() - began
            self._seconds[name] = max(_LEAST_SECONDS, math.ceil(10 * seconds))
        return None

    def killer(self, part: str, changed: Path) -> str | None:
        """A test that fails, or does not end, with another object for a part of the
        core."""
        folder = self._built / "changed"
        self._builder.library(self._target, folder / CORE_LIBRARY, **{part: changed})
        order = self._order.setdefault(part, sorted(self.programs, key=_likely(part)))
        for name in order:
            if not self._passes(name, LD_LIBRARY_PATH=str(folder)):
                order.remove(name)
                order.insert(0, name)
                return name
        return None

    def _passes(self, name: str, **environment: str) -> bool:
        done = self.run(name, **environment)
        if name == "crafted":
            return self._answers <= set(done.stderr.splitlines())
        return done.returncode == 0


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sources() -> dict[str, list[Path]]:
    sources = {topic: [TESTS / f"{topic}.c"] for topic in TOPICS if topic not in _APART}
    sources["kernels"] = [TESTS / "kernels.c", *KERNELS]
    sources["crafted"] = [TESTS / "crafted.c"]
    return sources


def _likely(part: str) -> Callable[[str], tuple[bool, str]]:
    """Tests that are called like a part of the core come first."""
    return lambda name: (part.partition("_")[0] not in name, name)
