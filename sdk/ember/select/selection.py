"""A program and a board become a selection: one kernel a call, or every gap at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember import boards, files, kernels, program
from ember.boards import Board
from ember.errors import SdkError, problem_list
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.opinfo import OpInfo
from ember.program import Method, Program
from ember.select import gaps, loader, resolve
from ember.select.gaps import Gap
from ember.select.rules import Origins, Rules, of_calls


@dataclass(frozen=True)
class Selection:
    """The kernels and backends that methods of a program need on a board."""

    methods: tuple[Method, ...]
    needs: tuple[resolve.MethodNeeds, ...]  # of each method
    kernels: dict[str, tuple[str, ...]]  # by operator, in the order they are tried
    backends: tuple[str, ...]  # ids
    sizes: dict[str, int]  # bytes of the runtime's structs
    known: KernelList = field(default_factory=lambda: Rules().known)  # chosen from
    # By method, where passes moved instructions: the index that each one had before.
    origins: Origins = field(default_factory=dict)
    prepared: bool = False  # its methods become constants (prepared.py)

    @property
    def scratch(self) -> int:
        return max((needs.temp for needs in self.needs), default=0)

    @property
    def changing(self) -> bool:
        """Whether something in a method can change once it is loaded."""
        return any(needs.changing for needs in self.needs)

    def _origins(self, method: Method) -> list[int]:
        origins = self.origins.get(method.name)
        return list(range(len(method.instructions)) if origins is None else origins)

    @property
    def nodes(self) -> frozenset[str]:
        """Kernels of the nodes of delegates."""
        return frozenset(
            kernel
            for needs in self.needs
            for delegate in needs.delegates.values()
            for node in delegate.nodes
            for kernel in (node.kernel, *node.others)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "operators": {name: list(items) for name, items in self.kernels.items()},
            "backends": list(self.backends),
            "methods": [
                {
                    "name": method.name,
                    "arena": needs.arena,
                    "scratch": needs.temp,
                    "origins": self._origins(method),
                    "calls": [
                        {
                            "index": call.instruction,
                            "op": names[call.instruction],
                            "kernel": call.kernel,
                            "state": call.state,
                            "scratch": call.scratch,
                            "volatile": call.volatile,
                            "candidates": [
                                vars(candidate) for candidate in call.candidates
                            ],
                        }
                        for call in needs.calls
                    ],
                    "delegates": [
                        {"index": index, "nodes": [n.to_json() for n in delegate.nodes]}
                        for index, delegate in needs.delegates.items()
                    ],
                }
                for method, needs in zip(self.methods, self.needs, strict=True)
                for names in [call_names(method)]
            ],
            "missing": [],
        }


@dataclass(frozen=True)
class Examined:
    """The result for a program: its selection, or every gap."""

    selection: Selection | None
    gaps: tuple[Gap, ...]


def choose(
    model: Program,
    content: bytes,
    data: Sequence[bytes],
    board: Board,
    methods: Sequence[Method],
    name: str,
    rules: Rules | None = None,
) -> Selection:
    """Select kernels for `methods` of `model`, whose bytes are `content`.

    SdkError that lists every gap when there is one.
    """
    examined = examine(model, content, data, board, methods, name, rules)
    if examined.selection is None:
        raise missing(examined.gaps)
    return examined.selection


def missing(refused: Sequence[Gap]) -> SdkError:
    """The error that lists gaps, of one model or of several."""
    names = list(dict.fromkeys(gap.model for gap in refused))
    return SdkError(
        problem_list(
            f"no kernel for calls to {', '.join(names)}", list(map(str, refused))
        ),
        hint="docs/operators.md lists every operator",
    )


def examine(
    model: Program,
    content: bytes,
    data: Sequence[bytes],
    board: Board,
    methods: Sequence[Method],
    name: str,
    rules: Rules | None = None,
    origins: Origins | None = None,
) -> Examined:
    """Like choose(), with gaps as a result.

    Gaps that show without the loader are reported before it is compiled. Pins name
    calls by `origins`.
    """
    origins = origins or {}
    rules = rules or Rules()
    known = rules.known
    allowed = rules.allowed(board)
    missing_calls = [
        gap for method in methods for gap in gaps.static(name, method, known)
    ]
    odd = any(gaps.breaks_schemas(method, known) for method in methods)
    names = _operators(methods)
    ready = loader.is_ready(board, known, names, content)
    if odd or (missing_calls and not ready):
        return Examined(None, tuple(missing_calls))
    indices = [model.methods.index(method) for method in methods]

    def resolved(allowed: Mapping[str, Sequence[str]]) -> resolve.Resolution:
        used = {op: items for op, items in allowed.items() if op in names}
        try:
            return resolve.resolve(
                content, data, board, indices, known=known, allowed=used
            )
        except SdkError as error:
            raise SdkError(f"{name}: {error.what}", error.hint) from error

    answer = resolved(allowed)
    for method, needs in zip(methods, answer.methods, strict=True):
        missing_calls += gaps.of_loader(name, method, needs, known)
    if missing_calls:
        order = {method.name: index for index, method in enumerate(methods)}
        missing_calls.sort(key=lambda gap: (order[gap.method], gap.instruction))
        return Examined(None, tuple(missing_calls))
    if rules.calls:
        allowed = of_calls(rules, name, methods, answer.methods, allowed, origins)
        answer = resolved(allowed)
    selection = Selection(
        methods=tuple(methods),
        needs=answer.methods,
        kernels=_kernels(methods, answer.methods, allowed),
        backends=tuple(sorted({d.id for m in methods for d in _called(m)})),
        sizes=dict(answer.sizes),
        known=known,
        origins=origins,
    )
    return Examined(selection, ())


def look(
    model: Program, content: bytes, methods: Sequence[Method], name: str
) -> tuple[Gap, ...]:
    """Gaps of a program on the host, as far as they show without a compiler."""
    known = kernels.load()
    host = boards.load("host")
    try:
        if loader.is_ready(host, known, _operators(methods), content):
            return examine(model, content, (), host, methods, name).gaps
    except SdkError:  # data files are missing: only the names can be looked at
        pass
    return tuple(gap for method in methods for gap in gaps.static(name, method, known))


def look_at(
    model: Program, content: bytes, methods: Sequence[Method], file: Path, board: Board
) -> tuple[resolve.MethodNeeds, ...]:
    """What `methods` need on a board; empty if a kernel or backend is missing.

    The .ptd files beside `file` are its data.
    """
    data = [files.read(path) for path in sorted(file.parent.glob("*.ptd"))]
    chosen = examine(model, content, data, board, methods, file.stem).selection
    return chosen.needs if chosen else ()


def merge(
    items: Sequence[Mapping[str, Sequence[str]]], allowed: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The kernels of several selections, in an order that suits them all."""
    orders_by_op: dict[str, tuple[str, ...]] = {}
    for op, candidates in allowed.items():
        lists = [mapping[op] for mapping in items if mapping.get(op)]
        wanted = {kernel for names in lists for kernel in names}
        orders = [[k for k in candidates if k in wanted]]
        orders += [
            [*preferred, *(k for k in orders[0] if k not in preferred)]
            for preferred in lists
        ]
        good = (
            order
            for order in orders
            if all(_keeps(order, wanted_order) for wanted_order in lists)
        )
        order = next(good, None)
        if order is None:
            raise SdkError(
                f"pins of calls order the kernels of {op} differently in two models"
            )
        if order:
            orders_by_op[op] = tuple(order)
    return orders_by_op


