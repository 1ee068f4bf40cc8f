"""Kernels with models of their instructions as a library of the host."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ember import paths

FLAGS = (
    *("-std=c11", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden"),
    # What prepare() calls is not there, so the linker drops it.
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-lm"),
)


def library(
    folder: Path, driver: str, sources: Sequence[str], *flags: str
) -> ctypes.CDLL:
    """`driver` is C with what is called; sources are named from the kernels' folder."""
    root, kernels = paths.root(), paths.kernels()
    include = [f"-I{root}", f"-I{root}/runtime_c/include", "-isystem"]
    written, compiled = folder / "driver.c", folder / "kernels.so"
    written.write_text(driver)
    words = ["cc", *include, str(kernels / "models"), str(written)]
    words += [str(kernels / name) for name in sources]
    subprocess.run(
        [*words, *(flags or ("-O1",)), *FLAGS, "-o", str(compiled)], check=True
    )
    return ctypes.CDLL(str(compiled))
