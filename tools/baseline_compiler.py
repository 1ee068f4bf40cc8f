# SPDX-License-Identifier: Apache-2.0
"""The compiler of figures in pages and of bounds in tests: GCC of Debian 12."""

from __future__ import annotations

import functools
import subprocess

NAME, VERSION = "arm-none-eabi-gcc", "12."


@functools.cache
def is_installed() -> bool:
    words = [NAME, "-dumpversion"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout.startswith(VERSION)