def _keeps(order: Sequence[str], items: Sequence[str]) -> bool:
    return [kernel for kernel in order if kernel in items] == list(items)


def of_operators(
    info: OpInfo, allowed: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Kernels for operators without known calls, of which dtypes may be known."""
    return {
        op: tuple(
            kernel for kernel in allowed[op] if _may_take(kernel, info.dtypes(op))
        )
        for op in info.operators
        if op in allowed
    }


def _may_take(kernel: str, dtypes: frozenset[int] | None) -> bool:
    """Whether a kernel is for one of `dtypes`, by its name; a generic one always is."""
    named = {
        kernels.DTYPES[word] for word in kernel.split("_") if word in kernels.DTYPES
    }
    return (
        not named or dtypes is None or bool(named & {_label(dtype) for dtype in dtypes})
    )


def _label(number: int) -> str:
    return next((dtype.label for dtype in DType if dtype == number), "")


def _operators(methods: Sequence[Method]) -> frozenset[str]:
    return frozenset(op for method in methods for op in method.operator_names)


def call_names(method: Method) -> dict[int, str]:
    """Operator of each kernel call, by instruction."""
    return {index: op for index, op, _ in method.kernel_calls()}


def _called(method: Method) -> list[program.Delegate]:
    return [
        method.delegates[instruction.delegate_index]
        for instruction in method.instructions
        if isinstance(instruction, program.DelegateCall)
    ]


def _kernels(
    methods: Sequence[Method],
    needs: Sequence[resolve.MethodNeeds],
    allowed: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    """By operator: what fixed calls chose, and all candidates of volatile ones."""
    chosen: dict[str, set[str]] = {}
    for method, need in zip(methods, needs, strict=True):
        names = call_names(method)
        for call in need.calls:
            op = names[call.instruction]
            taken = chosen.setdefault(op, set())
            if call.volatile:
                taken.update(allowed[op])
            elif call.kernel is not None:
                taken.add(call.kernel)
    return {
        op: tuple(kernel for kernel in items if kernel in chosen[op])
        for op, items in allowed.items()
        if op in chosen
    }
