"""Files with one thing wrong -> what the loader must answer.

Each is named after what it attacks; the numbers are those of ExecuTorch's advisories
and fixes of that kind. `write_all` puts them into a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import crafted_container
import crafted_indices
import crafted_values
from crafting import Crafted, written


def collect() -> Sequence[Crafted]:
    if not written:
        for group in (
            crafted_values.tensors,
            crafted_values.allocations,
            crafted_values.constants,
            crafted_values.between,
            crafted_values.states,
            crafted_values.named,
            crafted_values.data_files,
            crafted_container.header,
            crafted_container.structure,
            crafted_container.tables,
            crafted_indices.indices,
            crafted_indices.lists,
            crafted_indices.devices,
        ):
            group()
    return written


def write_all(folder: Path) -> None:
    for crafted in collect():
        (folder / crafted.file).write_bytes(crafted.data)
