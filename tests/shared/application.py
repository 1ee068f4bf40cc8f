"""Modules of a folder of examples/applications; other folders have the same names."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from ember import paths

FOLDER = paths.root() / "examples" / "applications"


def module(application: str, name: str) -> ModuleType:
    """It, and what it imports beside it, read anew."""
    folder = FOLDER / application
    sys.path.insert(0, str(folder))
    own = {path.stem for path in folder.glob("*.py")}
    try:
        for known in own & sys.modules.keys():
            del sys.modules[known]
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
