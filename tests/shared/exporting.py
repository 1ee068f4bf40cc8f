# SPDX-License-Identifier: Apache-2.0
"""Tools that export programs, run by tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ember import paths

HEAD = """import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

"""


def said_by(tool: str, *arguments: str, accept: Sequence[int] = (0,)) -> str:
    """What tools/`tool` prints, which ends as accepted; skips without executorch."""
    pytest.importorskip("executorch", reason="pip install '.[export]'")
    command = [sys.executable, str(paths.root() / "tools" / tool), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode in accept, done.stderr[-2000:]
    return done.stdout


def written(layers: str, forward: str, inputs: str) -> str:
    """A file with a model; calibrated, and so tested, by five samples in a row."""
    text = (
        f"{HEAD}class Network(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        {layers}\n\n"
        f"    def forward(self, x):\n        {forward}\n\nmodel = Network()\n"
        f"example_inputs = ({inputs},)\n"
        "calibration_inputs = [(torch.randn_like(x),) for x in example_inputs * 5]\n"
    )
    Path("network.py").write_text(text, encoding="utf-8")
    return "network.py"
