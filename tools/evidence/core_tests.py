"""The C tests of the core, built once for a target and run one after another."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import c_programs
import crafted
import programs as toy_programs
from c_programs import KERNELS, TESTS, TOPICS, Target

_APART = ("test_slots", "test_verify")  # of code beside the core


class CoreTests:
    """Programs of all C tests in a folder, and the files that they read."""

    def __init__(self, folder: Path, target: Target) -> None:
        self._target = target
        self._given = folder / "programs"
        self._given.mkdir()
        toy_programs.write_all(self._given)
        crafted.write_all(self._given)
        built = folder / target.name
        built.mkdir()
        self._builder = c_programs.Builder(built)
        self._sources = {
            topic: [TESTS / f"{topic}.c"] for topic in TOPICS if topic not in _APART
        }
        self._sources["kernels"] = [TESTS / "kernels.c", *KERNELS]
        self._sources["crafted"] = [TESTS / "crafted.c"]
        self.programs = {
            name: self._builder.build(target, name, *files)
            for name, files in self._sources.items()
        }

    def run(self, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """One of the programs; of `crafted` the answers are in stderr."""
        files = [one.file for one in crafted.collect()] if name == "crafted" else []
        return c_programs.run(
            self._target,
            self.programs[name],
            str(self._given),
            *files,
            **environment,
        )

    def killer(self, part: str, changed: Path) -> str | None:
        """The first test that fails, or does not end, with another object for a part of
        the core."""
        for name in self.programs:
            other = self._builder.relinked(self._target, name, part, changed)
            kept, self.programs[name] = self.programs[name], other
            try:
                if next(self._failures_of(name), None) is not None:
                    return name
            except subprocess.TimeoutExpired:
                return name
            finally:
                self.programs[name] = kept
        return None

    def failures(self) -> Iterator[str]:
        """What is not as it should be, with the name of the test; until nobody asks."""
        for name in self.programs:
            yield from self._failures_of(name)

    def _failures_of(self, name: str) -> Iterator[str]:
        done = self.run(name)
        if name == "crafted":
            yield from _wrong_answers(done.stderr)
        elif done.returncode != 0:
            yield name


def _wrong_answers(text: str) -> Iterator[str]:
    lines = [line.partition(" ") for line in text.splitlines()]
    answers = {name: answer for name, _, answer in lines}
    for one in crafted.collect():
        if answers.get(one.file) != f"{one.stage} {one.status}":
            yield one.file
