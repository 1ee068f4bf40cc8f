"""A program and a board become a selection: one kernel a call, or every gap at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember import kernels, program, resolve
from ember.boards import Board
from ember.errors import SdkError, problem_list
from ember.program import Method, Program


@dataclass(frozen=True)
class Gap:
    """A call that nothing in Ember can execute."""

    model: str
    method: str
    instruction: int
    op: str  # operator, or backend id of a delegate
    dtypes: tuple[str, ...]
    remedy: str

    def __str__(self) -> str:
        types = f" on ({', '.join(self.dtypes)})" if self.dtypes else ""
        where = f"{self.model}, method {self.method}, instruction {self.instruction}"
        return f"{where}: {self.op}{types}; {self.remedy}"


@dataclass(frozen=True)
class Selection:
    """The kernels and backends that methods of a program need on a board."""

    methods: tuple[Method, ...]
    needs: tuple[resolve.MethodNeeds, ...]  # of each method
    kernels: dict[str, tuple[str, ...]]  # by operator, in the order they are tried
    backends: tuple[str, ...]  # ids
    sizes: dict[str, int]  # bytes of the runtime's structs

    @property
    def scratch(self) -> int:
        return max((needs.temp for needs in self.needs), default=0)

    def to_json(self) -> dict[str, Any]:
        return {
            "operators": {name: list(items) for name, items in self.kernels.items()},
            "backends": list(self.backends),
            "methods": [
                {
                    "name": method.name,
                    "arena": needs.arena,
                    "scratch": needs.temp,
                    "calls": [
                        {
                            "index": call.instruction,
                            "op": call_names(method)[call.instruction],
                            "kernel": call.kernel,
                            "state": call.state,
                            "scratch": call.scratch,
                            "volatile": call.volatile,
                        }
                        for call in needs.calls
                    ],
                }
                for method, needs in zip(self.methods, self.needs, strict=True)
            ],
            "missing": [],
        }


def choose(
    model: Program,
    content: bytes,
    data: Sequence[bytes],
    board: Board,
    methods: Sequence[Method],
    name: str,
) -> Selection:
    """Select kernels for `methods` of `model`, whose bytes are `content`.

    SdkError that lists every gap when there is one.
    """
    indices = [model.methods.index(method) for method in methods]
    found = resolve.resolve(content, data, board, indices)
    gaps: list[Gap] = []
    for method, needs in zip(methods, found.methods, strict=True):
        gaps += gaps_of(name, method, needs)
    if gaps:
        raise SdkError(
            problem_list(f"no kernel for calls of {name}", [str(gap) for gap in gaps]),
            hint="Ember cannot run this program as it is; see `ember inspect`",
        )
    return Selection(
        methods=tuple(methods),
        needs=found.methods,
        kernels=_kernels(methods, found.methods, board),
        backends=tuple(sorted({d.id for m in methods for d in _called(m)})),
        sizes=dict(found.sizes),
    )


def gaps_of(name: str, method: Method, needs: resolve.MethodNeeds) -> list[Gap]:
    """What is missing for `method`, in the order of its instructions."""
    known = kernels.load()
    types = call_dtypes(method)
    names = call_names(method)
    gaps: list[Gap] = []
    for call in needs.gaps:
        op = names[call.instruction]
        if not call.known:
            remedy = "add a kernel to kernels/kernels.yaml or change the model"
        else:
            takes = ", ".join(known.operators[op].dtypes)
            remedy = call.message or f"its kernels take {takes}"
        gaps.append(
            Gap(
                name, method.name, call.instruction, op, types[call.instruction], remedy
            )
        )
    for index, instruction in enumerate(method.instructions):
        if not isinstance(instruction, program.DelegateCall):
            continue
        if instruction.delegate_index in needs.missing_delegates:
            backend = method.delegates[instruction.delegate_index].id
            remedy = "export without this partitioner: Ember has no such backend"
            gaps.append(Gap(name, method.name, index, backend, (), remedy))
    return sorted(gaps, key=lambda gap: gap.instruction)


def call_names(method: Method) -> dict[int, str]:
    """Operator of each kernel call, by instruction."""
    return {index: op for index, op, _ in method.kernel_calls()}


def call_dtypes(method: Method) -> dict[int, tuple[str, ...]]:
    """Dtypes of the tensor arguments of each kernel call, the return value left out."""
    found = {}
    for index, _, call in method.kernel_calls():
        values = [method.values[arg] for arg in call.args[:-1]]
        found[index] = tuple(
            value.dtype.label for value in values if isinstance(value, program.Tensor)
        )
    return found


def _called(method: Method) -> list[program.Delegate]:
    return [
        method.delegates[instruction.delegate_index]
        for instruction in method.instructions
        if isinstance(instruction, program.DelegateCall)
    ]


def _kernels(
    methods: Sequence[Method], needs: Sequence[resolve.MethodNeeds], board: Board
) -> dict[str, tuple[str, ...]]:
    """By operator: what fixed calls chose, and all candidates of volatile ones."""
    known = kernels.load().all(board.isa)
    chosen: dict[str, set[str]] = {}
    for method, need in zip(methods, needs, strict=True):
        names = call_names(method)
        for call in need.calls:
            op = names[call.instruction]
            found = chosen.setdefault(op, set())
            if call.volatile:
                found.update(known[op])
            elif call.kernel is not None:
                found.add(call.kernel)
    return {
        op: tuple(kernel for kernel in known[op] if kernel in chosen[op])
        for op in known
        if op in chosen
    }
