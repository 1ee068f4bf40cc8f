#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that README.md shows -> what they print now, put into the page.

    tools/readme.py            runs them and rewrites the figures
    tools/readme.py --check    exit status 1 when a line is not what is printed

Lines of `...` stand for what is left out. Figures must be equal with the compiler that
they are of, with others within TOLERANCE; versions of tools and seconds are not
compared.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import baseline_compiler

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CONSOLE = re.compile(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
TOLERANCE = 0.06  # of counts and bytes: what a change of compilers' details moves
LEFT_OUT = "..."
VERSION = re.compile(r"\d+\.\d+\.\d+")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?[%,.:]?")
RULE = re.compile(r"─+")


@dataclass(frozen=True)
class Example:
    command: str
    shown: tuple[str, ...]


def examples() -> list[Example]:
    text = README.read_text(encoding="utf-8")
    return [
        Example(command, tuple(shown.splitlines()))
        for command, shown in CONSOLE.findall(text)
    ]


def printed(command: str, folder: Path) -> list[str]:
    """What `ember ...` prints in a folder that has examples/; it must succeed."""
    program, *words = shlex.split(command)
    assert program == "ember", command
    done = subprocess.run(
        [sys.executable, "-m", "ember", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "sdk")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def tolerance() -> float:
    """0 with the compiler that the page's figures are of."""
    return 0 if baseline_compiler.is_installed() else TOLERANCE


def same(shown: str, line: str, tolerance: float = TOLERANCE) -> bool:
    """Does the page's line say what the printed one says?"""
    ours, theirs = shown.split(), line.split()
    if len(ours) != len(theirs):
        return False
    seconds = [ours[at + 1 : at + 2] == ["s"] for at in range(len(ours))]
    return all(
        (skip and _number(a) is not None) or _same_word(a, b, tolerance)
        for a, b, skip in zip(ours, theirs, seconds, strict=True)
    )


def _same_word(a: str, b: str, tolerance: float) -> bool:
    if a == b or (RULE.fullmatch(a) and RULE.fullmatch(b)):
        return True
    if VERSION.fullmatch(a) and VERSION.fullmatch(b):
        return True
    ours, theirs = _number(a), _number(b)
    if ours is None or theirs is None:
        return False
    if not tolerance:
        return ours == theirs
    return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=0.1 * ("%" in a))


def _number(word: str) -> float | None:
    if not NUMBER.fullmatch(word):
        return None
    return float(word.rstrip("%,.:").replace(",", ""))


def stale(example: Example, lines: Sequence[str]) -> list[str]:
    """The shown lines that were not printed."""
    return [
        shown
        for shown in example.shown
        if shown != LEFT_OUT
        and not any(same(shown, line, tolerance()) for line in lines)
    ]


def renewed(example: Example, lines: Sequence[str]) -> str:
    """The shown lines with the figures of the printed ones, in the printed order."""
    rest = list(lines)
    result = []
    for shown in example.shown:
        if shown == LEFT_OUT:
            result.append(shown)
            continue
        at = next(i for i, line in enumerate(rest) if same(shown, line, math.inf))
        result.append(rest[at].rstrip())
        del rest[: at + 1]
    return "\n".join(result)


def main() -> int:
    text = README.read_text(encoding="utf-8")
    check = "--check" in sys.argv[1:]
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        for example in examples():
            lines = printed(example.command, folder)
            for line in stale(example, lines):
                wrong = 1
                print(f"$ {example.command}\n  {line}")
            if not check:
                text = text.replace("\n".join(example.shown), renewed(example, lines))
    if not check:
        README.write_text(text, encoding="utf-8")
        return 0
    return wrong


if __name__ == "__main__":
    sys.exit(main())
