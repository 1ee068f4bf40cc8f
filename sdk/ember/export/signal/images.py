"""The operators ember::* on images, as PyTorch computes them: integers alone, so
that boards give the same bits.

ember::gray_bayer(pixels, red)        (.., 2 h, 2 w) -> (.., h, w)
ember::rgb_bayer(pixels, red)         (.., 2 h, 2 w) -> (.., 3, h, w)
ember::gray_rgb565(pixels)            (..) -> (..)              luma of BT.601
ember::rgb_rgb565(pixels)             (.., h, w) -> (.., 3, h, w)
ember::rgb_yuv422(pixels)             (.., h, 2 w) -> (.., 3, h, w)
ember::resize_bilinear(image, h, w)   (.., rows, columns) -> (.., h, w)

Pixels are the 16 bits of RGB565, red highest, as int16, or bytes Y U Y V of two pixels,
or those of a Bayer sensor, where `red` is 2 row + column of red in cells of 2 x 2;
images are uint8.
"""

from __future__ import annotations

from typing import Any

from ember.export.packages import need

SCHEMAS = {
    "gray_bayer": "Tensor pixels, int red",
    "rgb_bayer": "Tensor pixels, int red",
    "gray_rgb565": "Tensor pixels",
    "rgb_rgb565": "Tensor pixels",
    "rgb_yuv422": "Tensor pixels",
    "resize_bilinear": "Tensor image, int height, int width",
}


def gray_bayer(pixels: Any, red: int) -> Any:
    cell = _cells(pixels, red)
    green = 75 * cell[1] + 75 * cell[2]
    mixed = 77 * cell[0] + green + 29 * cell[3] + 128
    return (mixed >> 8).to(need("torch").uint8)


def rgb_bayer(pixels: Any, red: int) -> Any:
    torch = need("torch")
    cell = _cells(pixels, red)
    colours = [cell[0], (cell[1] + cell[2] + 1) >> 1, cell[3]]
    return torch.stack(colours, dim=-3).to(torch.uint8)


def gray_rgb565(pixels: Any) -> Any:
    red, green, blue = _channels(pixels)
    return ((77 * red + 150 * green + 29 * blue + 128) >> 8).to(need("torch").uint8)


def rgb_rgb565(pixels: Any) -> Any:
    torch = need("torch")
    return torch.stack(_channels(pixels), dim=-3).to(torch.uint8)


def rgb_yuv422(pixels: Any) -> Any:
    """BT.601 of numbers from 0 to 255, with factors in 256ths."""
    torch = need("torch")
    pairs = pixels.to(torch.int32).unflatten(-1, (-1, 4))
    u, v = pairs[..., 1, None] - 128, pairs[..., 3, None] - 128
    colours = [359 * v + 128, -88 * u - 183 * v + 128, 454 * u + 128]
    planes = [(pairs[..., ::2] + (colour >> 8)).flatten(-2) for colour in colours]
    return torch.stack(planes, dim=-3).clamp(0, 255).to(torch.uint8)


def resize_bilinear(image: Any, height: int, width: int) -> Any:
    """As upsampling has it with align_corners=False; shares have 8 bits."""
    torch = need("torch")
    top, bottom, down = _neighbours(image.shape[-2], height, image.device)
    left, right, across = _neighbours(image.shape[-1], width, image.device)
    wide = image.to(torch.int32)
    tall = (
        wide[..., top, :] * (256 - down[:, None]) + wide[..., bottom, :] * down[:, None]
    )
    mixed = tall[..., left] * (256 - across) + tall[..., right] * across
    return ((mixed + 32768) >> 16).to(torch.uint8)


def _cells(pixels: Any, red: int) -> list[Any]:
    """Red, green, the other green, and blue of each cell, int32."""
    wide = pixels.to(need("torch").int32)
    places = [red, red ^ 1, red ^ 2, red ^ 3]
    return [wide[..., place >> 1 :: 2, place & 1 :: 2] for place in places]


def _channels(pixels: Any) -> tuple[Any, Any, Any]:
    """Red, green and blue, int32 from 0 to 255: the highest bits follow the lowest."""
    bits = pixels.to(need("torch").int32)
    red, green, blue = bits >> 11 & 31, bits >> 5 & 63, bits & 31
    return red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2


def _neighbours(size: int, wanted: int, device: Any) -> tuple[Any, Any, Any]:
    """The two pixels that each is between, and the second one's share of 256."""
    torch = need("torch")
    steps = 2 * wanted  # to a pixel
    at = (2 * torch.arange(wanted, device=device) + 1) * size - wanted
    at = at.clamp(0, (size - 1) * steps)
    first = at // steps
    share = (at - first * steps) * 256 // steps
    return first, (first + 1).clamp(max=size - 1), share.to(torch.int32)
