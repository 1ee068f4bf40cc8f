"""Lines such as `aten::add.out(s8[2,3], s8[2,3], 1, s64[2,3])` become calls in a
program, which the host's loader takes or refuses.

Arguments are those of the schema, outputs included: tensors by dtype and shape, lists
of anything, numbers, `true`, `false`, `none` and "strings". `=f32[4]` is stored in the
program, `f32[1,2,3,4]@0231` has that order of dimensions in memory, `f32[2]~` a shape
with an upper bound, `_f32[2]` an output that the program does not return, `&f32[2]` an
input that the call writes, too, and `$0` is the value of the first argument once more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ember import boards, program
from ember.files.tensors import DType
from ember.kernels import load as load_kernels
from ember.program import types
from ember.select import resolve

DTYPES = {
    **{"u8": 0, "s8": 1, "s16": 2, "s32": 3, "s64": 4, "f16": 5, "f32": 6, "f64": 7},
    **{"b1": 11, "bf16": 15, "u16": 27, "u32": 28, "u64": 29},
}
NAMES = {DType(number): name for name, number in DTYPES.items()}
_TOKEN = re.compile(
    r"""\s*(?:(?P<tensor>[=_&]?[a-z]+\d+\[[\d,]*\](?:@\d+)?~?)|(?P<again>\$\d+)|(?P<text>"[^"]*")|(?P<word>none|true|false)
    |(?P<number>-?(?:inf|nan|[\d.]+(?:e[-+]?\d+)?))|(?P<mark>[][,]))""",
    re.VERBOSE,
)
_MOST = 100  # methods of one program
_WORDS = {"none": None, "true": True, "false": False}


class Shape(NamedTuple):
    """A tensor."""

    dtype: str
    sizes: tuple[int, ...]
    order: tuple[int, ...]  # of dimensions in memory
    stored: bool = False  # in the program
    unreturned: bool = False
    updated: bool = False  # read, too
    bounded: bool = False  # its shape may be smaller


class Again(NamedTuple):
    """The value of another argument."""

    argument: int


def parse(line: str) -> tuple[str, list[Any]]:
    """The operator with its overload, and its arguments."""
    name, _, rest = line.partition("(")
    tokens = _tokens(rest.removesuffix(")"))
    return name, _items(tokens)


def _tokens(text: str) -> Iterator[str | Any]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match, f"what is {text[at:]}?"
        yield match
        at = match.end()


def _items(tokens: Iterator[Any]) -> list[Any]:
    items: list[Any] = []
    for token in tokens:
        if token["mark"] == "]":
            break
        if token["mark"] == "[":
            items.append(_items(tokens))
        elif token["mark"] is None:
            items.append(_item(token))
    return items


def _shape(text: str) -> Shape:
    dtype, _, rest = text.lstrip("=_&").partition("[")
    inside, _, order = rest.rstrip("~").partition("]")
    sizes = tuple(int(size) for size in inside.split(",") if size)
    order = order[1:] or "".join(map(str, range(len(sizes))))
    return Shape(
        dtype=dtype,
        sizes=sizes,
        order=tuple(map(int, order)),
        stored=text[0] == "=",
        unreturned=text[0] == "_",
        updated=text[0] == "&",
        bounded=text.endswith("~"),
    )


def _item(token: Any) -> Any:
    if token["tensor"]:
        return _shape(token["tensor"])
    if token["again"]:
        return Again(int(token["again"][1:]))
    if token["text"]:
        return token["text"][1:-1]
    if token["word"]:
        return _WORDS[token["word"]]
    number = token["number"]
    return int(number) if re.fullmatch(r"-?\d+", number) else float(number)


# ---- the program ---------------------------------------------------------------------


class _Method:
    def __init__(self, constants: list[bytes]) -> None:
        self.values: list[types.Value] = []
        self.tensors: list[int] = []  # that are not stored
        self.places: list[int] = []  # of arguments
        self.constants = constants
        self.unreturned: list[int] = []
        self.at = 0

    def add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, shape: Shape) -> int:
        dtype = DType(DTYPES[shape.dtype])
        if shape.stored:
            self.constants.append(bytes(math.prod(shape.sizes) * dtype.itemsize))
            at = len(self.constants) - 1
            return self.add(types.Tensor(dtype, *shape[1:3], at))
        place = types.Allocation(1, self.at)
        self.at += max(16, -(-math.prod(shape.sizes) * 8 // 16) * 16)
        dynamism = "bounded" if shape.bounded else "static"
        tensor = types.Tensor(dtype, *shape[1:3], 0, place, dynamism)
        self.tensors.append(self.add(tensor))
        if shape.unreturned:
            self.unreturned.append(self.tensors[-1])
        return self.tensors[-1]

    def argument(self, value: Any, kind: str) -> int:
        self.places.append(self._argument(value, kind))
        return self.places[-1]

    def _argument(self, value: Any, kind: str) -> int:
        if isinstance(value, Shape):
            return self.tensor(value)
        if isinstance(value, Again):
            return self.places[value.argument]
        if isinstance(value, list):
            return self.add(self._list(value, kind))
        if isinstance(value, float) or (value is not None and kind.startswith("float")):
            return self.add(types.Double(float(value)))
        kinds = {bool: types.Bool, int: types.Int, str: types.String}
        return self.add(types.Null() if value is None else kinds[type(value)](value))

    def _list(self, value: list[Any], kind: str) -> types.Value:
        if kind.startswith("Tensor"):
            optional = "?[]" in kind
            items = [-1 if item is None else self.tensor(item) for item in value]
            make = types.OptionalTensorList if optional else types.TensorList
            return make(tuple(items))
        if kind.startswith("bool"):
            return types.BoolList(tuple(value))
        if kind.startswith("float"):
            return types.DoubleList(tuple(map(float, value)))
        return types.IntList(tuple(self.add(types.Int(item)) for item in value))


def fields(op: str) -> list[tuple[str, str]]:
    """Type and name of each argument of an operator's schema."""
    text = load_kernels().operators[op].schema
    inside = text[1 : text.rindex(") ->")]
    parts = re.split(r",\s*(?![^\[(]*[\])])", inside)
    matches = [re.match(r"(.*) (\w+)(=.*)?$", part) for part in parts if part != "*"]
    return [(match[1], match[2]) for match in matches if match]


