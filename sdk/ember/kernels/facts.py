"""Attributes of kernels in kernels.yaml become facts: how they access arguments.

In an operator's entry a kernel is a name, or a name with facts. The facts belong to the
first entry of the file that names the kernel:

    kernels: [{mul3_f32: {in_place: true, accesses: {input: 3}}}, mul3]

Older files have lists of kernels at the top instead; these are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember.errors import SdkError

_MARKS = ("fast", "in_place", "amends", "writes_state")  # flags of a kernel
_NAMES = (*_MARKS, "accesses")


@dataclass(frozen=True)
class Times:
    """How often a kernel accesses an argument, per element or multiply-accumulate."""

    times: float = 1
    macs: bool = False  # per multiply-accumulate of the call instead of per element
    single: bool = False  # element by element, even in a vector variant
    copied: bool = False  # accesses go to a copy in scratch, if the call has scratch
    constant: bool = False  # also read by `prepare`: it must stay a constant


@dataclass(frozen=True)
class Facts:
    """The facts of a file about its kernels."""

    fast: frozenset[str] = frozenset()  # kernels that only add speed
    in_place: frozenset[str] = frozenset()  # kernels that may overwrite an argument
    amends: frozenset[str] = frozenset()  # kernels whose out may lie on `self`
    writes_state: frozenset[str] = (
        frozenset()
    )  # kernels whose `run` changes their state
    # By kernel and argument, unless each element is accessed once.
    accesses: Mapping[str, Mapping[str, Times]] = field(default_factory=dict)


def read(path: Path, top: Mapping[str, Any], entries: Sequence[Any]) -> Facts:
    """The facts in the file `path`: in its `entries` and the lists at its top."""
    stated = _listed(top)
    for kernel, facts, op in _beside(path, entries):
        if kernel in stated:
            raise SdkError(
                f"{path}: facts of {kernel} stand at {op} and in a list at the top",
                hint="keep those of the entry",
            )
        stated[kernel] = facts
    accesses = {
        kernel: _times(path, kernel, facts["accesses"])
        for kernel, facts in stated.items()
        if "accesses" in facts
    }
    marks = {
        mark: frozenset(kernel for kernel, facts in stated.items() if facts.get(mark))
        for mark in _MARKS
    }
    return Facts(**marks, accesses=accesses)


def merged(all_facts: Sequence[Facts]) -> Facts:
    """The facts of several files."""
    accesses: dict[str, Mapping[str, Times]] = {}
    for facts in all_facts:
        accesses.update(facts.accesses)
    marks = {
        mark: frozenset[str]().union(*(getattr(facts, mark) for facts in all_facts))
        for mark in _MARKS
    }
    return Facts(**marks, accesses=accesses)


def kernel_of(item: Any) -> str:
    """A kernel's name; ExecuTorch's files give a C++ function in a namespace."""
    return _split(item)[0]


def _split(item: Any) -> tuple[str, Any]:
    """A kernel's name and its facts, if any."""
    if not isinstance(item, dict):
        return str(item).rpartition("::")[2], None
    if "kernel_name" in item:
        return str(item["kernel_name"]).rpartition("::")[2], None
    if len(item) != 1:
        raise ValueError(f"{item} is not one kernel with its facts")
    ((kernel, facts),) = item.items()
    return str(kernel), facts if facts is not None else {}


def _listed(top: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The facts of each kernel in the lists at the top."""
    stated: dict[str, dict[str, Any]] = {}
    for mark in _MARKS:
        for kernel in top.get(mark) or ():
            stated.setdefault(str(kernel), {})[mark] = True
    for kernel, times in (top.get("accesses") or {}).items():
        stated.setdefault(str(kernel), {})["accesses"] = times
    return stated


def _beside(
    path: Path, entries: Sequence[Any]
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each kernel with facts: its name, the facts, and its operator."""
    first: dict[str, str] = {}
    for entry in entries:
        op = entry.get("op") or entry["func"].partition("(")[0]
        for kernel, facts in map(_split, entry.get("kernels", ())):
            home = first.setdefault(kernel, op)
            if facts is None:
                continue
            if home != op:
                raise SdkError(
                    f"{path}: facts of {kernel} stand at {op}",
                    hint=f"move them to {home}, the first operator that names it",
                )
            _check(path, kernel, facts)
            yield kernel, facts, op


def _check(path: Path, kernel: str, facts: Any) -> None:
    if not isinstance(facts, dict):
        raise SdkError(
            f"{path}: the facts of {kernel} are {facts!r}",
            hint=f"write {kernel}: {{in_place: true}}, or the name alone",
        )
    for name, value in facts.items():
        if name not in _NAMES:
            raise SdkError(
                f"{path}: {kernel} has an unknown fact '{name}'",
                hint=f"facts are {', '.join(_NAMES)}",
            )
        if name in _MARKS and not isinstance(value, bool):
            raise SdkError(
                f"{path}: {name} of {kernel} is {value!r}", hint="write true or false"
            )


# ---- accesses ----------------------------------------------------------------------

_TIMES = re.compile(r"(?:macs(?:/(\d+))?|(\d+(?:\.\d+)?))( single| copied)?")


def _times(path: Path, kernel: str, stated: Any) -> dict[str, Times]:
    if not isinstance(stated, dict):
        raise SdkError(
            f"{path}: the accesses of {kernel} are {stated!r}",
            hint="name arguments: {input: 3, weight: macs/8}",
        )
    return {str(name): _one(path, kernel, name, stated[name]) for name in stated}


def _one(path: Path, kernel: str, argument: Any, text: Any) -> Times:
    if text == "constant":
        return Times(constant=True)
    match = _TIMES.fullmatch(str(text))
    if match is None or match[1] == "0":
        raise SdkError(
            f"{path}: accesses of {argument} by {kernel} are '{text}'",
            hint="write 3, macs, macs/8 (single, copied) or constant",
        )
    by_macs = match[2] is None
    times = 1 / int(match[1] or 1) if by_macs else float(match[2])
    return Times(times, by_macs, match[3] == " single", match[3] == " copied")
