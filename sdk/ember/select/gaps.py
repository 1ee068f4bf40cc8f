"""A call that Ember cannot execute becomes a gap: where, why, and the remedy."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ember import program
from ember.kernels import DTYPES, KernelList, OperatorKernels, schemas
from ember.program import KernelCall, Method, Tensor
from ember.select.resolve import Call, MethodNeeds

_BAD_PROGRAM = -1  # ember/status.h
_NEAREST = ("float32", "int32", "int64", "int8")
CONTRADICTS = "the call contradicts itself: export the program again"
_OWN = "write your own kernel for it: see docs/selective-build.md"
# Where operators of other namespaces come from, and how to do without them.
_ORIGINS = {
    "cadence": "export without the passes for Cadence",
    "cortex_m": "export without the passes for Cortex-M",
    "quantized_decomposed": "export again with executorch.kernels.quantized imported",
    "torchao": "quantise with pt2e instead of torchao",
    "dim_order_ops": "export with EdgeCompileConfig(_skip_dim_order=True)",
}


@dataclass(frozen=True)
class Gap:
    model: str
    method: str
    instruction: int
    op: str  # operator, or backend id of a delegate
    dtypes: tuple[str, ...]
    remedy: str
    shapes: tuple[tuple[int, ...], ...] = ()  # of the same tensors
    reason: str = ""  # "add_f32: want one layout; add: ..."

    def __str__(self) -> str:
        """One line; names come out of files and may hold anything."""
        return "".join(
            letter if letter.isprintable() else "\ufffd" for letter in self._line()
        )

    def _line(self) -> str:
        if self.instruction < 0:  # no program: a list of operators
            return f"{self.model}: {self.op}; {self.remedy}"
        pairs = zip(self.dtypes, self.shapes or [None] * len(self.dtypes), strict=True)
        tensors = [t if s is None else f"{t}{list(s)}" for t, s in pairs]
        types = f" on ({', '.join(tensors)})" if tensors else ""
        reason = f" ({self.reason})" if self.reason else ""
        where = f"{self.model}, method {self.method}, instruction {self.instruction}"
        return f"{where}: {self.op}{types}; {self.remedy}{reason}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


# ---- what needs no compiler --------------------------------------------------------


def static(name: str, method: Method, known: KernelList) -> list[Gap]:
    """Gaps of model `name` that show without its loader: no compiler is needed."""
    gaps = []
    for index, op, call in method.kernel_calls():
        operator = known.operators.get(op)
        if operator is None:
            gaps.append(_gap(name, method, index, op, _remedy_unknown(op, known)))
        elif len(call.args) != operator.call_arguments:
            remedy = _remedy_schema(op, call, operator)
            gaps.append(_gap(name, method, index, op, remedy))
    for index, each in enumerate(method.instructions):
        if isinstance(each, program.DelegateCall):
            backend = method.delegates[each.delegate_index].id
            if backend not in known.backends:
                remedy = "export without this partitioner: Ember has no such backend"
                gaps.append(Gap(name, method.name, index, backend, (), remedy))
    return sorted(gaps, key=lambda gap: gap.instruction)


def of_names(sources: Mapping[str, frozenset[str]], known: KernelList) -> list[Gap]:
    """Listed operators (by operator: who asks) that Ember does not have."""
    return [
        Gap(", ".join(sorted(who)), "", -1, op, (), _remedy_unknown(op, known))
        for op, who in sources.items()
        if op not in known.operators
    ]


def breaks_schemas(method: Method, known: KernelList) -> bool:
    """Whether a call does not fit its operator's schema: the loader ends there."""
    return any(
        len(call.args) != known.operators[op].call_arguments
        for _, op, call in method.kernel_calls()
        if op in known.operators
    )


# ---- what the loader says ------------------------------------------------------------


def of_loader(
    name: str, method: Method, needs: MethodNeeds, known: KernelList
) -> list[Gap]:
    """Calls of operators that Ember has, which none of their kernels takes."""
    names = {index: op for index, op, _ in method.kernel_calls()}
    gaps = []
    for call in needs.gaps:
        op = names[call.instruction]
        if op in known.operators:
            gap = _gap(name, method, call.instruction, op, "")
            remedy = _remedy_refused(gap, call, known.operators[op])
            reason = _refusals(call)
            gaps.append(Gap(**{**vars(gap), "remedy": remedy, "reason": reason}))
    return gaps


