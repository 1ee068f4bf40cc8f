"""kernels.yaml files become the list of operators, and C tables of kernels."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from ember import paths, program
from ember.boards import isa
from ember.errors import SdkError, problem_list
from ember.kernels import library as kernel_library
from ember.kernels import schemas
from ember.kernels.library import (
    EarlierSchema,
    Facts,
    Library,
    OperatorEntry,
    OperatorWindow,
    merged,
)
from ember.kernels.schemas import NamedCall
from ember.program import KernelCall, Method, Program
from ember.quoted import c_string

# <op>_<dtype>[_<form>][_<isa>], or plain <op> for a generic kernel; C identifiers.
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
NAME_LENGTH = 40
# dtypes as names of kernels and kernels.yaml have them, and as PyTorch calls them.
DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
DTYPES |= {f"s{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)}
DTYPES |= {f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)} | {"b1": "bool"}
Earlier = frozenset[
    tuple[str, int]
]  # by operator and number in OperatorKernels.earlier
T = TypeVar("T")
FLAGS = {"binds_output": "EMBER_OP_BINDS_OUTPUT", "no_return": "0"}
FLAGS |= {"nhwc": "EMBER_OP_SCHEMAS"}


@dataclass(frozen=True)
class OperatorKernels:
    """An operator and its kernels from all libraries."""

    name: str  # aten::add.out
    schema: str
    kernels: tuple[str, ...]  # candidates, tried in this order; variants of all ISAs
    sources: tuple[Path, ...]  # their files
    dtypes: tuple[str, ...]
    tolerance: Any
    flags: tuple[str, ...] = ()
    version: str = ""  # of the exporter, if others wrote `earlier` lists
    earlier: tuple[EarlierSchema, ...] = ()  # argument lists that become `schema`
    macs: str = ""  # multiply-accumulates of a call, by its sizes
    window: OperatorWindow | None = None  # of those that move one over an image

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Of the arguments in the schema."""
        return kernel_library.names(self.schema)

    @property
    def arguments(self) -> int:
        """Number of arguments in the schema."""
        return len(self.names)

    @property
    def call_arguments(self) -> int:
        """Number of arguments of a call: the return value comes after the schema's."""
        return self.arguments + self.returns

    def ordered(self, arguments: Mapping[str, T], result: T) -> tuple[T, ...]:
        """The arguments of a call, by their names."""
        values = (arguments[name] for name in self.names)
        return (*values, result) if self.returns else tuple(values)

    @property
    def returns(self) -> bool:
        """Whether a call ends with its return value."""
        return "no_return" not in self.flags

    @functools.cached_property
    def is_ours(self) -> bool:
        """Whether all kernels are Ember's: they do exactly what the schema says."""
        return all(map(_is_ours, self.sources))

    @functools.cached_property
    def is_random(self) -> bool:
        """Whether its results depend on a call's index and how often it has run."""
        return any(source.parent.name == "random" for source in self.sources)

    def usable(self, sets: Sequence[str]) -> tuple[str, ...]:
        """The candidates for a core with the instruction sets of these names."""
        return isa.usable(self.kernels, sets)

    def source(self, kernel: str) -> Path:
        return self.sources[self.kernels.index(kernel)]


@dataclass(frozen=True)
class Backend:
    """A delegate's backend: its id in programs, and its file in backends/."""

    id: str
    source: str  # without .c; it defines ember_backend_<source>
    # Kernels of nodes, tried in this order; defined in files of <source>/.
    kernels: tuple[str, ...] = ()

    def reasons(
        self,
        kernel: str,
        sets: Sequence[str],
        forbidden: Sequence[str] = (),
        refused: Sequence[str] = (),
    ) -> list[str]:
        """Why a core with these instruction sets runs a node with `kernel`: what ruled
        out the variants that are tried first. `forbidden` are the instruction sets that
        the project forbids; `refused` says why variants do not support the node.
        """
        isa_of_kernel = isa.of(kernel)
        base = kernel.removesuffix(f"_{isa_of_kernel}") if isa_of_kernel else kernel
        before = self.kernels[: self.kernels.index(kernel)]
        reasons = []
        for name in (f"{base}_{isa_name}" for isa_name in isa.load()):
            if name in before:
                needed = isa.of(name)
                if needed in sets:
                    why = " and ".join(refused) or "not for this node"
                    reasons.append(f"not {name}: {why}")
                elif needed in forbidden:
                    reasons.append(f"the project forbids {needed}")
                else:
                    reasons.append(f"the board has no {needed}")
        if isa_of_kernel:
            reasons.append(f"the board has {isa_of_kernel}")
        return reasons or ["portable"]


