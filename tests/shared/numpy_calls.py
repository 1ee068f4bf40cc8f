"""A call and NumPy's results become a case, by the schema in kernels.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ember import kernels
from ember.cases import one_call
from ember.files.tensors import Array


def write(
    folder: str | Path,
    operator: str,
    arguments: Sequence[Any],
    results: Sequence[Array],
) -> None:
    schema = kernels.load().operators[operator].schema
    one_call.write(Path(folder), operator, schema, list(arguments), list(results))
