"""`ember.frontends` of images: what modules compute, refuse, and become as programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cli, program
from ember.cases import one_call
from ember.errors import SdkError
from ember.files.tensors import Array

OUT = "*, Tensor(a!) out) -> Tensor(a!)"
GRAY = "(Tensor pixels, " + OUT
RESIZE = "(Tensor image, int height, int width, " + OUT


@pytest.fixture(name="torch")
def _torch() -> Any:
    return pytest.importorskip("torch")


# ---- what needs no PyTorch -----------------------------------------------------------


def refuse(
    folder: Path, op: str, schema: str, arguments: Sequence[object], out: Array
) -> None:
    one_call.write(folder / "a", f"ember::{op}.out", schema, arguments, [out])
    assert cli.main(["test", str(folder / "a"), "--board", "host"]) == 1


@pytest.mark.parametrize("size", [0, -1, 8193])
def test_a_size_out_of_bounds_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int
) -> None:
    image, out = np.zeros((2, 2), np.uint8), np.zeros((2, 2), np.uint8)
    refuse(tmp_path, "resize_bilinear", RESIZE, [image, size, 2], out)
    assert "an argument is out of range" in "".join(capsys.readouterr())


def test_an_image_without_rows_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image, out = np.zeros((0, 2), np.uint8), np.zeros((2, 2), np.uint8)
    refuse(tmp_path, "resize_bilinear", RESIZE, [image, 2, 2], out)
    assert "resize_bilinear: bad shape" in "".join(capsys.readouterr())


def test_pixels_of_another_dtype_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pixels, out = np.zeros((2, 2), np.int32), np.zeros((2, 2), np.uint8)
    refuse(tmp_path, "gray_rgb565", GRAY, [pixels], out)
    assert "gray_rgb565" in "".join(capsys.readouterr())


def test_pixels_in_a_row_are_no_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pixels, out = np.zeros(4, np.int16), np.zeros((3, 4), np.uint8)
    refuse(tmp_path, "rgb_rgb565", GRAY, [pixels], out)
    assert "image: not rows of pixels" in "".join(capsys.readouterr())


def test_half_a_pair_of_pixels_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pixels, out = np.zeros((2, 6), np.uint8), np.zeros((3, 2, 3), np.uint8)
    refuse(tmp_path, "rgb_yuv422", GRAY, [pixels], out)
    assert "image: not rows of pixels" in "".join(capsys.readouterr())


# ---- modules -------------------------------------------------------------------------


@pytest.mark.export
def test_colours_are_those_of_the_bits(torch: Any) -> None:
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
def test_colours_of_pairs_are_those_of_bt_601(torch: Any) -> None:
    from ember import frontends

    torch.manual_seed(0)
    pixels = torch.randint(0, 256, (2, 5, 12)).to(torch.uint8)
    luma = pixels[..., ::2].float()
    u, v = (pixels[..., k::4].float().repeat_interleave(2, -1) - 128 for k in (1, 3))
    exact = [luma + 1.402 * v, luma - 0.344136 * u - 0.714136 * v, luma + 1.772 * u]
    rgb = frontends.YUV422()(pixels)
    assert rgb.shape == (2, 3, 5, 6)
    away = rgb.float() - torch.stack(exact, 1).clamp(0, 255)
    assert away.abs().max() <= 1
    assert torch.equal(frontends.YUV422(gray=True)(pixels), pixels[..., ::2])
    with pytest.raises(SdkError, match="rows of 6 bytes are not pairs"):
        frontends.YUV422()(pixels[..., :6])


@pytest.mark.export
@pytest.mark.parametrize("size", [(96, 96), (7, 300), (120, 160), (1, 1)])
def test_resizing_is_near_that_of_pytorch(torch: Any, size: tuple[int, int]) -> None:
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
def test_modules_refuse_what_is_no_part_of_an_image(torch: Any) -> None:
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
from ember.frontends import RGB565, YUV422, Crop, Resize

model = torch.nn.Sequential(LAYERS)
torch.manual_seed(0)
example_inputs = (torch.randint(LEAST, 256, (8, 12)).to(torch.DTYPE),)
"""


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("layers", "least", "first"),
    [
        ("Crop(1, 2, 6, 8), RGB565(gray=True), Resize(4, 10)", -256, "gray_rgb565"),
        ("Crop(1, 2, 6, 8), RGB565(), Resize(4, 10)", -256, "rgb_rgb565"),
        ("YUV422(), Resize(4, 10)", 0, "rgb_yuv422"),
        ("YUV422(gray=True), Resize(4, 10)", 0, "resize_bilinear"),
    ],
)
def test_they_run_as_a_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    layers: str,
    least: int,
    first: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = MODEL.replace("LAYERS", layers).replace("LEAST", str(least))
    Path("front.py").write_text(text.replace("DTYPE", "int16" if least else "uint8"))
    assert cli.main(["export", "front.py", "-o", "front.bpte"]) == 0
    code = cli.main(["test", "front.bpte", "--board", "host"])
    assert code == 0, capsys.readouterr()
    assert cli.main(["export", "front.py", "-o", "front.pte"]) == 0
    content = Path("front.pte").read_bytes()
    names = [x.full_name for x in program.parse(content).methods[0].operators]
    assert {f"ember::{first}.out", "ember::resize_bilinear.out"} <= set(names)
