"""Loading and ember_method_reset() set the states of a method, and nothing else of its
planned memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from committed_cases import path_of

from ember.cases import inputs
from ember.firmware import Options, build
from ember.run import run
from ember.toolchain import emulator

APP = Path(__file__).parent / "apps" / "dirty_memory.c"
M4, M55 = "mps2-an386", "mps3-an547"
WITH = "same, also when reset, with state\n"
LOAD = 2_000  # instructions that loading prepared firmware may take
pytestmark = pytest.mark.qemu


@pytest.mark.parametrize("board", ["host", M4, "qemu-a64"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bundle_stream", WITH),
        ("special_counter_named", WITH),
        ("model_tokens_small", WITH),
        ("model_tokens_steps_small", WITH),
        ("model_lenet_small", "same, also when reset, without state\n"),
    ],
)
def test_states_start_again(name: str, said: str, board: str, tmp_path: Path) -> None:
    built = build(path_of(name), board, out=tmp_path, options=Options(app=APP))
    assert emulator.run(built.board, built.firmware).check(APP.name).text == said


@pytest.mark.parametrize("board", [M4, M55])
def test_states_of_prepared_firmware_start_again(board: str, tmp_path: Path) -> None:
    options = Options(app=APP, prepared=True)
    built = build(
        path_of("bundle_log_mel_stream"), board, out=tmp_path, options=options
    )
    assert emulator.run(built.board, built.firmware).check(APP.name).text == WITH


@pytest.mark.parametrize("name", ["int8_resnet8_small_m4", "model_lenet_small"])
def test_prepared_firmware_loads_in_no_time(name: str, tmp_path: Path) -> None:
    options = Options(prepared=True)
    built = build(path_of(name), M4, out=tmp_path, options=options)
    log = run.run(built, inputs.zeros(built.methods[0]), trace=False)
    assert log.load is not None
    assert log.load <= LOAD
