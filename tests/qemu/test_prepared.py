"""`ember build --prepared`: the same results from firmware that loads nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import compilers
import numpy as np
import pytest
from committed_cases import matching, path_of

from ember import cli
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.run import run
from ember.select.rules import Rules

pytestmark = pytest.mark.qemu
M4, M55, HEXAGON = "mps2-an386", "mps3-an547", "hexagon-v68"
# Bytes of code, constants and .data with the weights elsewhere. Kernels with DSP and
# Helium are made for cycles, where bytes of their inner loops are well spent.
CODE = {
    ("int8_resnet8_small_m4", M4): 14_450,
    ("int8_resnet8_small_m55", M55): 14_320,
    ("int8_ds_cnn_small_m4", M4): 17_568,
    ("int8_ds_cnn_small_m55", M55): 16_320,
}
OTHERS = (
    ("int8_mobilenet_small_m55", M4),  # exported for another core
    ("int8_lstm_small_m55", M55),
    ("executorch_1_2_network", M4),  # other lists of arguments
    ("executorch_1_5_layers", M55),  # images (N, H, W, C)
    ("model_lenet_small", M55),
    ("op_add_s16", M4),  # states point to tables of their kernels
    ("special_three_memories", M55),
    ("special_ptd", M4),  # weights in data files
    ("special_ptd_two_files", M55),
    ("xnnpack_cnn_static", M4),  # two delegates
    ("xnnpack_arg_max_2", M4),  # one has indices of int64
    ("xnnpack_encoder_qd8", HEXAGON),  # weights are packed for vectors
)
# What is much like these; `make check` tries it.
MORE = (
    ("int8_autoencoder_small_m4", M4),
    ("model_mlp_small", "mps2-an385"),
    ("op_var", M55),
    ("special_two_memories", M4),
    ("xnnpack_encoder", M55),
    ("xnnpack_separable_static", HEXAGON),
)


def built_and_run(
    name: str, board: str, tmp_path: Path, *, prepared: bool
) -> tuple[Built, run.RunLog]:
    options = Options(prepared=prepared)
    folder = tmp_path / f"{name}-{board}-{prepared}"
    built = build(path_of(name), board, out=folder, options=options)
    given = inputs.of_case(path_of(name), None)
    assert given is not None
    laid_out = inputs.lay_out(built.methods[0], given.given)
    return built, run.run(built, laid_out)


def made_twice(name: str, board: str, tmp_path: Path) -> list[tuple[Built, run.RunLog]]:
    """Prepared and loaded, with the same results."""
    pair = [
        built_and_run(name, board, tmp_path, prepared=kind) for kind in (True, False)
    ]
    results = (log.arrays() for _, log in pair)
    for output, other in zip(*results, strict=True):
        np.testing.assert_array_equal(output, other)
    return pair


@pytest.mark.parametrize(
    ("name", "board"),
    [*CODE, *OTHERS, *(pytest.param(*pair, marks=pytest.mark.long) for pair in MORE)],
)
def test_results_are_those_of_loaded_firmware(
    name: str, board: str, tmp_path: Path
) -> None:
    (built, log), (before, reference) = made_twice(name, board, tmp_path)
    if log.execute is not None:  # qemu-hexagon may be built without plugins
        assert reference.execute is not None
        assert log.execute <= reference.execute
        assert log.load is not None
        assert reference.load is not None
        assert log.load < reference.load
    assert [node.kernel for node in log.nodes] == [
        node.kernel for node in reference.nodes
    ]
    after, size = built.sizes["size"], before.sizes["size"]
    code = after["code"] + after["rodata"] + after["data"]
    most = CODE.get((name, board), 0.75 * (size["code"] + size["rodata"]))
    assert code <= most * compilers.slack()
    assert after["model"] < size["model"]  # without what describes the program
    assert after["arena"] < size["arena"]
    # Loading may take less of the stack than executing.
    assert built.certificate["stack"]["bound"] <= before.certificate["stack"]["bound"]


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    sorted({path.stem for path in matching("xnnpack_*")} - {"xnnpack_mlp_dynamic"}),
)
def test_no_node_of_a_delegate_writes_to_its_graph(name: str, tmp_path: Path) -> None:
    """It is in flash there, where the emulator has a fault."""
    made_twice(name, M4, tmp_path)


def test_nothing_that_reads_programs_is_linked(tmp_path: Path) -> None:
    built, _ = built_and_run("int8_resnet8_small_m4", M4, tmp_path, prepared=True)
    text = built.firmware.with_suffix(".map").read_text(encoding="utf-8")
    assert "libember_prepared" in text
    assert not re.search(r"libember_core\.a\(", text)
    names = built.folder / "4-package"
    assert not (names / "operators.c").exists()


@pytest.mark.parametrize(
    ("name", "board", "why"),
    [
        ("op_rand", M4, "changes its state at run time"),
        ("op_prim_neg_scalar", M4, "can change at run time"),
        ("int8_resnet8_small_m4", "qemu-a64", "4-byte pointers"),
        ("special_delegate_only", M4, "EmberExampleBackend runs a part of it"),
        ("xnnpack_mlp_dynamic", HEXAGON, "can change at run time"),
    ],
)
def test_what_cannot_be_prepared_is_refused(
    name: str, board: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(SdkError, match=why) as caught:
        built_and_run(name, board, tmp_path, prepared=True)
    assert caught.value.hint == "build without --prepared"


# ---- what it would save --------------------------------------------------------------


def said_by_build(
    words: Sequence[str | Path], capsys: pytest.CaptureFixture[str]
) -> tuple[str, dict[str, Any]]:
    assert cli.main(["build", *map(str, words), "--json", "saved.json"]) == 0
    answer = json.loads(Path("saved.json").read_text(encoding="utf-8"))
    return capsys.readouterr().out, answer


def test_a_build_says_what_preparing_would_save(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words: list[str | Path] = [path_of("int8_resnet8_small_m4"), "--board", M4]
    said, loaded = said_by_build(words, capsys)
    assert " bytes less of code, " in said.split("--prepared: ")[1]
    told, prepared = said_by_build([*words, "--prepared"], capsys)
    assert "would take" not in told
    assert prepared["prepared_saves"] == {}
    before, after = (
        {memory["name"]: memory["used"] for memory in answer["memory"]}
        for answer in (loaded, prepared)
    )
    assert loaded["prepared_saves"] == {
        name: size - after[name] for name, size in before.items() if size != after[name]
    }


@pytest.mark.parametrize(("name", "board"), [("op_rand", M4), ("op_add", "host")])
def test_nothing_is_said_where_something_speaks_against_it(
    name: str,
    board: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    said, answer = said_by_build([path_of(name), "--board", board], capsys)
    assert "would take" not in said
    assert answer["prepared_saves"] == {}


# Its state has bytes that it does not write, where the stack has an address.
GAPS = """\
#include "ember/node.h"

