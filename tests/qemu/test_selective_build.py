"""Kernels of one's own and several models, in firmware that runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ember import boards, build, cli, elf, emulator

ROOT = Path(__file__).parents[2]
PAIR = ROOT / "examples" / "models" / "pair"
CUSTOM = ROOT / "examples" / "custom_op"


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_two_models_with_two_methods_each(board: str, tmp_path: Path) -> None:
    app = ROOT / "examples" / "firmware" / "two_models.c"
    built = build.build(
        [PAIR / "smooth.pte", PAIR / "judge.pte"],
        board,
        out=tmp_path,
        options=build.Options(app=app),
    )
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
    assert [one["model"] for one in built.selection["models"]] == ["smooth", "judge"]
    image = (built.folder / "4-package" / "judge" / "model.pte").read_bytes()
    assert built.firmware.read_bytes().count(image) == 1


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_an_operator_of_ones_own(board: str, tmp_path: Path) -> None:
    own = ["--board", board, "--kernels", str(CUSTOM / "kernels")]
    assert cli.main(["test", str(CUSTOM), *own]) == 0
    report = tmp_path / "run.json"
    place = ["--out", str(tmp_path / "build"), "--json", str(report)]
    assert cli.main(["run", str(CUSTOM / "mul3"), *own, *place]) == 0
    found = json.loads(report.read_text())
    assert found["nodes"][0]["kernel"] == "mul3"
    sizes = json.loads((tmp_path / "build" / "5-firmware" / "size.json").read_text())
    assert sizes["footprint"]["operators"]["my_ops::mul3.out"]["code"] > 0


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
@pytest.mark.parametrize("name", ["model_resnet8_small", "model_ds_cnn_small"])
def test_only_kernels_that_are_called_are_linked(
    name: str, board: str, tmp_path: Path
) -> None:
    built = build.build(ROOT / "tests" / "cases" / name, board, out=tmp_path)
    chosen = {one for items in built.selection["operators"].values() for one in items}
    names = (symbol.name for symbol in elf.read(built.firmware).symbols)
    prefix = "ember_kernel_"
    linked = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    assert linked == chosen
