"""Your own kernels and several models, in firmware that runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from committed_cases import PROGRAMS, path_of

from ember import boards, cli, kernels
from ember.firmware import Built, Options, build
from ember.model.steering import Steering
from ember.select.rules import Rules
from ember.toolchain import elf, emulator, footprint

ROOT = Path(__file__).parents[2]
PAIR = ROOT / "examples" / "models" / "pair"
CUSTOM = ROOT / "examples" / "custom_op"
# The same for another board: of `make check`.
M55 = pytest.param("mps3-an547", marks=pytest.mark.long)
HOST = pytest.param("host", marks=pytest.mark.long)


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", [HOST, "mps2-an386"])
def test_two_models_with_two_methods_each(board: str, tmp_path: Path) -> None:
    built = build_pair(board, tmp_path, Steering())
    assert [model["model"] for model in built.selection["models"]] == [
        "smooth",
        "judge",
    ]
    image = (built.folder / "4-package" / "judge" / "model.pte").read_bytes()
    assert built.firmware.read_bytes().count(image) == 1
    check_pair(board, built)


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_methods_that_never_run_together_share_memory(
    board: str, tmp_path: Path
) -> None:
    apart = build_pair(board, tmp_path / "apart", Steering())
    together = build_pair(
        board, tmp_path / "together", Steering(exclusive=(("smooth", "judge"),))
    )
    check_pair(board, together)
    assert activations(together) < activations(apart)
    facts = json.loads((together.folder / "3-plan.json").read_text())
    [apart_still] = facts["kept_apart"]
    assert apart_still.startswith("judge/alarm keeps state from run to run")


def build_pair(board: str, out: Path, steering: Steering) -> Built:
    app = ROOT / "examples" / "firmware" / "two_models.c"
    return build(
        [PAIR / "smooth.pte", PAIR / "judge.pte"],
        board,
        out=out,
        options=Options(app=app, steering=steering),
    )


def activations(built: Built) -> int:
    """Bytes in the linked firmware."""
    facts = json.loads((built.folder / "5-firmware" / "certificate.json").read_text())
    return sum(r["linked"] for r in facts["rows"] if r["purpose"] == "activations")


def check_pair(board: str, built: Built) -> None:
    """Runs the methods in turn; each gives what PyTorch gives, state included."""
    ran = emulator.run(boards.load(board), built.firmware).check("two models")
    said = re.findall(r"^(\w+) (\w+) (-?\d+)$", ran.text, re.MULTILINE)
    expected = json.loads((PAIR / "expected.json").read_text())
    got: dict[tuple[str, str], list[float]] = {}
    for model, method, milli in said:
        got.setdefault((model, method), []).append(int(milli) / 1000)
    assert len(got) == 4
    for (model, method), values in got.items():
        assert values == pytest.approx(expected[model][method], abs=6e-4)
    assert len({model for model, _, _ in said[:2]}) == 2  # in turn


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps2-an386", M55])
def test_an_operator_of_ones_own(board: str, tmp_path: Path) -> None:
    words = ["--board", board, "--kernels", str(CUSTOM / "kernels")]
    assert cli.main(["test", str(CUSTOM), *words]) == 0
    report = tmp_path / "run.json"
    place = ["--out", str(tmp_path / "build"), "--json", str(report)]
    assert cli.main(["run", str(CUSTOM / "mul3"), *words, *place]) == 0
    facts = json.loads(report.read_text())
    assert facts["nodes"][0]["kernel"] == "mul3"
    sizes = json.loads((tmp_path / "build" / "5-firmware" / "size.json").read_text())
    assert sizes["footprint"]["operators"]["my_ops::mul3.out"]["code"] > 0


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
@pytest.mark.parametrize(
    "name",
    [
        "resnet8",
        "ds_cnn",
        pytest.param("mobilenet_v1", marks=pytest.mark.export),
    ],
)
def test_only_kernels_that_are_called_are_linked(
    name: str, board: str, tmp_path: Path
) -> None:
    committed = PROGRAMS / f"model_{name}_small.bpte"
    model = committed if committed.exists() else exported(name)
    built = build(model, board, out=tmp_path)
    chosen = {
        kernel for items in built.selection["operators"].values() for kernel in items
    }
    prefix = "ember_kernel_"
    linked = {
        symbol.removeprefix(prefix) for symbol in symbols(built) if prefix in symbol
    }
    assert linked == chosen
    # Nor anything else of a kernel's file, but the portable one of a variant.
    every = {
        kernel for items in kernels.load().of_all_sets().values() for kernel in items
    }
    engines = {path.stem for path in (ROOT / "kernels" / "engine").rglob("*.c")}
    of_variants = {kernel.rpartition("_")[0] for kernel in chosen}
    pieces = footprint.pieces(built.firmware.with_suffix(".map"))
    files = {piece.member.partition(".")[0] for piece in pieces}
    assert files & every <= chosen | of_variants | engines


def exported(name: str) -> Path:
    """The whole model, exported where it lacks."""
    from benchmarks import models

    return models.exported(f"model_{name}")


def symbols(built: Built) -> set[str]:
    return {symbol.name for symbol in elf.read(built.firmware).symbols}


# What only some models need, and a function of the runtime that is for it.
PARTS = {
    "data files": "ember_data_map_open",
    "memory for the caller": "ember_model_lend",
    "what can change": "ember_changing",
    "control flow": "run_jump",
    "dynamic shapes": "ember_method_reshape",
    "delegates": "run_delegate",
    "events": "ember_method_execute_traced",
    "bundles": "ember_bundle_open",
    "meaning of a status": "ember_status_text",
}
CHANGING = {"what can change", "control flow", "dynamic shapes", "delegates"}


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "needed"),
    [
        ("model_mlp_small", set()),
        ("model_ds_cnn_small", set()),
        ("special_cond", CHANGING),
        ("special_dynamic_batch", CHANGING),
        ("special_ptd", {"data files"}),
    ],
)
def test_parts_of_the_runtime_that_are_linked(
    case: str, needed: set[str], tmp_path: Path
) -> None:
    board = "mps2-an386"
    built = build(path_of(case), board, out=tmp_path)
    linked = symbols(built)
    assert {part for part, name in PARTS.items() if name in linked} == needed
    sentence = b"method: its arena is too small"
    assert sentence not in built.firmware.read_bytes()
    options = Options(messages=True)
    wordy = build(path_of(case), board, out=tmp_path / "b", options=options)
    assert sentence in wordy.firmware.read_bytes()


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps2-an386", M55])
def test_dtypes_that_are_not_used_are_not_linked(board: str, tmp_path: Path) -> None:
    """add of only float32 is far smaller than the kernel for every dtype."""
    sizes = {}
    for name, pins in {"some": {}, "all": {"aten::add.out": "add"}}.items():
        options = Options(rules=Rules(pins=pins))
        case = path_of("op_add")
        built = build(case, board, out=tmp_path / name, options=options)
        sizes[name] = built.sizes["footprint"]["libraries"]["kernels"]["code"]
        linked = symbols(built)
        others = {"ember_f32_from_f16", "ember_elements_cast", "ember_promotion_add"}
        assert others & linked == (others if name == "all" else set())
    assert sizes["some"] < 0.6 * sizes["all"]
