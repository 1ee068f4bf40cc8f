"""A folder's kernels.yaml becomes a library: operators, their kernels, the C files.

A list of entries, or a mapping with `operators:`, and `sources:`, C files that its
kernels share. An entry has Ember's format, or that of ExecuTorch's functions.yaml:

- {op: "my_ops::mul3.out", schema: "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
   kernels: [mul3]}
- {func: "my_ops::mul3.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
   kernels: [{arg_meta: null, kernel_name: "my_ops::mul3"}]}

A kernel is a name, or a name with facts, such as how it accesses arguments. The facts
belong to the first entry of the file that names the kernel:

    kernels: [{mul3_f32: {in_place: true, accesses: {input: 3}}}, mul3]

Older files have lists of kernels at the top instead; these are read too.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember import files
from ember.errors import SdkError

FILE = "kernels.yaml"


@dataclass(frozen=True)
class EarlierSchema:
    """An argument list that other versions of an exporter wrote for an operator."""

    version: str
    schema: str
    lacks: Mapping[str, int | bool | None]  # arguments of the operator, and their value


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
    version: str = ""  # of the exporter, if others wrote other argument lists
    earlier: tuple[EarlierSchema, ...] = ()
    macs: str = ""
    window: OperatorWindow | None = None

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

    @property
    def kernel_sources(self) -> list[Path]:
        return [entry.source(name) for entry in self.entries for name in entry.kernels]

    def files(self) -> list[Path]:
        """All source files that its kernels may need, sorted."""
        named = {*self.kernel_sources, *self.sources}  # some in other folders
        headers = {file for path in named for file in path.parent.glob("*.h")}
        every = named | headers | {*self.folder.rglob("*.[ch]")}
        return sorted([*(path for path in every if path.is_file()), self.path])


def real(path: Path) -> Path:
    """The path without links and `..`, also where links go in circles."""
    return Path(os.path.realpath(path))


@functools.cache
def _folder(parent: Path, name: str) -> Path:
    """That of an entry's kernels: few names for hundreds of entries."""
    return real(parent / name)


def read(folder: Path) -> Library:
    """The library in a folder, or the one that a kernels.yaml describes."""
    path = folder if folder.suffix in (".yaml", ".yml") else folder / FILE
    return of(path, files.read_yaml(path, "the list of kernels") or [])


def of(path: Path, data: Any) -> Library:
    """The library described by `content`, which was read from `path`."""
    top = data if isinstance(data, dict) else {"operators": data}
    entries = top.get("operators", [])
    if not isinstance(entries, list):
        raise SdkError(
            f"{path}: `operators` must be a list", hint="see docs/kernels.md"
        )
    sources = top.get("sources", [])
    if not isinstance(sources, list) or not all(isinstance(s, str) for s in sources):
        raise SdkError(
            f"{path}: `sources` must be a list of files", hint="see docs/kernels.md"
        )
    return Library(
        folder=path.parent,
        path=path,
        entries=tuple(entry_of(path, entry) for entry in _complete(path, entries)),
        sources=tuple(real(path.parent / source) for source in sources),
        backends=tuple(top.get("backends", ())),
        facts=read_facts(path, top, entries),
    )


def _complete(path: Path, entries: list[Any]) -> Iterator[Any]:
    """The entries; one with `nhwc` has what the operator that it names has."""
    known = [entry for entry in entries if isinstance(entry, dict)]
    for entry in entries:
        if isinstance(entry, dict) and "nhwc" in entry:
            same = next((e for e in known if e.get("op") == entry["nhwc"]), None)
            if same is None:
                raise SdkError(
                    f"{path}: `nhwc` of {entry.get('op')} names {entry['nhwc']!r},"
                    " which this file does not describe",
                    hint="describe the operator with images (N, C, H, W), too",
                )
            flags = [*same.get("flags", ()), "nhwc"]
            mine = {"flags": flags, "version": "", "earlier": (), "window": None}
            yield {**same, **entry, **mine}
        else:
            yield entry