@dataclass(frozen=True, eq=False)  # caches use its identity as a key
class KernelList:
    operators: Mapping[str, OperatorKernels]  # by name, sorted as strcmp sorts
    backends: Mapping[str, Backend]
    libraries: tuple[Library, ...] = ()  # of the user
    facts: Facts = field(default_factory=Facts)  # of all kernels

    @functools.cached_property
    def earlier(self) -> Earlier:
        """Every argument list of other versions of an exporter."""
        return frozenset(
            (name, number)
            for name, operator in self.operators.items()
            for number in range(len(operator.earlier))
        )

    def named(self, method: Method, call: KernelCall) -> NamedCall:
        """The call, with its arguments by name; none of an unknown operator's."""
        operator = self.operators.get(method.operator_names[call.op_index])
        return NamedCall(method, call, operator.names if operator else ())

    def named_at(self, method: Method, index: int) -> NamedCall:
        """That of an instruction, which is a call."""
        call = method.instructions[index]
        assert isinstance(call, KernelCall)
        return self.named(method, call)

    def writes_in_place(self, op: str) -> bool:
        """Whether every kernel may write its output over an input of the same size."""
        return self.facts.in_place.issuperset(self.operators[op].kernels)

    def amends_self(self, op: str) -> bool:
        """Whether every kernel makes a copy of its first argument, changes elements of
        it, and may do so in that argument itself."""
        return self.facts.amends.issuperset(self.operators[op].kernels)

    def all(
        self, sets: Sequence[str] = (), *, smallest: bool = False
    ) -> dict[str, tuple[str, ...]]:
        """Every candidate of every operator, for a core with these instruction sets.

        With `smallest`: no variants, and no kernels that only add speed.
        """
        if not smallest:
            return {
                name: operator.usable(sets) for name, operator in self.operators.items()
            }
        return {
            name: tuple(
                kernel for kernel in known.usable(()) if kernel not in self.facts.fast
            )
            for name, known in self.operators.items()
        }

    def of_all_sets(self) -> dict[str, tuple[str, ...]]:
        """All candidates, with the variants for every instruction set."""
        return {name: operator.kernels for name, operator in self.operators.items()}

    def user_sources(self, chosen: Mapping[str, Sequence[str]]) -> list[Path]:
        """The user's C files that the `chosen` kernels need, sorted."""
        sources: set[Path] = set()
        for name, items in chosen.items():
            operator = self.operators[name]
            if not operator.is_ours:
                sources.update(map(operator.source, items))
        sources = {path for path in sources if not _is_ours(path)}
        for library in self.libraries:
            if not sources.isdisjoint(library.kernel_sources):
                sources.update(library.sources)
        return sorted(sources)


def _is_ours(source: Path) -> bool:
    return str(source).startswith(f"{paths.kernels()}/")


@functools.cache
def libraries_of(folders: tuple[Path, ...]) -> tuple[Library, ...]:
    """The libraries in the user's `folders`."""
    return tuple(kernel_library.read(kernel_library.real(folder)) for folder in folders)


@functools.cache
def load(folders: tuple[Path, ...] = ()) -> KernelList:
    """Ember's kernels and those in the user's `folders`, which are tried first.

    Ember's kernels and backends whose files do not exist are left out.
    """
    ours = kernel_library.read(paths.kernels())
    libraries = libraries_of(folders)
    operators: dict[str, OperatorKernels] = {}
    for entry in ours.entries:
        there = [kernel for kernel in entry.kernels if entry.source(kernel).is_file()]
        operators[entry.op] = _operator(replace(entry, kernels=tuple(there)))
    kernel_names = {
        kernel for operator in operators.values() for kernel in operator.kernels
    }
    for library in libraries:
        _check(library, kernel_names)
        kernel_names.update(name for item in library.entries for name in item.kernels)
    known = KernelList(
        operators=operators,
        backends={backend.id: backend for backend in _backends(ours.backends)},
        libraries=libraries,
        facts=merged([ours.facts, *(library.facts for library in libraries)]),
    )
    return extended(known, libraries)


