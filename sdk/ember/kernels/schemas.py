"""A call becomes its arguments by the names in its operator's schema; calls that other
versions of an exporter wrote get the arguments of their operator.

An entry of kernels.yaml has one `schema`, which kernels, passes and plans know. Under
`earlier` it lists those of other versions: a call is of one of them if it has as many
arguments, of the right kinds. It becomes a call of `schema`, with the values that
`lacks` states for what the list does not have. A call that fits no list stays as it is,
and is refused. runtime_c/src/schemas.c does the same for programs loaded on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ember.kernels import library
from ember.kernels.library import EarlierSchema
from ember.program import KernelCall, Method, Program, Value, types

if TYPE_CHECKING:
    from ember.kernels import KernelList, OperatorKernels


@dataclass(frozen=True, eq=False)
class NamedCall:
    """`call["stride"]` is the value that stands for the argument `stride`."""

    method: Method
    call: KernelCall
    names: tuple[str, ...]  # of the arguments; the return value has none

    def __getitem__(self, name: str) -> int:
        return self.call.args[self.place(name)]

    def __contains__(self, name: object) -> bool:
        return name in self.names[: len(self.call.args)]

    def place(self, name: str) -> int:
        """Where the argument stands in the call."""
        return self.names.index(name)

    @property
    def operator(self) -> str:
        """Its full name."""
        return self.method.operator_names[self.call.op_index]

    @property
    def first(self) -> str:
        """The name of what the operator is applied to: `self`, `input`, `X`."""
        return next(iter(self.names))

    @property
    def result(self) -> int:
        return self.call.result

    def value(self, name: str) -> Value:
        return self.method.values[self[name]]

    def tensor(self, name: str) -> types.Tensor:
        """Of an argument that is one in every call."""
        tensor = self.value(name)
        assert isinstance(tensor, types.Tensor)
        return tensor

    def is_true(self, name: str, *, otherwise: bool = False) -> bool:
        """Whether an argument is true; `otherwise` if there is none."""
        return self.value(name) == types.Bool(True) if name in self else otherwise

    @property
    def scratch(self) -> tuple[int, ...]:
        """What kernels may overwrite: arguments of such names."""
        named = self.arguments.items()
        return tuple(v for name, v in named if name.rpartition("_")[2] == "scratch")

    @property
    def arguments(self) -> Mapping[str, int]:
        return dict(zip(self.names, self.call.args, strict=False))

    def without(self, name: str) -> KernelCall:
        """The call without an argument."""
        args = list(self.call.args)
        del args[self.place(name)]
        return replace(self.call, args=tuple(args))

    def replaced(self, result: int | None = None, **changed: int) -> KernelCall:
        """The call with other arguments, and another return value."""
        args = list(self.call.args)
        for name, value in changed.items():
            args[self.place(name)] = value
        if result is not None:
            args[len(self.names) :] = [result]
        return replace(self.call, args=tuple(args))


# ---- other versions ----------------------------------------------------------------

# What values of a type are, in a schema that has earlier ones, and as ember_kind_t.
_TYPES: Mapping[str, tuple[type[Value], ...]] = {
    "Tensor": (types.Tensor,),
    "Tensor?": (types.Tensor, types.Null),
    "bool": (types.Bool,),
    "int": (types.Int,),
    "int[]": (types.IntList,),
}
_KINDS: Mapping[type[Value], int] = {
    types.Null: 1,
    types.Int: 2,
    types.Bool: 3,
    types.Tensor: 5,
    types.IntList: 7,
}
_ANY = (1 << 12) - 2
DIALECT = "cortex_m::"  # of all operators that have earlier lists


@dataclass(frozen=True)
class ArgumentMapping:
    """How the arguments of an earlier schema become those of the operator.

    kinds -- what each argument of the call may be
    sources -- of each argument of the operator: a number of the call's, or a constant
    """

    kinds: tuple[tuple[type[Value], ...], ...]
    sources: tuple[int | Value, ...]

    def fits(self, method: Method, args: Sequence[int]) -> bool:
        return len(args) == len(self.kinds) and all(
            isinstance(method.values[value], kinds)
            for value, kinds in zip(args, self.kinds, strict=True)
        )

    def c_text(self, name: str) -> str:
        """C text of its ember_schema_t, and before it of what that points to."""
        kinds = (sum(1 << _KINDS[kind] for kind in each) for each in self.kinds)
        return _c_text(name, [*kinds], [*map(_c_source, self.sources)])


def _c_source(source: int | Value) -> str:
    if isinstance(source, int):
        return f"EMBER_SCHEMA_ARGUMENT({source})"
    number = int(getattr(source, "value", 0))
    return f"EMBER_SCHEMA_CONSTANT({_KINDS[type(source)]}, {number})"


def _c_text(name: str, kinds: Sequence[int], sources: Sequence[str]) -> str:
    rows: dict[str, Sequence[object]] = {
        f"uint16_t {name}_kinds": [len(kinds), *reversed(kinds)],
        f"uint32_t {name}_args": [len(sources), *sources],
    }
    return "\n".join(
        f"static const {what}[] = {{{', '.join(f'{item}' for item in items)}}};"
        for what, items in rows.items()
    )


def own_c_text(name: str, count: int) -> str:
    """The same of an operator's own list, of `count` arguments: they may be anything,
    as its kernels check them."""
    return _c_text(name, [_ANY] * count, [*map(_c_source, range(count))])


def mapping(operator: OperatorKernels, earlier: EarlierSchema) -> ArgumentMapping:
    """That of one of the operator's earlier schemas."""
    names = library.names(earlier.schema)
    kinds = [_TYPES[kind] for kind in library.types(earlier.schema)]
    sources: list[int | Value] = [
        names.index(name) if name in names else _constant(earlier.lacks[name])
        for name in library.names(operator.schema)
    ]
    if operator.returns:
        kinds.append(_TYPES["Tensor"])
        sources.append(len(names))
    return ArgumentMapping(tuple(kinds), tuple(sources))


