"""What tests of examples/applications share: modules of a folder (other folders have
the same names), parts of its firmware on the host, and its evaluate.py."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ember import paths

FOLDER = paths.root() / "examples" / "applications"
PAGE = paths.root() / "docs" / "applications.md"
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


def module(application: str, name: str) -> ModuleType:
    """It, and what it imports beside it, read again."""
    folder = FOLDER / application
    sys.path.insert(0, str(folder))
    names = {path.stem for path in folder.glob("*.py")}
    try:
        for known in names & sys.modules.keys():
            del sys.modules[known]
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def compiled(application: str, source: Path, program: Path, *options: str) -> Path:
    """`program`, of a C file that includes headers of the firmware; it ends where the
    sanitizers find something."""
    words = ["gcc", "-std=c11", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    words += ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    words += [f"-I{FOLDER / application / 'firmware'}", str(source), *options, "-lm"]
    subprocess.run([*words, "-o", str(program)], check=True)
    return program


def library(application: str, text: str, folder: Path) -> Path:
    """A shared library of C code that includes headers of the firmware."""
    (folder / "parts.c").write_text(text)
    words = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    words += ["-fsanitize=undefined", "-fno-sanitize-recover"]
    words += [f"-I{FOLDER / application / 'firmware'}", "parts.c", "-o", "parts.so"]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "parts.so"


def evaluated(application: str, board: str) -> dict[str, Any]:
    """What its evaluate.py prints of a board, where it keeps what it promises."""
    script = FOLDER / application / "evaluate.py"
    words = [sys.executable, str(script), "--board", board]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    assert untold(facts, FOLDER / application / "README.md") == []
    return facts


def untold(facts: dict[str, Any], page: Path) -> list[str]:
    """Figures of a board that are not in its row of a page; 1 % may lie between."""
    (row,) = [
        line
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and f"`{facts['board']}`" in line and "," in line
    ]
    told = [int(x.replace(",", "")) for x in re.findall(r"\b[\d,]*\d{3}\b", row)]
    keys = ("ram", "flash", "instructions", "cycles")
    figures = {key: facts[key] for key in keys if facts.get(key) is not None}
    wrong = [
        f"{page.name} has no {key} of {value:,} for {facts['board']}"
        for key, value in figures.items()
        if not any(abs(x - value) <= value / 100 for x in told)
    ]
    shares = [float(share) for share in re.findall(r"([\d.]+) %", row)]
    right = 100 * facts.get("accuracy", shares[0] / 100)
    if not any(abs(share - right) <= 0.0501 for share in shares):
        wrong.append(f"{page.name} has no {right:.1f} % for {facts['board']}")
    return wrong