def entry_of(path: Path, fields: Any) -> OperatorEntry:
    """The entry with these fields, which were read from `path`."""
    try:
        op, schema = _named(fields)
        if schema:
            arguments(schema)
        return OperatorEntry(
            op=op,
            schema=schema,
            folder=_folder(path.parent, fields.get("in", ".")),
            kernels=tuple(map(kernel_of, fields.get("kernels", ()))),
            dtypes=tuple(fields.get("dtypes", ())),
            tolerance=fields.get("tolerance", "exact"),
            flags=tuple(fields.get("flags", ())),
            version=str(fields.get("version", "")),
            earlier=tuple(_earlier(schema, item) for item in fields.get("earlier", ())),
            macs=_macs(schema, str(fields.get("macs", ""))),
            window=_window(schema, fields.get("window")),
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


def _macs(schema: str, formula: str) -> str:
    """The formula, of arguments that the schema has."""
    named = {*re.findall(r"[a-z]\w*", formula)} - {"if", "else"}
    unknown = named.difference(names(schema) if named else ())
    if unknown:
        raise ValueError(f"macs names {', '.join(sorted(unknown))}, not an argument")
    return formula


def _window(schema: str, fields: Mapping[str, Any] | None) -> OperatorWindow | None:
    if fields is None:
        return None
    window = OperatorWindow(**fields)
    problem = window.problem(names(schema))
    if problem:
        raise ValueError(problem)
    return window


def _earlier(schema: str, fields: Mapping[str, Any]) -> EarlierSchema:
    """What `fields` say of an argument list that becomes that of `schema`."""
    earlier = EarlierSchema(
        str(fields["version"]), fields["schema"], dict(fields["lacks"])
    )
    wanted, given = names(schema), names(earlier.schema)
    if sorted(wanted) != sorted([*given, *earlier.lacks]):
        raise ValueError(
            f"the arguments of version {earlier.version} and those that it lacks are"
            " not the arguments of the schema"
        )
    for name, value in earlier.lacks.items():
        if value is not None and not (isinstance(value, int) and -128 <= value <= 127):
            raise ValueError(f"{name} must be null, a boolean or an int8")
    return earlier


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


def types(schema: str) -> tuple[str, ...]:
    """The types of the arguments, such as `Tensor?`, without annotations."""
    return tuple(re.sub(r"\(.*?\)", "", part.split()[0]) for part in arguments(schema))


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


# ---- facts of kernels ----------------------------------------------------------------


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


@dataclass(frozen=True)
class OperatorWindow:
    """What the names of its arguments do not tell of a call that moves a window over
    an image: those are `stride` and `padding`, `weight` or `kernel_size`, and maybe
    `dilation`, `input_offset`, `ceil_mode`, `count_include_pad`; with `output_padding`
    it is transposed, if `transposed` does not deny it."""

    outside: str = ""  # lies around the image: zeros, least, -input_offset; "": nothing
    images: str = ""  # the only dtype that runs by rows: f32; "": every one
    over: str = ""  # which results may lie where their inputs do: points, lines

    def problem(self, names: Collection[str]) -> str | None:
        """What is wrong with it for an operator with arguments of these names."""
        words = {
            "outside": ("", "zeros", "least", "-input_offset"),
            "images": ("", "f32"),
            "over": ("", "points", "lines"),
        }
        for fact, known in words.items():
            if getattr(self, fact) not in known:
                return f"`{fact}` of its window must be {', '.join(known[1:])}"
        needed = {"stride", "padding", "out"}
        needed |= {"dilation"} if "weight" in names else {"kernel_size"}
        needed |= {"input_offset"} if self.outside == "-input_offset" else set()
        lacking = sorted(needed.difference(names))
        return (
            f"its window needs {', '.join(lacking)} in its schema" if lacking else None
        )


def read_facts(path: Path, top: Mapping[str, Any], entries: Sequence[Any]) -> Facts:
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
    return _split_facts(item)[0]


def _split_facts(item: Any) -> tuple[str, Any]:
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
        for kernel, facts in map(_split_facts, entry.get("kernels", ())):
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
            hint=f"write {kernel}: {{in_place: true}}, or only the name",
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
