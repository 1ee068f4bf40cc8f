"""Models and a board become firmware, through numbered artefacts in a build folder.

1-program.json    what the program contains; a list where there are several
2-selection.json  the kernel of each call
3-plan.json       the memory of each region
4-package/        image and generated C (pack/)
5-firmware/       firmware.elf, .bin, .hex, firmware.map, size.json, certificate.json
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ember.firmware.folder import Built
from ember.firmware.jobs import Options
from ember.firmware.make import build, check

if TYPE_CHECKING:
    from ember.firmware.linking import trace
    from ember.firmware.packaged import Package, package

_MODULES = {"Package": "packaged", "package": "packaged", "trace": "linking"}

__all__ = ["Built", "Options", "Package", "build", "check", "package", "trace"]


def __getattr__(name: str) -> Any:
    """What few commands need is imported when it is used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
