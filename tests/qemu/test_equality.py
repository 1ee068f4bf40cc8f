"""A model gives the same bytes whoever computes it: portable kernels, variants for a
core's instructions, prepared firmware; for any inputs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from committed_cases import matching, path_of

from ember import boards
from ember.toolchain import emulator

pytestmark = pytest.mark.qemu
APP = Path(__file__).with_name("equal.c")
ROUNDS = 32  # of APP
M4, M55 = "mps2-an386", "mps3-an547"
# Boards, and whether the firmware is prepared. The first two have models in C of
# instructions, under sanitizers.
FORMS = (
    *(("host-dsp", False), ("host-mve", False), (M4, False), (M4, True)),
    *((M55, False), (M55, True)),
)
INT8 = [path.stem for path in matching("int8_*")]
FEW = ("int8_ds_cnn_small_m4", "int8_unet_small_m55")
# Sums of floats are in another order in each variant: only their own core is compared.
FLOATS = ("model_lenet_small", "model_gru_small", "model_mlp_int8_small")


def answers(name: str, board: str, folder: Path, *, prepared: bool = False) -> str:
    """A line for each execution: its status, and a hash of what it gave."""
    loaded = boards.load(board)
    if not emulator.available(loaded):
        pytest.skip(f"{loaded.runner.binary} is not installed")
    words = [path_of(name), "--app", APP, "--board", board]
    words += ["--out", folder / f"{board}-{prepared}", *["--prepared"] * prepared]
    done = subprocess.run(
        [sys.executable, "-m", "ember", "run", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == ROUNDS
    assert len(set(lines)) > ROUNDS // 8, "hardly anything depends on the inputs"
    return done.stdout


@pytest.mark.broad
@pytest.mark.parametrize(
    "name",
    [
        case if case in FEW else pytest.param(case, marks=pytest.mark.long)
        for case in INT8
    ],
)
def test_int8_is_the_same_everywhere(name: str, tmp_path: Path) -> None:
    portable = answers(name, "host", tmp_path)
    for board, prepared in FORMS:
        assert answers(name, board, tmp_path, prepared=prepared) == portable, board


@pytest.mark.long
@pytest.mark.parametrize("board", [M4, M55])
@pytest.mark.parametrize("name", FLOATS)
def test_prepared_floats_are_those_of_the_core(
    name: str, board: str, tmp_path: Path
) -> None:
    loaded = answers(name, board, tmp_path)
    assert answers(name, board, tmp_path, prepared=True) == loaded
