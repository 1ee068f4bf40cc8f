"""A user's board with a core that Ember does not ship: described once, it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from ember import cases, paths
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import Options, build
from ember.run import run

CASE = paths.root() / "examples" / "models" / "digits" / "case"
SOFT, HARD = "-mfloat-abi=soft", "-mfloat-abi=hard"
SINGLE = "-mfpu=fpv5-sp-d16"
# A core, and the machine whose core executes its code.
CORES = {
    "cortex-m1": ("cortex-m0", f"-mcpu=cortex-m1 {SOFT}", "mps2-an385"),
    "cortex-m23": ("cortex-m0", f"-mcpu=cortex-m23 {SOFT}", "mps2-an505"),
    "cortex-m33": ("cortex-m33", f"-mcpu=cortex-m33+nofp {SOFT}", "mps2-an505"),
    "cortex-m35p": ("cortex-m33", f"-mcpu=cortex-m35p {SINGLE} {HARD}", "mps2-an505"),
    "cortex-m7": ("cortex-m7", f"-mcpu=cortex-m7 {SINGLE} {HARD}", "mps2-an500"),
    "cortex-m52": ("cortex-m55", f"-mcpu=cortex-m52 {HARD}", "mps3-an547"),
    "cortex-m85": ("cortex-m55", f"-mcpu=cortex-m85 {HARD}", "mps3-an547"),
}
OFTEN = ("cortex-m23", "cortex-m85")
pytestmark = pytest.mark.qemu


def board_of(folder: Path, cpu: str, **core: object) -> Path:
    like, flags, machine = CORES[cpu]
    table = yaml.safe_load((paths.boards() / f"{machine}.yaml").read_text())
    described = {"like": like, "flags": flags, **core}
    path = folder / "mine.yaml"
    path.write_text(
        yaml.safe_dump({**table, "name": "mine", "cpu": cpu, "core": described})
    )
    return path


def outputs_agree(board: Path, folder: Path, toolchain: str | None = None) -> None:
    case = cases.read(cases.Found(CASE.name, CASE))
    given = inputs.of_case(CASE)
    assert given is not None
    options = Options(toolchain=toolchain)
    built = build(CASE, str(board), out=folder, options=options)
    log = run.run(built, inputs.lay_out(built.methods[0], given.given), trace=False)
    for output, wanted in zip(log.arrays(), case.runs[0].outputs, strict=True):
        assert isinstance(output, np.ndarray)
        assert isinstance(wanted, cases.CaseTensor)
        np.testing.assert_allclose(output, wanted.array, case.rtol, case.atol)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cpu",
    [
        pytest.param(cpu, marks=() if cpu in OFTEN else pytest.mark.long)
        for cpu in CORES
    ],
)
def test_it_runs(tmp_path: Path, cpu: str) -> None:
    outputs_agree(board_of(tmp_path, cpu), tmp_path / "out")


@pytest.mark.long
@pytest.mark.parametrize("cpu", ["cortex-m23", "cortex-m33", "cortex-m7"])
def test_it_runs_by_clang(tmp_path: Path, cpu: str) -> None:
    outputs_agree(board_of(tmp_path, cpu), tmp_path / "out", "arm-llvm")


def test_a_core_that_no_compiler_of_the_toolchain_knows(tmp_path: Path) -> None:
    unknown = {"flags": f"-mcpu=cortex-m999 {SOFT}", "toolchains": ["arm-gnu"]}
    board = board_of(tmp_path, "cortex-m85", **unknown)
    with pytest.raises(SdkError, match="arm-none-eabi-gcc does not support") as error:
        build(CASE, str(board), out=tmp_path / "out")
    assert "write `toolchains: [arm-llvm]`" in str(error.value)


def test_a_core_that_is_no_cortex_m(tmp_path: Path) -> None:
    board = board_of(tmp_path, "cortex-m7", flags=f"-mcpu=cortex-a7 {SOFT}")
    with pytest.raises(SdkError, match="is not a Cortex-M"):
        build(CASE, str(board), out=tmp_path / "out")