def _constant(value: int | bool | None) -> Value:
    if value is None:
        return types.Null()
    return types.Bool(value) if isinstance(value, bool) else types.Int(value)


def normal(parsed: Program, load: Callable[[], KernelList]) -> Program:
    """The program whose calls have the arguments of their operators. Its `earlier` says
    which others they had in the file. Kernels are loaded only if there may be any."""
    every = (name for method in parsed.methods for name in method.operator_names)
    if not any(name.startswith(DIALECT) for name in every):
        return parsed
    operators = load().operators
    methods = [_Normal(method, operators) for method in parsed.methods]
    used = frozenset[tuple[str, int]]().union(*(each.used for each in methods))
    if not used:
        return parsed
    after = tuple(each.method for each in methods)
    return replace(parsed, methods=after, earlier=used)


class _Normal:
    """A method whose calls have the arguments of their operators."""

    def __init__(
        self, method: Method, operators: Mapping[str, OperatorKernels]
    ) -> None:
        self.used: set[tuple[str, int]] = set()
        self.method = method
        self._values = list(method.values)
        self._places: dict[Value, int] = {}  # of constants that are added
        several = {
            index: [mapping(operator, each) for each in operator.earlier]
            for index, name in enumerate(method.operator_names)
            if (operator := operators.get(name)) and operator.earlier
        }
        if not several:
            return
        chains = tuple(
            replace(
                chain,
                instructions=tuple(
                    self._call(each, several.get(each.op_index, ()))
                    if isinstance(each, KernelCall)
                    else each
                    for each in chain.instructions
                ),
            )
            for chain in method.chains
        )
        if self.used:
            self.method = replace(method, values=tuple(self._values), chains=chains)

    def _call(self, call: KernelCall, known: Sequence[ArgumentMapping]) -> KernelCall:
        for number, each in enumerate(known):
            if each.fits(self.method, call.args):
                name = self.method.operator_names[call.op_index]
                self.used.add((name, number))
                args = (
                    call.args[source] if isinstance(source, int) else self._add(source)
                    for source in each.sources
                )
                return KernelCall(call.op_index, tuple(args))
        return call

    def _add(self, constant: Value) -> int:
        if constant not in self._places:
            self._places[constant] = len(self._values)
            self._values.append(constant)
        return self._places[constant]
