# SPDX-License-Identifier: Apache-2.0
"""Programs whose memory the caller lends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ember import program


def unplanned(path: Path, out: Path) -> Path:
    """The program with inputs and outputs left to the caller."""
    content = program.read(path)
    (method,) = content.methods
    values = list(method.values)
    for index in (*method.inputs, *method.outputs):
        value = values[index]
        assert isinstance(value, program.Tensor)
        values[index] = replace(value, allocation=None)
    changed = replace(method, values=tuple(values))
    out.write_bytes(program.write(replace(content, methods=(changed,))))
    return out
