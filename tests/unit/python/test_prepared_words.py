"""Prepared firmware: states as constants."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ember import kernels, paths
from ember.firmware.pack.prepared import Names, Word

RUN = re.compile(r"(run|##NAME|ember_run_fn\))\(void \*")


def with_constant_states(text: str) -> str:
    return RUN.sub(r"\1(const void *", text)


@pytest.mark.slow
def test_states_are_constants_to_run(tmp_path: Path) -> None:
    """Each kernel's run compiles with a state that it may not change, but for those
    that kernels.yaml lists."""
    kernel_folder = paths.root() / "kernels"
    header = Path("include/ember/node.h")
    files = {
        path.relative_to(kernel_folder.parent): path
        for path in kernel_folder.rglob("*.[ch]")
    }
    for place, path in (files | {header: paths.runtime() / header}).items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        (tmp_path / place).write_text(with_constant_states(text), encoding="utf-8")
    words = ["gcc", "-std=c11", "-fsyntax-only", "-Werror=discarded-qualifiers"]
    words += ["-Werror=incompatible-pointer-types", "-include", "ember/node.h"]
    words += ["-Iinclude", f"-I{paths.runtime() / 'include'}", "-I."]
    words += ["-Ikernels/models"]
    words += [
        str(source)
        for source in sorted(files)
        if source.suffix == ".c" and source.parts[1] != "models"
    ]
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, cwd=tmp_path
    )
    failed = re.findall(r"^kernels/\w+/(\w+)\.c:\d+:\d+: error", done.stderr, re.M)
    assert sorted(set(failed)) == sorted(kernels.load().facts.writes_state)


def test_words_in_c() -> None:
    names = Names(
        image="image", data=["weights"], skipped=64, temp="temp", planned=["a", None]
    )
    assert names.text(Word(3), 0) == "3"
    assert names.text(Word(0xC0000000), 0) == "0xc0000000"
    assert names.text(Word(80, ("program", 0)), 0) == "(uintptr_t)image +16"
    assert names.text(Word(16, ("data", 0)), 0) == "(uintptr_t)weights +16"
    assert names.text(Word(-4, ("planned", 0)), 0) == "(uintptr_t)a -4"
    assert names.text(Word(0, ("temp", 0)), 0) == "(uintptr_t)temp"
    assert names.text(Word(8, ("state", 2)), 1) == "(uintptr_t)state_1_2 +8"
    assert names.text(Word(0, ("function", "f")), 0) == "(uintptr_t)f"
