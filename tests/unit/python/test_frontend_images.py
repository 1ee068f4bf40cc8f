"""`ember.frontends` of images: what modules compute, refuse, and become as programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ember import cli, program
from ember.cases import one_call
from ember.errors import SdkError

OUT = "*, Tensor(a!) out) -> Tensor(a!)"
GRAY = "(Tensor pixels, " + OUT
RESIZE = "(Tensor image, int height, int width, " + OUT


@pytest.fixture(name="torch")
def _torch():
    return pytest.importorskip("torch")


# ---- what needs no PyTorch -----------------------------------------------------------


def refuse(folder: Path, op: str, schema: str, arguments: list, out: object) -> None:
    one_call.write(folder / "a", f"ember::{op}.out", schema, arguments, [out])
    assert cli.main(["test", str(folder / "a"), "--board", "host"]) == 1


@pytest.mark.parametrize("size", [0, -1, 8193])
def test_a_size_out_of_bounds_is_refused(tmp_path, capsys, size):
    image, out = np.zeros((2, 2), np.uint8), np.zeros((2, 2), np.uint8)
    refuse(tmp_path, "resize_bilinear", RESIZE, [image, size, 2], out)
    assert "an argument is out of range" in "".join(capsys.readouterr())


def test_an_image_without_rows_is_refused(tmp_path, capsys):
    image, out = np.zeros((0, 2), np.uint8), np.zeros((2, 2), np.uint8)
    refuse(tmp_path, "resize_bilinear", RESIZE, [image, 2, 2], out)
    assert "resize_bilinear: bad shape" in "".join(capsys.readouterr())


def test_pixels_of_another_dtype_are_refused(tmp_path, capsys):
    pixels, out = np.zeros((2, 2), np.int32), np.zeros((2, 2), np.uint8)
    refuse(tmp_path, "gray_rgb565", GRAY, [pixels], out)
    assert "gray_rgb565" in "".join(capsys.readouterr())


def test_pixels_in_a_row_are_no_image(tmp_path, capsys):
    pixels, out = np.zeros(4, np.int16), np.zeros((3, 4), np.uint8)
    refuse(tmp_path, "rgb_rgb565", GRAY, [pixels], out)
    assert "rgb_rgb565: no image" in "".join(capsys.readouterr())


# ---- modules -------------------------------------------------------------------------


@pytest.mark.export
def test_colours_are_those_of_the_bits(torch):
    from ember import frontends

    bits = [0x0000, 0xFFFF, 0xF800, 0x07E0, 0x001F, 0x8410]
    pixels = torch.tensor([bits], dtype=torch.int32).to(torch.int16)
    rgb = frontends.RGB565()(pixels)
    assert rgb.dtype == torch.uint8
    assert rgb[:, 0].T.tolist() == [
        *([0, 0, 0], [255, 255, 255], [255, 0, 0]),
        *([0, 255, 0], [0, 0, 255], [132, 130, 132]),
    ]
    gray = frontends.RGB565(gray=True)(pixels)
    assert gray.tolist() == [[0, 255, 77, 149, 29, 131]]


@pytest.mark.export
@pytest.mark.parametrize("size", [(96, 96), (7, 300), (120, 160), (1, 1)])
def test_resizing_is_near_that_of_pytorch(torch, size):
    from ember import frontends

    torch.manual_seed(0)
    image = torch.randint(0, 256, (2, 120, 160)).to(torch.uint8)
    resized = frontends.Resize(*size)(image)
    exact = torch.nn.functional.interpolate(
        image[None].float(), size, mode="bilinear", align_corners=False
    )[0]
    assert resized.shape == exact.shape
    assert (resized.float() - exact).abs().max() < 2.5
    if size == (120, 160):
        assert torch.equal(resized, image)


@pytest.mark.export
def test_modules_refuse_what_is_no_part_of_an_image(torch):
    from ember import frontends

    with pytest.raises(SdkError, match="0 x 4 pixels"):
        frontends.Crop(0, 0, 0, 4)
    with pytest.raises(SdkError, match="row -1"):
        frontends.Crop(-1, 0, 4, 4)
    with pytest.raises(SdkError, match="has no rows 2 to 6"):
        frontends.Crop(2, 0, 4, 4)(torch.zeros(5, 4))
    with pytest.raises(SdkError, match="cannot be made"):
        frontends.Resize(0, 3)


MODEL = """
import torch
from ember.frontends import RGB565, Crop, Resize

layers = [Crop(1, 2, 6, 8), RGB565(gray=GRAY), Resize(4, 10)]
model = torch.nn.Sequential(*layers)
example_inputs = (torch.randint(-32768, 32768, (8, 12)).to(torch.int16),)
"""


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("gray", [True, False])
def test_they_run_as_a_program(tmp_path, monkeypatch, capsys, gray):
    monkeypatch.chdir(tmp_path)
    Path("front.py").write_text(MODEL.replace("GRAY", str(gray)))
    assert cli.main(["export", "front.py", "-o", "front.bpte"]) == 0
    code = cli.main(["test", "front.bpte", "--board", "host"])
    assert code == 0, capsys.readouterr()
    assert cli.main(["export", "front.py", "-o", "front.pte"]) == 0
    content = Path("front.pte").read_bytes()
    names = [x.full_name for x in program.parse(content).methods[0].operators]
    first = "ember::gray_rgb565.out" if gray else "ember::rgb_rgb565.out"
    assert {first, "ember::resize_bilinear.out"} <= set(names)
