# SPDX-License-Identifier: Apache-2.0
"""Wheels carry the libraries that tools/ready_made.py made, where it has run."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ReadyMade(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / "ready-made"
        if version == "standard" and folder.is_dir():
            build_data["force_include"][str(folder)] = "ember/_data/ready-made"