typedef struct gaps {
    const volatile void *unwritten[4];
    uint8_t code;
} gaps_t;

static void clutter(void) {
    const volatile void *volatile address[256];
    for (uint32_t i = 0; i < 256; i++) {
        address[i] = (const volatile uint8_t *)address + 7 * i;
    }
}

__attribute__((noinline)) static void set_code(gaps_t *gaps) {
    gaps->code = 3;
}

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    clutter();
    gaps_t gaps;
    set_code(&gaps);
    *(gaps_t *)state = gaps;
    ember_tensor_t out;
    ember_node_tensor(node, 3, &out);
    return ember_node_status(node);
}

EMBER_KERNEL(gaps, gaps_t);
"""


def test_what_nobody_wrote_is_zero(tmp_path: Path) -> None:
    library = tmp_path / "kernels"
    library.mkdir()
    (library / "gaps.c").write_text(GAPS)
    (library / "kernels.yaml").write_text("[{op: add.out, kernels: [gaps]}]\n")
    rules = Rules(folders=(library,))
    options = Options(prepared=True, rules=rules)
    build(path_of("op_add"), M4, out=tmp_path / "out", options=options)
    constants = (tmp_path / "out" / "4-package" / "model_data.c").read_text()
    assert "state_0_0[5] = {0, 0, 0, 0, 3};" in constants
