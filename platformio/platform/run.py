#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a firmware on a board: in its emulator, or by `ember flash` on the real one.

run.py BOARD FIRMWARE [options of `ember flash`]

The exit status is the firmware's, or that of `ember flash`. What it logs is on the
standard output.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WALL = 10  # times the limit of CPU time: of all time, for firmware that waits


def main() -> int:
    board, firmware, *more = sys.argv[1:]
    facts = json.loads((HERE / "boards" / f"{board}.json").read_text(encoding="utf-8"))
    words = facts["ember"]["emulator"]
    if words:
        words = [firmware if word == "FIRMWARE" else word for word in words]
    else:
        sdk = json.loads((HERE.parent / "python.json").read_text(encoding="utf-8"))
        os.environ["PYTHONPATH"] = sdk["path"]
        words = [sdk["python"], "-m", "ember", "flash", firmware, "--board", board]
        words += more
    # QEMU prints what comes by semihosting on the standard error.
    limit = facts["ember"]["timeout_s"] if facts["ember"]["emulator"] else None
    try:
        done = _run(words, limit)
    except subprocess.TimeoutExpired:
        sys.exit(f"{board}: the firmware was still running after {WALL * limit:.0f} s")
    except FileNotFoundError:
        sys.exit(f"{board}: {words[0]} is not installed")
    if limit is not None and done.returncode == -signal.SIGXCPU:
        sys.exit(
            f"{board}: the firmware was still running after {limit:.0f} s of CPU time"
        )
    return done.returncode


def _run(words: list[str], limit: float | None) -> subprocess.CompletedProcess[bytes]:
    """With a limit of CPU time, which a busy computer does not use up."""
    if limit is None:
        return subprocess.run(words, stderr=subprocess.STDOUT, check=False)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limits = (int(limit) + 1, most)
    return subprocess.run(
        words,
        stderr=subprocess.STDOUT,
        timeout=WALL * limit,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits),
    )


if __name__ == "__main__":
    sys.exit(main())