def read_program(content: bytes, what: str) -> tuple[Program, bytes]:
    """The program of a .pte as kernels take it (schemas.py), and its bytes: others than
    `content` if calls have the argument lists of other versions."""
    parsed = schemas.normal(program.parse(content, what), load)
    return parsed, program.content(parsed) if parsed.earlier else content


def extended(known: KernelList, libraries: Iterable[Library]) -> KernelList:
    """The list with the kernels of `libraries` added in front."""
    operators = dict(known.operators)
    for library in libraries:
        for entry in library.entries:
            operators[entry.op] = _merged(library, entry, operators.get(entry.op))
    ordered = {name: operators[name] for name in sorted(operators, key=str.encode)}
    return replace(known, operators=ordered)


def _operator(entry: OperatorEntry) -> OperatorKernels:
    return OperatorKernels(
        name=entry.op,
        schema=entry.schema,
        kernels=entry.kernels,
        sources=tuple(map(entry.source, entry.kernels)),
        dtypes=entry.dtypes,
        tolerance=entry.tolerance,
        flags=entry.flags,
        version=entry.version,
        earlier=entry.earlier,
        macs=entry.macs,
        window=entry.window,
    )


def _merged(
    library: Library, entry: OperatorEntry, known: OperatorKernels | None
) -> OperatorKernels:
    """The operator with the candidates of `entry` added in front."""
    operator = _operator(entry)
    if known is None and entry.schema:
        return operator
    if known is None:
        raise SdkError(f"{library.path}: the entry {entry.op} has no schema")
    if not entry.schema:
        operator = replace(operator, schema=known.schema)
    if operator.arguments != known.arguments:
        raise SdkError(
            f"{library.path}: the schema of {entry.op} has {operator.arguments}"
            f" arguments, but Ember's kernels take {known.arguments}",
            hint=f"its schema is {known.schema}",
        )
    return replace(
        known,
        kernels=operator.kernels + known.kernels,
        sources=operator.sources + known.sources,
        dtypes=tuple(dict.fromkeys(operator.dtypes + known.dtypes)),
    )


def _check(library: Library, taken: set[str]) -> None:
    """Check that each of the user's kernels has a unique name and a file."""
    problems = []
    for entry in library.entries:
        if entry.earlier:
            problems.append(f"{entry.op}: only Ember's operators have `earlier`")
        for kernel in entry.kernels:
            if kernel in taken:
                problems.append(f"another kernel is named {kernel}: rename this one")
            elif not NAME.fullmatch(kernel) or len(kernel) > NAME_LENGTH:
                problems.append(
                    f"{kernel!r} is not a valid kernel name: see docs/kernels.md"
                )
            elif isa.of(kernel):
                problems.append(f"{kernel} has a name reserved for Ember's variants")
            elif not entry.source(kernel).is_file():
                problems.append(
                    f"{entry.op} needs {entry.source(kernel)}, which does not exist"
                )
    problems += [
        f"no such file: {source}" for source in library.sources if not source.is_file()
    ]
    if problems:
        raise SdkError(problem_list(f"cannot use {library.path}", problems))


def _backends(entries: Iterable[Mapping[str, Any]]) -> list[Backend]:
    backends = [
        Backend(entry["id"], entry["source"], tuple(entry.get("kernels", ())))
        for entry in entries
    ]
    folder = paths.backends()
    return [
        backend for backend in backends if (folder / f"{backend.source}.c").is_file()
    ]


# ---- generated C -------------------------------------------------------------------

_HEAD = "// Generated by Ember. Do not edit.\n"


