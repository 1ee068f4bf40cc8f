"""A compiler's errors on variants become the intrinsics that kernels/models lacks.

This computer compiles the variants for every instruction set, with models in C of the
intrinsics. One that uses an intrinsic without a model is left out here; boards that
have its instruction set need it, and are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from ember import kernels
from ember.errors import SdkError, problem_list

FILE = "left_out.txt"  # of a build tree; CMakeLists.txt reads it
_FAILED = re.compile(
    r"^FAILED: (?:\[code=\d+\] )?\S*ember_variants\.dir/(\S+\.c)\.o(?:bj)?\s*$",
    re.MULTILINE,
)
_NAME = r"['‘](\w+)['’]"  # noqa: RUF001 - GCC's quotes
_UNKNOWN = re.compile(
    rf"error: (?:implicit declaration of function|call to undeclared (?:library )?"
    rf"function|use of undeclared identifier|unknown type name) {_NAME}"
    rf"|error: {_NAME} undeclared"
)


def missing(output: str) -> dict[str, str]:
    """By source file, the intrinsic that stopped it; nothing when another error did."""
    listed = {
        kernel
        for known in kernels.load().operators.values()
        for kernel in known.kernels
    }
    for backend in kernels.load().backends.values():
        listed.update(backend.kernels)
    first, *parts = _FAILED.split(output)
    names: dict[str, str] = {}
    for source, text in zip(parts[::2], parts[1::2], strict=True):
        match = _UNKNOWN.search(text)
        if match is None or PurePosixPath(source).stem not in listed:
            return {}
        names[source] = match[1] or match[2]
    return {} if "FAILED: " in first + "".join(parts[1::2]) else names


def write(build: Path, names: Mapping[str, str]) -> None:
    """Tell CMake which files to leave out; the file is only written when it changes."""
    text = "".join(f"{source} {name}\n" for source, name in sorted(names.items()))
    path = build / FILE
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        build.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read(folder: Path) -> dict[str, str]:
    """By kernel, the intrinsic for want of which it was left out."""
    path = folder / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    pairs = (line.split() for line in lines)
    return {PurePosixPath(source).stem: name for source, name in pairs}


def need(wanted: Iterable[str], unmodelled: Mapping[str, str], why: str) -> None:
    """SdkError when one of the kernels is left out: `why` this computer must run it."""
    problems = [
        f"{kernel} uses {unmodelled[kernel]}"
        for kernel in sorted(set(wanted) & unmodelled.keys())
    ]
    if problems:
        raise SdkError(
            problem_list(
                f"kernels/models has no model of an intrinsic; {why}", problems
            ),
            hint="add a function of that name in C to a header of kernels/models, "
            "as docs/kernels.md says",
        )