def _method(name: str, line: str, constants: list[bytes]) -> types.Method:
    op, arguments = parse(line)
    known = fields(op)
    assert len(known) == len(arguments), f"{line}: {len(known)} arguments are needed"
    method = _Method(constants)
    indices = []
    outs: list[int] = []
    updated: list[int] = []
    for (kind, _), value in zip(known, arguments, strict=True):
        indices.append(method.argument(value, kind))
        if isinstance(value, Shape) and value.updated:
            updated.append(indices[-1])
        elif "!" in kind:
            out = method.values[indices[-1]]
            outs += out.items if isinstance(out, types.TensorList) else [indices[-1]]
    returned = outs[0] if len(outs) == 1 else method.add(types.TensorList(tuple(outs)))
    short, _, overload = op.partition(".")
    call = types.KernelCall(0, (*indices, returned))
    return types.Method(
        name=name,
        values=tuple(method.values),
        inputs=tuple(index for index in method.tensors if index not in outs),
        outputs=tuple(
            index for index in outs + updated if index not in method.unreturned
        ),
        chains=(types.Chain((call,)),),
        operators=(types.Operator(short, overload),),
        planned_sizes=(0, max(method.at, 16)),
    )


def refusals(lines: Sequence[str]) -> list[str | None]:
    """Why each call is refused; None: a kernel takes it."""
    parts = [lines[at : at + _MOST] for at in range(0, len(lines), _MOST)]
    contents = ((program.write(program_of(part)), len(part)) for part in parts)
    return [why for content in contents for why in refusals_of(*content)]


def steps(line: str) -> int:
    """The bound of the work of one execution of the call."""
    content = program.write(program_of([line]))
    (needs,) = resolve.resolve(content, (), boards.load("host"), [0]).methods
    assert not needs.gaps, needs.gaps
    return needs.steps


def program_of(lines: Sequence[str]) -> types.Program:
    constants = [b""]
    methods = tuple(_method(f"m{i}", line, constants) for i, line in enumerate(lines))
    return types.Program(methods=methods, constants=tuple(constants))


def refusals_of(content: bytes, methods: int) -> list[str | None]:
    """Why the call of each method of a program is refused."""
    answer = resolve.resolve(content, (), boards.load("host"), range(methods))
    calls = [method.calls[0] for method in answer.methods]
    return [None if call.kernel else call.message for call in calls]