def operator_table(
    chosen: Mapping[str, Sequence[str]],
    listed: KernelList | None = None,
    earlier: Earlier = frozenset(),
) -> str:
    """C text of `ember_operators`: for each operator its kernels, in order, and those
    of the `earlier` argument lists that its calls may have."""
    known = (listed or load()).operators
    names = [name for name in known if chosen.get(name)]
    used = sorted({kernel for name in names for kernel in chosen[name]})
    lines = [_HEAD, '#include "ember/kernels.h"\n']
    lines += [f"extern const ember_kernel_t ember_kernel_{kernel};" for kernel in used]
    rows = []
    for index, name in enumerate(names):
        items = "".join(f"&ember_kernel_{kernel}, " for kernel in chosen[name])
        mappings = [
            schemas.mapping(known[name], each)
            for number, each in enumerate(known[name].earlier)
            if (name, number) in earlier
        ]
        count = known[name].call_arguments
        counts = [count, *(len(each.kinds) for each in mappings)]
        flags = [FLAGS[flag] for flag in known[name].flags]
        place = f"candidates_{index}"
        if mappings:
            lines += _several(index, items, count, mappings)
            flags.append("EMBER_OP_SCHEMAS")
            place = f"ember_schemas_{index}.candidates"
        elif "nhwc" in known[name].flags:
            lines += _prepared_by(index, "ember_images_prepare, 0", items)
            place = f"ember_schemas_{index}.candidates"
        else:
            lines.append(
                f"static const ember_kernel_t *const {place}[] = {{{items}0}};"
            )
        rows.append(
            f"    {{{c_string(name)}, {place}, {min(counts)}, {max(counts)},"
            f" {' | '.join(flags) or '0'}}},"
        )
    lines += [
        f"\nstatic const ember_operator_t items[{max(len(names), 1)}] = {{",
        *(rows or ["    {0, 0, 0, 0, 0},"]),
        "};",
        "extern const ember_operators_t ember_operators;",
        f"const ember_operators_t ember_operators = {{items, {len(names)}}};",
    ]
    return "\n".join(lines) + "\n"


def _several(
    index: int, items: str, count: int, mappings: Sequence[schemas.ArgumentMapping]
) -> list[str]:
    """The same with lists of other versions, then their own."""
    names = [f"schema_{index}_{number}" for number in range(len(mappings) + 1)]
    texts = [each.c_text(name) for name, each in zip(names, mappings, strict=False)]
    lists = "".join(f"{{{name}_kinds, {name}_args}}, " for name in names)
    return [
        *texts,
        schemas.own_c_text(names[-1], count),
        f"static const ember_schema_t schemas_{index}[] = {{{lists}{{0, 0}}}};",
        *_prepared_by(index, f"ember_schemas_prepare, schemas_{index}", items),
    ]


def _prepared_by(index: int, how: str, items: str) -> list[str]:
    """Candidates behind an ember_schemas_t."""
    return [
        "static const struct {",
        "    ember_schemas_t schemas;",
        f"    const ember_kernel_t *candidates[{items.count(',') + 1}];",
        f"}} ember_schemas_{index} = {{",
        f"    {{{how}}}, {{{items}0}}",
        "};",
    ]


def backend_table(
    ids: Iterable[str], sets: Sequence[str] = (), nodes: Container[str] | None = None
) -> str:
    """C text of `ember_backends` with the backends `ids`, and their tables of kernels
    for a core with the instruction `sets`: only those in `nodes`, unless it is None.
    """
    chosen = [load().backends[name] for name in sorted(ids)]
    sources = [backend.source for backend in chosen]
    items = "".join(f"&ember_backend_{source}, " for source in sources)
    return "\n".join(
        [
            _HEAD,
            '#include "ember/backend.h"\n',
            *(f"extern const ember_backend_t ember_backend_{s};" for s in sources),
            f"static const ember_backend_t *const items[] = {{{items}0}};",
            "extern const ember_backends_t ember_backends;",
            f"const ember_backends_t ember_backends = {{items, {len(sources)}}};",
            *(
                line
                for backend in chosen
                for line in _node_kernels(backend, sets, nodes)
            ),
            "",
        ]
    )


def _node_kernels(
    backend: Backend, sets: Sequence[str], nodes: Container[str] | None
) -> list[str]:
    """The table ember_<source>_kernels of a backend with kernels for nodes."""
    if not backend.kernels:
        return []
    prefix = f"ember_{backend.source}"
    kind = f"const struct {prefix}_kernel"
    usable = isa.usable(backend.kernels, sets)
    names = [
        f"{prefix}_{kernel}" for kernel in usable if nodes is None or kernel in nodes
    ]
    return [
        *(f"extern {kind} {name};" for name in names),
        f"extern {kind} *const {prefix}_kernels[];",
        f"{kind} *const {prefix}_kernels[] = {{",
        *(f"    &{name}," for name in names),
        "    0,",
        "};",
    ]
