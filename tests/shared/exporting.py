# SPDX-License-Identifier: Apache-2.0
"""Tools that export programs, run by tests."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ember import paths


def said_by(tool: str, *arguments: str) -> str:
    """What tools/`tool` prints; skips without executorch."""
    pytest.importorskip("executorch", reason="pip install '.[export]'")
    command = [sys.executable, paths.root() / "tools" / tool, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
