"""What files of settings share: models that refuse unknown keys, sizes such as 64K."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_HERTZ = {"kHz": 1_000, "MHz": 1_000_000}
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _bytes(value: Any) -> Any:
    """512K -> 524288; numbers stay."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+)([KMG]?)", value)
        if match is None:
            raise ValueError(f"'{value}' is not a size: write 65536, 64K or 4M")
        return int(match[1]) * _UNITS[match[2]]
    return value


def size_of(value: Any) -> int:
    """Bytes of a size as it is written, such as 64K; ValueError says what is wrong."""
    size = _bytes(value)
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise ValueError(f"'{value}' is not a size: write 65536, 64K or 4M")
    return size


def hertz(value: Any) -> Any:
    """12.5MHz -> 12500000; numbers stay."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(kHz|MHz)", value)
        if match is None:
            raise ValueError(f"'{value}' is not a clock: write 16000000 or 16MHz")
        return round(float(match[1]) * _HERTZ[match[2]])
    return value


Size = Annotated[int, BeforeValidator(_bytes), Field(gt=0)]
