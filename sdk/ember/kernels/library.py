"""A folder's kernels.yaml becomes a library: operators, their kernels, the C files.

A list of entries, or a mapping with `operators:`, and `sources:`, C files that its
kernels share. An entry has Ember's format, or that of ExecuTorch's functions.yaml:

- {op: "my_ops::mul3.out", schema: "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
   kernels: [mul3]}
- {func: "my_ops::mul3.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
   kernels: [{arg_meta: null, kernel_name: "my_ops::mul3"}]}

A kernel may have facts beside its name (facts.py).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember.errors import SdkError
from ember.files import documents
from ember.kernels import facts
from ember.kernels.facts import Facts

FILE = "kernels.yaml"


@dataclass(frozen=True)
class OperatorEntry:
    """One operator of one library."""

    op: str
    schema: str
    folder: Path
    kernels: tuple[str, ...]
    dtypes: tuple[str, ...]
    tolerance: Any
    flags: tuple[str, ...]

    def source(self, kernel: str) -> Path:
        return self.folder / f"{kernel}.c"


@dataclass(frozen=True)
class Library:
    folder: Path
    path: Path
    entries: tuple[OperatorEntry, ...]
    sources: tuple[Path, ...]
    backends: tuple[Mapping[str, Any], ...]
    facts: Facts

    def files(self) -> list[Path]:
        """All source files that its kernels may need, sorted."""
        sources = [path for path in self.folder.rglob("*.[ch]") if path.is_file()]
        return sorted([*sources, self.path])


def read(folder: Path) -> Library:
    """The library in a folder, or the one that a kernels.yaml describes."""
    path = folder if folder.suffix in (".yaml", ".yml") else folder / FILE
    return of(path, documents.read_yaml(path, "the list of kernels") or [])


def of(path: Path, data: Any) -> Library:
    """The library described by `content`, which was read from `path`."""
    top = data if isinstance(data, dict) else {"operators": data}
    entries = top.get("operators", [])
    if not isinstance(entries, list):
        raise SdkError(
            f"{path}: `operators` must be a list", hint="see docs/kernels.md"
        )
    return Library(
        folder=path.parent,
        path=path,
        entries=tuple(entry_of(path, entry) for entry in entries),
        sources=tuple(path.parent / source for source in top.get("sources", ())),
        backends=tuple(top.get("backends", ())),
        facts=facts.read(path, top, entries),
    )


def entry_of(path: Path, fields: Any) -> OperatorEntry:
    """The entry with these fields, which were read from `path`."""
    try:
        op, schema = _named(fields)
        if schema:
            arguments(schema)
        return OperatorEntry(
            op=op,
            schema=schema,
            folder=(path.parent / fields.get("in", ".")).resolve(),
            kernels=tuple(map(facts.kernel_of, fields.get("kernels", ()))),
            dtypes=tuple(fields.get("dtypes", ())),
            tolerance=fields.get("tolerance", "exact"),
            flags=tuple(fields.get("flags", ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = (
            fields.get("op") or fields.get("func") if isinstance(fields, dict) else ""
        )
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise SdkError(
            f"{path}: the entry {name or fields!r} is wrong: {reason}",
            hint="an entry needs op, schema and kernels, or func and kernels",
        ) from error


def _named(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Operator and schema; ExecuTorch's files omit the schemas of ATen's operators."""
    if "func" in fields:
        op, _, rest = fields["func"].partition("(")
        op, schema = op.strip(), f"({rest}"
    else:
        op, schema = fields["op"], fields.get("schema", "")
    return (op if "::" in op else f"aten::{op}"), schema


# ---- schemas -----------------------------------------------------------------------


@functools.cache
def arguments(schema: str) -> tuple[str, ...]:
    """The arguments of "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"."""
    parts = (part.strip() for part in _split(_inside(schema)))
    return tuple(part for part in parts if part and part != "*")


def names(schema: str) -> tuple[str, ...]:
    """The names of the arguments."""
    parts = (part.partition("=")[0] for part in arguments(schema))
    return tuple(part.split()[-1] for part in parts)


def roles(schema: str) -> tuple[str, ...]:
    """The role of each argument. A tensor annotated as written, as in `Tensor(a!) out`,
    "writes" if it is a keyword argument and "updates" if not; others are "reads". A
    tensor called `scratch` or `output_scratch` is memory that a kernel may overwrite:
    it "writes"."""
    accesses = []
    keyword = False
    for part in map(str.strip, _split(_inside(schema))):
        keyword = keyword or part == "*"
        if part and part != "*":
            accesses.append(_role(part, keyword))
    return tuple(accesses)


def _role(argument: str, keyword: bool) -> str:
    kind, _, name = argument.partition(" ")
    if name.rpartition("_")[2] == "scratch":
        return "writes"
    if "!)" in kind:
        return "writes" if keyword else "updates"
    return "reads"


def _inside(schema: str) -> str:
    """The text between the first pair of matching parentheses."""
    depth = 0
    for bracket in re.finditer("[()]", schema):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return schema[schema.index("(") + 1 : bracket.start()]
    raise ValueError(f"the schema '{schema}' has unbalanced parentheses")


def _split(text: str) -> Iterable[str]:
    """The parts between commas that are outside brackets."""
    start = depth = 0
    for mark in re.finditer(r"[][(),]", text):
        if mark[0] in "([":
            depth += 1
        elif mark[0] in ")]":
            depth -= 1
        elif depth == 0:
            yield text[start : mark.start()]
            start = mark.end()
    yield text[start:]
