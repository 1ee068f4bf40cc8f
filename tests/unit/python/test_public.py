"""docs/python.md: what its modules list is there and described, and its code runs."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
MODULES = re.findall(r"^\| `(ember[\w.]*)` \|", PAGE, re.MULTILINE)
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
NEED_TORCH = {"ember.frontends"}


@pytest.mark.parametrize("name", sorted(set(MODULES) - NEED_TORCH))
def test_what_a_module_lists_has_a_description(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            doc = thing.__doc__ or ""
            assert not doc.startswith(f"{public}("), f"{name}.{public} has no docstring"
            assert doc.strip(), f"{name}.{public} has no docstring"


def test_code_imports_what_is_public() -> None:
    for block in BLOCKS:
        imports = re.findall(r"^from (ember[\w.]*) import (.*)$", block, re.MULTILINE)
        assert imports
        for name, words in imports:
            public = importlib.import_module(name)
            for word in words.split(", "):
                whole = f"{name}.{word}"
                assert whole in MODULES or word in public.__all__, whole


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS)
def test_code_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "models", tmp_path / "examples" / "models")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "sdk"))
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
