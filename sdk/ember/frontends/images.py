"""Pixels of a camera become the input of a network, computed only in integers."""

from __future__ import annotations

from typing import Any

from ember.errors import SdkError
from ember.export.operators import library
from ember.export.packages import need

torch = need("torch")

_PATTERNS = ("RGGB", "GRBG", "GBRG", "BGGR")


class RGB565(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Pixels of 5, 6 and 5 bits, red highest, (.., h, w) int16, become uint8.

    gray    luma (77 R + 150 G + 29 B + 128) >> 8, (.., h, w); otherwise red, green and
            blue, (.., 3, h, w)
    """

    def __init__(self, *, gray: bool = False) -> None:
        super().__init__()
        self.gray = gray

    def forward(self, pixels: Any) -> Any:
        ember = library.defined()
        return (ember.gray_rgb565 if self.gray else ember.rgb_rgb565)(pixels)


class YUV422(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Bytes Y U Y V of two pixels that share their colour, (.., h, 2 w) uint8, w even.

    gray    luma, (.., h, w); otherwise red, green and blue of BT.601, 0 to 255,
            (.., 3, h, w)
    """

    def __init__(self, *, gray: bool = False) -> None:
        super().__init__()
        self.gray = gray

    def forward(self, pixels: Any) -> Any:
        if pixels.shape[-1] % 4:
            raise SdkError(
                f"rows of {pixels.shape[-1]} bytes are not pairs of pixels of YUV422",
                hint="two pixels are 4 bytes",
            )
        return pixels[..., ::2] if self.gray else library.defined().rgb_yuv422(pixels)


class Bayer(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Cells of 2 x 2 pixels of a sensor with one colour each, (.., 2 h, 2 w) uint8.

    pattern  the colours of a cell, upper row first: RGGB, GRBG, GBRG or BGGR
    gray     luma (77 R + 75 G + 75 G' + 29 B + 128) >> 8, (.., h, w); otherwise red,
             the mean of both greens, and blue, (.., 3, h, w)

    A cell becomes one pixel: half the size in each direction, without interpolation.
    """

    def __init__(self, pattern: str = "RGGB", *, gray: bool = False) -> None:
        super().__init__()
        if pattern not in _PATTERNS:
            raise SdkError(
                f"{pattern!r} is not a Bayer pattern",
                hint=f"it is one of {', '.join(_PATTERNS)}",
            )
        self.red, self.gray = pattern.index("R"), gray

    def forward(self, pixels: Any) -> Any:
        height, width = pixels.shape[-2:]
        if height % 2 or width % 2:
            raise SdkError(f"{height} x {width} pixels are not cells of 2 x 2")
        ember = library.defined()
        convert = ember.gray_bayer if self.gray else ember.rgb_bayer
        return convert(pixels, self.red)


class Crop(torch.nn.Module):  # type: ignore[misc, name-defined]
    """`height` rows from `top` on, `width` columns from `left` on, of (.., h, w)."""

    def __init__(self, top: int, left: int, height: int, width: int) -> None:
        super().__init__()
        if min(top, left) < 0 or min(height, width) < 1:
            raise SdkError(
                f"{height} x {width} pixels from row {top} and column {left} on are not"
                " a part of an image",
                hint="sizes must be at least 1, positions at least 0",
            )
        self.rows, self.columns = (top, top + height), (left, left + width)

    def forward(self, image: Any) -> Any:
        if self.rows[1] > image.shape[-2] or self.columns[1] > image.shape[-1]:
            raise SdkError(
                f"an image of {image.shape[-2]} x {image.shape[-1]} pixels has no rows"
                f" {self.rows[0]} to {self.rows[1]} and columns {self.columns[0]} to"
                f" {self.columns[1]}"
            )
        return image[..., slice(*self.rows), slice(*self.columns)]


class Resize(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Bilinear, (.., h, w) uint8 -> (.., height, width) uint8.

    Like torch.nn.functional.interpolate(align_corners=False), with weights rounded down
    to 256ths; results differ by less than 2.5. It mixes 2 x 2 pixels: average first to
    shrink to less than half the size, because it would skip pixels.
    """

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        if min(height, width) < 1:
            raise SdkError(f"an image of {height} x {width} pixels cannot be made")
        self.size = (height, width)

    def forward(self, image: Any) -> Any:
        return library.defined().resize_bilinear(image, *self.size)
