"""Imports PyTorch and ExecuTorch, which only exporting needs: the extra `export`."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ember.errors import SdkError

INSTALL = (
    "pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu,"
    " then pip install 'ember[export]'"
)


def need(name: str) -> Any:
    """The module `name`. Raises SdkError with how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise SdkError(
            f"`ember export` needs {package}, which cannot be imported: {error}",
            hint=INSTALL,
        ) from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hides what the exporter and its runtime say about their own code: warnings, and
    what they print to standard output and standard error."""
    sys.stdout.flush()
    with warnings.catch_warnings(), Path(os.devnull).open("wb") as nowhere:
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        kept = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in kept:
            os.dup2(nowhere.fileno(), number)
        try:
            yield
        finally:
            sys.stdout.flush()
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)
            logging.disable(logging.NOTSET)
