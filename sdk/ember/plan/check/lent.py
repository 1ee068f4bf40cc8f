"""An image that scratch overlaps becomes an error where the file is still read there.

Every byte from the start of scratch on is changed. The file must still say what it
said, except for payloads without constants, which are read only at load. The check uses
neither the loader nor the code that chose the place.
"""

from __future__ import annotations

from collections.abc import Iterator

from ember import program
from ember.errors import SdkError, problem_list
from ember.files import xnnpack
from ember.program import Delegate, Method

_ALL_BITS = 0xFF


def check_lent(content: bytes, method: str, start: int) -> None:
    """SdkError when `method`, once loaded, reads a byte from `start` on."""
    overlaps = list(lent_problems(content, method, start))
    if overlaps:
        raise SdkError(
            problem_list("scratch would overlap data that is still needed", overlaps),
            hint="this is a bug in Ember: please report it with the model",
        )


def lent_problems(content: bytes, method: str, start: int) -> Iterator[str]:
    changed = content[:start] + bytes(byte ^ _ALL_BITS for byte in content[start:])
    before = program.parse(content)
    try:
        after = program.parse(changed)
    except SdkError as error:
        yield str(error)
        return
    for name in ("constants", "mutable_data", "named_data"):
        if getattr(before, name) != getattr(after, name):
            yield f"{name.replace('_', ' ')} of the program"
    for old, new in zip(before.methods, after.methods, strict=True):
        yield from _of_method(old, new, loaded=old.name == method)


def _of_method(before: Method, after: Method, *, loaded: bool) -> Iterator[str]:
    pairs = zip(before.delegates, after.delegates, strict=True)
    for number, (delegate, other) in enumerate(pairs):
        if delegate != other and not (loaded and _is_copied(delegate)):
            yield f"delegate {number} of {before.name}"


def _is_copied(delegate: Delegate) -> bool:
    """Whether loading copies everything that it needs from the payload."""
    if delegate.id != xnnpack.BACKEND:
        return False
    return not any(_is_inside(value) for value in xnnpack.parse(delegate.data).values)


def _is_inside(value: xnnpack.Value) -> bool:
    """Whether the payload holds a constant, or the scales of one."""
    scaled = "scale_buffer_idx" in (value.quantisation or {})
    return (value.constant and not value.key) or (scaled and not value.scales_key)
