#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page of the documentation -> its commands, run as a reader would run them.

    tools/follow.py docs/export.md [--python venv/bin/python] [--keep FOLDER]

Blocks of a page run in order, in a copy of the checkout with the files of GIVEN beside
it. What stands behind the language of a block says what it is:

    ```sh               commands that are run
    ```sh hardware      commands that need a board on the desk: options are checked
    ```sh long          commands that take hours: options are checked
    ```sh export        commands that need PyTorch: left out where it is not installed
    ```py network.py    a file that the commands after it use

Where pip is configured with indexes of its own, these serve instead of the page's
`--index-url`. Exit status 1 with the output of the first block that fails.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from ember import cli

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+)[ ]?([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDEX = re.compile(r" --index-url \S+")
ASSIGNMENT = re.compile(r"\w+=")
NOT_RUN = ("hardware", "long")
TIME_LIMIT = 1800  # seconds for one block

# Files that readers are supposed to have: the name in the pages, its source.
GIVEN = {
    "model.pte": "examples/models/digits/digits.pte",
    "a.pte": "examples/models/digits/digits.pte",
    "b.pte": "examples/models/pair/judge.pte",
    "main.c": "examples/firmware/classify.c",
}


@dataclass(frozen=True)
class Block:
    language: str
    word: str  # what stands behind the language
    text: str
    line: int

    @property
    def is_file(self) -> bool:
        return "." in self.word

    @property
    def commands(self) -> list[str]:
        """Lines of the shell, continued ones joined, without comments."""
        joined = self.text.replace("\\\n", " ")
        lines = (line.strip() for line in joined.splitlines())
        return [line for line in lines if line and not line.startswith("#")]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            match[1], match[2].strip(), match[3], text.count("\n", 0, match.start()) + 1
        )
        for match in BLOCK.finditer(text)
    ]


def check_options(block: Block) -> None:
    """AssertionError when a command of the block has an option that does not exist."""
    for line in block.commands:
        words = shlex.split(line, comments=True)
        program, *words = itertools.dropwhile(ASSIGNMENT.match, words)
        if program == "python":
            program, *words = words
        if program == "-m":
            continue
        if program == "ember":
            _parse_verb(words)
        elif program == "tools/cases" and words != ["--digests"]:  # hands them on
            _parse_verb(["test", *words])
        else:
            _look_into_source(program, words)


def _parse_verb(words: list[str]) -> None:
    verb = words[0]
    assert verb in cli.VERBS, f"ember {verb} does not exist"
    command = typer.main.get_command(cli._app(verb)).commands[verb]  # type: ignore[attr-defined]
    known = {name for option in command.params for name in option.opts}
    for word in words[1:]:
        option = word.split("=")[0]
        assert not word.startswith("-") or option in known, (
            f"ember {verb} has no {word}"
        )


def _look_into_source(program: str, words: list[str]) -> None:
    """For tools that cannot tell their options without PyTorch, and for make."""
    path = ROOT / ("Makefile" if program == "make" else program)
    path = path / "__main__.py" if path.is_dir() else path
    assert path.is_file(), f"{program} does not exist"
    source = path.read_text(encoding="utf-8")
    for word in words:
        if program == "make":
            assert f"\n{word}:" in source, f"make has no target {word}"
        elif word.startswith("-"):
            assert f'"{word}"' in source, f"{program} has no {word}"


def copy_of_checkout(folder: Path) -> None:
    """The files that git tracks, as they are now, and those that a reader has."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name, source in GIVEN.items():
        shutil.copy(ROOT / source, folder / name)


def follow(page: Path, folder: Path, python: Path) -> Iterator[str]:
    """Do what the page says; what was done, block by block.

    AssertionError with the output of a block that fails.
    """
    environment = _environment(python)
    if not (folder / ".venv").exists():  # as `make setup` leaves it
        (folder / ".venv").symlink_to(python.parent.parent)
    has_torch = _imports(python, "torch")
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        if block.is_file:
            (folder / block.word).write_text(block.text, encoding="utf-8")
            yield f"{place}: wrote {block.word}"
        elif block.language != "sh":
            continue
        elif block.word in NOT_RUN:
            check_options(block)
            yield f"{place}: options checked"
        elif block.word == "export" and not has_torch:
            yield f"{place}: left out, it needs PyTorch"
        else:
            _run(block, place, folder, environment)
            yield f"{place}: ran {len(block.commands)} lines"


def _run(block: Block, place: str, folder: Path, environment: dict[str, str]) -> None:
    text = INDEX.sub("", block.text) if _pip_has_indexes() else block.text
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, f"{place}: {block.text}\n{done.stdout[-4000:]}"


@functools.cache
def _pip_has_indexes() -> bool:
    """Is pip told where packages are? Then it cannot reach what a page names."""
    words = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return "index-url" in told or "find-links" in told


def _environment(python: Path) -> dict[str, str]:
    """As in an activated virtual environment, without what the caller has set up."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    return kept | {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(python.parent.parent),
    }


def _imports(python: Path, module: str) -> bool:
    words = [str(python), "-c", f"import {module}"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument(
        "--keep", type=Path, help="where to work, and to leave the files"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        copy_of_checkout(folder)
        try:
            for line in follow(arguments.page, folder, arguments.python.absolute()):
                print(line, flush=True)
        except AssertionError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
