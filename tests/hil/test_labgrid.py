"""The example of labgrid, in QEMU: its own environment has labgrid and no Ember."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lines import ROOT, board

from ember import cli

EXAMPLE = ROOT / "examples/labgrid"


@pytest.fixture(scope="module")
def lab(environment: Callable[[str, Sequence[str]], Path]) -> Path:
    return environment("labgrid", ("labgrid==26.0.1", "pytest==8.4.2"))


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    board("netduinoplus2")
    out = tmp_path_factory.mktemp("labgrid") / "build"
    words = ["--board", str(EXAMPLE / "netduinoplus2-uart.yaml"), "--out", str(out)]
    assert (
        cli.main(["build", str(ROOT / "examples/models/digits/digits.pte"), *words])
        == 0
    )
    return out / "5-firmware/firmware.elf"


def run_in(
    lab: Path, firmware: Path, tmp_path: Path, environment: str
) -> subprocess.CompletedProcess[str]:
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    words = ["-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    words += ["--lg-env", str(EXAMPLE / environment), str(EXAMPLE)]
    return subprocess.run(
        [lab / "bin/python", *words],
        check=False,
        env={**variables, "LG_FIRMWARE": str(firmware)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.long  # installs labgrid from PyPI
@pytest.mark.qemu
def test_firmware_under_labgrid(lab: Path, firmware: Path, tmp_path: Path) -> None:
    done = run_in(lab, firmware, tmp_path, "qemu.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.long
@pytest.mark.qemu
def test_firmware_that_does_not_run_fails(
    lab: Path, firmware: Path, tmp_path: Path
) -> None:
    """Another image is there: no vector table of ours, so nothing is said."""
    done = run_in(lab, ROOT / "README.md", tmp_path, "qemu.yaml")
    assert done.returncode != 0
    assert "1 failed" in done.stdout
