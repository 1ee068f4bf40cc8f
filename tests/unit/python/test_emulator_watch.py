# SPDX-License-Identifier: Apache-2.0
"""How runs are watched: counted by either interface of plugins, stopped in time."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ember import boards, paths
from ember.toolchain import emulator

PROBE = Path(__file__).parents[2] / "qemu" / "probe"


def scripted(
    folder: Path,
    text: str,
    *,
    timeout_s: float | None = None,
    on_line: Callable[[str], None] | None = None,
    progress: Callable[[], object] | None = None,
) -> emulator.RunResult:
    script = folder / "firmware"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return emulator.run(
        boards.load("host"),
        script,
        timeout_s=timeout_s,
        on_line=on_line,
        progress=progress,
    )


def test_time_that_a_busy_computer_takes_does_not_count(tmp_path: Path) -> None:
    """What sleeps gets no CPU time, like an emulator beside many others."""
    assert scripted(tmp_path, "exec sleep 2", timeout_s=0.5).problem is None


def test_cpu_time_is_limited(tmp_path: Path) -> None:
    result = scripted(tmp_path, "while :; do :; done", timeout_s=1)
    assert result.timed_out
    assert result.cpu_s is not None
    assert 0.1 < result.cpu_s < 2
    assert result.problem is not None
    assert re.search(r"\([012] s of CPU time\)$", result.problem)


def test_what_waits_without_end_is_stopped(tmp_path: Path) -> None:
    result = scripted(tmp_path, "exec sleep 60", timeout_s=0.1)
    assert result.timed_out
    assert 0.9 <= result.seconds < 20
    assert result.cpu_s is not None
    assert result.cpu_s < 0.1


def test_progress_begins_the_limit_again(tmp_path: Path) -> None:
    """Four rounds, each within the limit."""
    text = """for _ in 1 2 3 4; do
    i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; echo .
done"""
    said: list[str] = []
    free = scripted(tmp_path, text)
    assert free.problem is None
    result = scripted(
        tmp_path,
        text,
        timeout_s=0.4,
        on_line=said.append,
        progress=lambda: len(said),
    )
    assert result.problem is None


@pytest.mark.parametrize("options", [[], ["exact=1"], ["edges=1"]])
@pytest.mark.parametrize("version", [1, 2])
def test_the_plugin_counts_with_both_interfaces(
    version: int, options: list[str], tmp_path: Path
) -> None:
    host, log = tmp_path / "host", tmp_path / "log"
    words = ["gcc", f"-DVERSION={version}", f"-I{paths.plugin()}", "-rdynamic"]
    words += [str(PROBE / "plugin_host.c"), "-o", str(host)]
    subprocess.run(words, check=True)
    words = [str(host), str(emulator.plugin()), "0x1000", f"out={log}", "marks=0x1000"]
    words += options
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    marks, total = emulator.read_marks(log)
    assert [mark.count for mark in marks] == [2, 7, 12]
    assert total == 15