def _refusals(call: Call) -> str:
    """The reasons of the candidates; equal ones are said once."""
    said: dict[str, list[str]] = {}
    for candidate in call.candidates:
        said.setdefault(candidate.message or "no reason given", []).append(
            candidate.kernel
        )
    return "; ".join(f"{', '.join(who)}: {what}" for what, who in said.items())


# ---- remedies ----------------------------------------------------------------------


def _remedy_unknown(op: str, known: KernelList) -> str:
    space, _, name = op.partition("::")
    base = name.partition(".")[0]
    others = [
        operator
        for operator in known.operators
        if operator.startswith(f"{space}::{base}.")
    ]
    if others:
        return f"Ember has {', '.join(others)}: change the call to one of them"
    near = get_close_matches(op, known.operators, n=1, cutoff=0.85)
    if near:
        return f"Ember has {near[0]}: is the name misspelt?"
    if space in _ORIGINS:
        return _ORIGINS[space]
    if space == "aten" and base in _decomposed():
        return (
            "decompose it at export: exported.run_decompositions("
            f"torch._decomp.get_decompositions([torch.ops.aten.{base}]))"
        )
    return f"change the model or {_OWN}" if space == "aten" else _OWN


def _remedy_schema(op: str, call: KernelCall, operator: OperatorKernels) -> str:
    counts = (
        f"the call has {len(call.args)} arguments, its kernels take"
        f" {operator.call_arguments}"
    )
    if not op.startswith(schemas.DIALECT):
        return f"{counts}, the return value included: {operator.schema}"
    return (
        "no Cortex-M flow of executorch 1.0 to 1.5 writes such arguments: update Ember,"
        f" or export again with executorch 1.4 or 1.5; {counts}"
    )


def _remedy_refused(gap: Gap, call: Call, operator: OperatorKernels) -> str:
    remedy = _remedy_dtypes(gap, operator) if gap.op.startswith("aten::") else None
    if remedy is not None:
        return remedy
    if any(candidate.status == _BAD_PROGRAM for candidate in call.candidates):
        return CONTRADICTS
    return f"change the call, or {_OWN}"


def _remedy_dtypes(gap: Gap, operator: OperatorKernels) -> str | None:
    """Of a call whose tensors the user may convert; dialects mix dtypes on purpose."""
    takes = [DTYPES.get(dtype, dtype) for dtype in operator.dtypes]
    odd = sorted(set(gap.dtypes) - set(takes))
    nearest = next((dtype for dtype in _NEAREST if dtype in takes), None)
    if odd and nearest:
        list_of_all = ", ".join(takes)
        return f"convert {', '.join(odd)} to {nearest}: its kernels take {list_of_all}"
    kinds = set(gap.dtypes)
    if len(kinds) > 1 and nearest:
        return f"convert its tensors to one dtype, such as {nearest}"
    return None


@functools.cache
def _decomposed() -> frozenset[str]:
    """ATen operators that PyTorch can decompose and to_edge() does not."""
    path = Path(__file__).with_name("decompositions.txt")
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


# ---- the call ----------------------------------------------------------------------


def _gap(name: str, method: Method, index: int, op: str, remedy: str) -> Gap:
    instruction = method.instructions[index]
    args = instruction.args if isinstance(instruction, KernelCall) else ()
    tensors = list(_tensors(method, args[:-1]))
    return Gap(
        name,
        method.name,
        index,
        op,
        tuple(tensor.dtype.label for tensor in tensors),
        remedy,
        tuple(tensor.sizes for tensor in tensors),
    )


def _tensors(method: Method, args: tuple[int, ...]) -> Iterator[Tensor]:
    """The tensors among arguments, lists included."""
    for index in args:
        value = method.values[index]
        items: tuple[int, ...] = (index,)
        if isinstance(value, program.TensorList | program.OptionalTensorList):
            items = tuple(item for item in value.items if item >= 0)
        for item in items:
            tensor = method.values[item]
            if isinstance(tensor, Tensor):
                yield tensor
