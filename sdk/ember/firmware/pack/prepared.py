"""A packed program becomes the states of its nodes, as C constants of a firmware.

The host's loader prepares the program twice, with every region of memory, and itself,
at other addresses. A word of a state that is the same both times is a number. A word
that changed is an address, and the distance tells which region it points into. So
states are read without knowing their types, and no address is mistaken for a number or
the reverse: a distance of no region is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ember.boards import Board
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.program import Method, Tensor
from ember.select import resolve
from ember.toolchain import elf
from ember.toolchain.elf import Elf

_WORD = 1 << 32
_POINTER_BYTES = 4
FILES = ("program", "data")  # regions of what is only read
_BACKEND, GRAPH = "XnnpackBackend", "xnnpack"  # whose graphs become states of a step
_HINT = "build without --prepared"


@dataclass(frozen=True)
class Word:
    """A number, or an address: `value` bytes into what `place` names."""

    value: int
    place: tuple[str, int | str] | None = None
    # ("program" | "data" | "temp" | "planned" | "state" | "step" | "symbol" |
    # "function", which)


@dataclass(frozen=True)
class PreparedStep:
    kernel: str  # or "xnnpack", for a delegate
    state: tuple[Word, ...]


@dataclass(frozen=True)
class Prepared:
    """A method as constants."""

    method: Method
    steps: tuple[PreparedStep, ...]
    inputs: tuple[Word, ...]  # where the tensors lie
    outputs: tuple[Word, ...]
    work: int  # bound of the steps of one execution

    @property
    def words(self) -> Iterator[Word]:
        for step in self.steps:
            yield from step.state
        yield from (*self.inputs, *self.outputs)

    def program_offsets(self) -> Iterator[int]:
        """Where in the program the words point."""
        for word in self.words:
            if word.place and word.place[0] == "program":
                yield word.value


def prepare(
    content: bytes,
    data: Sequence[bytes],
    board: Board,
    methods: Sequence[tuple[int, Method]],
    known: KernelList,
    by_operator: Mapping[str, Sequence[str]],
) -> tuple[Prepared, ...]:
    """Methods (index and method) of the program `content`, with the kernels of its
    operators."""
    if board.pointer_bytes != _POINTER_BYTES:
        raise SdkError(
            f"--prepared needs a board with 4-byte pointers, which {board.name} is not",
            hint=_HINT,
        )
    for _, method in methods:
        _check(method, by_operator, known)
    indices = [index for index, _ in methods]
    first, second = resolve.twice(content, data, board, indices, known, by_operator)
    images = elf.read(first.tool), elf.read(second.tool)
    return tuple(
        _Reader(method, apart, other, images).method()
        for (_, method), apart, other in zip(
            methods, first.methods, second.methods, strict=True
        )
    )


def _check(
    method: Method, by_operator: Mapping[str, Sequence[str]], known: KernelList
) -> None:
    used = {op for _, op, _ in method.kernel_calls()}
    writing = sorted(
        {name for op in used for name in by_operator.get(op, ())}
        & known.facts.writes_state
    )
    if writing:
        raise _error(method, f"{', '.join(writing)} changes its state at run time")
    tensors = [value for value in method.values if isinstance(value, Tensor)]
    others = {each.id for each in method.delegates} - {_BACKEND}
    for index in (*method.inputs, *method.outputs):
        if not isinstance(method.values[index], Tensor):
            raise _error(method, "an input or output is not a tensor")
    if any(tensor.has_initial_state for tensor in tensors):
        raise _error(method, "it keeps a state that does not begin with zeros")
    if others:
        raise _error(method, f"{', '.join(sorted(others))} runs a part of it")


def _error(method: Method, why: str) -> SdkError:
    return SdkError(f"{method.name} cannot be prepared: {why}", hint=_HINT)


# ---- words ---------------------------------------------------------------------------

_Region = tuple[str, int, int, int]  # what, number, address, bytes


class _Reader:
    """Compares two loadings of a method."""

    def __init__(
        self,
        method: Method,
        first: Mapping[str, Any],
        other: Mapping[str, Any],
        images: tuple[Elf, Elf],
    ) -> None:
        self._method, self._one, self._other = method, first, other
        self._image = images[0]
        self._regions: dict[int, _Region] = {
            images[1].address("main") - images[0].address("main"): ("code", 0, 0, 0)
        }
        for mine, moved in zip(first["regions"], other["regions"], strict=True):
            if mine[3] == 0:
                continue
            if moved[2] - mine[2] in self._regions:
                raise self._error("two memory regions moved by the same distance")
            self._regions[moved[2] - mine[2]] = tuple(mine)

    def method(self) -> Prepared:
        steps = zip(self._one["steps"], self._other["steps"], strict=True)
        if len(self._one["steps"]) != len(self._method.instructions):
            raise self._error("not every instruction calls a kernel or a delegate")
        graphs = [s["state"] for s in self._one["steps"] if s["kernel"] == GRAPH]
        if len(set(graphs)) < len(graphs):
            raise self._error("it calls a delegate twice")
        prepared_steps = []
        for index, (mine, moved) in enumerate(steps):
            pairs = zip(mine["words"], moved["words"], strict=True)
            where = f"the state of {mine['kernel']} at instruction {index}"
            words = tuple(self._word(*pair, where) for pair in pairs)
            prepared_steps.append(PreparedStep(mine["kernel"], words))
        return Prepared(
            self._method,
            tuple(prepared_steps),
            self._addresses("inputs"),
            self._addresses("outputs"),
            self._one["work"],
        )

    def _addresses(self, key: str) -> tuple[Word, ...]:
        pairs = zip(self._one[key], self._other[key], strict=True)
        words = tuple(self._word(*pair, key) for pair in pairs)
        if any(word.place is None for word in words):
            raise self._error(f"{key} have no memory of their own")
        return words

    def _word(self, mine: int, moved: int, where: str) -> Word:
        distance = (moved - mine) % _WORD
        if distance == 0:
            return Word(mine)
        region = self._regions.get(distance)
        if region is None:
            raise self._error(
                f"{where} has a word that is neither a number nor an address"
            )
        what, number, address, size = region
        if what == "code":
            return self._symbol(mine, where)
        if what == "arena":
            return self._state(mine, where)
        offset = _signed(mine - address)
        if what in FILES and not 0 <= offset <= size:
            raise self._error(f"{where} points outside the program and its data")
        return Word(offset, (what, number))

    def _state(self, address: int, where: str) -> Word:
        for index, step in enumerate(self._one["steps"]):
            size = len(step["words"]) * _POINTER_BYTES
            last = size if step["kernel"] == GRAPH else size - 1  # of nothing: the end
            if step["state"] <= address <= step["state"] + last:
                return Word(address - step["state"], ("state", index))
        number, inside = divmod(address - self._one["steps_at"], 2 * _POINTER_BYTES)
        if 0 <= number < len(self._one["steps"]) and inside == 0:
            return Word(0, ("step", number))
        raise self._error(f"{where} points into the arena, but not to a state")

    def _symbol(self, address: int, where: str) -> Word:
        """A global function or constant, by its name."""
        for symbol in self._image.symbols:
            if symbol.binding == elf.STB_LOCAL or symbol.section == 0:
                continue
            if symbol.kind == elf.STT_FUNC and symbol.address | 1 == address | 1:
                return Word(0, ("function", symbol.name))
            inside = symbol.address <= address < symbol.address + symbol.size
            if symbol.kind == elf.STT_OBJECT and inside and self._is_constant(symbol):
                return Word(address - symbol.address, ("symbol", symbol.name))
        name = self._local_name(address)
        raise SdkError(
            f"{self._method.name} cannot be prepared: {where} points to {name}, which"
            " is static in its file",
            hint=f"add EMBER_STATE_MAY_POINT_TO({name}, ember_<kernel>_{name}); to"
            f" that file (see ember/node.h), or {_HINT}",
        )

    def _local_name(self, address: int) -> str:
        """The name of a static function or constant in its own file."""
        for symbol in self._image.symbols:
            start = (
                symbol.address & ~1 if symbol.kind == elf.STT_FUNC else symbol.address
            )
            named = symbol.kind in (elf.STT_FUNC, elf.STT_OBJECT)
            if named and start <= address < start + max(symbol.size, 1):
                return symbol.name
        return hex(address)

    def _is_constant(self, symbol: elf.Symbol) -> bool:
        return not self._image.sections[symbol.section].flags & elf.SHF_WRITE

    def _error(self, why: str) -> SdkError:
        return _error(self._method, why)


def _signed(value: int) -> int:
    return (value + _WORD // 2) % _WORD - _WORD // 2


# ---- as C ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """The C names of regions of memory."""

    image: str
    data: Sequence[str]  # images of data files
    skipped: int  # bytes of the program that the firmware leaves out
    temp: str | None
    planned: Sequence[str | None]

    def text(self, word: Word, number: int) -> str:
        """The C expression of a word of method `number`."""
        if word.place is None:
            return f"{word.value:#x}" if word.value > 9 else str(word.value)
        what, which = word.place
        name, offset = f"state_{number}_{which}", word.value
        if what == "program":
            name, offset = self.image, offset - self.skipped
        elif what == "data":
            name = self.data[int(which)]
        elif what == "temp":
            name = self.temp or "0"  # nothing of it is used
        elif what == "planned":
            name = self.planned[int(which)] or ""
        elif what in ("function", "symbol"):
            name = str(which)
        elif what == "step":
            name = f"&ember_steps_{number}[{which}]"
        return f"(uintptr_t){name}{f' {offset:+d}' if offset else ''}"


def tables(number: int, prepared: Prepared, names: Names) -> list[str]:
    """C text of `prepared_<number>`."""
    lines = [*_declarations(prepared), ""]
    states = [f"state_{number}_{index}" for index in range(len(prepared.steps))]
    for name, step in zip(states, prepared.steps, strict=True):
        if step.state:
            lines.append(f"static const uintptr_t {name}[{len(step.state)}];")
    count = len(prepared.steps) + 1
    lines.append(f"static const ember_step_t ember_steps_{number}[{count}];")
    for name, step in zip(states, prepared.steps, strict=True):
        if step.state:
            words = ", ".join(names.text(word, number) for word in step.state)
            align = 16 if step.kernel == GRAPH else 8  # it may hold packed weights
            lines.append(f"__attribute__((aligned({align}))) // {step.kernel}")
            lines.append(
                f"static const uintptr_t {name}[{len(step.state)}] = {{{words}}};"
            )
    lines.append(f"static const ember_step_t ember_steps_{number}[{count}] = {{")
    for name, step in zip(states, prepared.steps, strict=True):
        state = f"(void *)(uintptr_t){name}" if step.state else "0"
        lines.append(f"    {{ember_run_{step.kernel}, {state}}},")
    lines += ["    {0, 0}};", ""]
    for key in ("inputs", "outputs"):
        lines += _tensors(number, key, prepared, names)
    lines += [
        f"static const ember_prepared_t prepared_{number} = {{",
        f"    ember_steps_{number}, tensors_inputs_{number}, tensors_outputs_{number},",
        f"    {len(prepared.steps)}, {len(prepared.inputs)},"
        f" {len(prepared.outputs)}, {prepared.work}u}};",
        "",
    ]
    return lines


def _declarations(prepared: Prepared) -> Iterator[str]:
    declarations = {
        f"int32_t ember_run_{step.kernel}(void *state);" for step in prepared.steps
    }
    for word in prepared.words:
        if word.place and word.place[0] == "function":
            declarations.add(f"extern void {word.place[1]}(void);")
        elif word.place and word.place[0] == "symbol":
            declarations.add(f"extern const uint8_t {word.place[1]}[];")
    yield from sorted(declarations)


def _tensors(number: int, key: str, prepared: Prepared, names: Names) -> Iterator[str]:
    indices = getattr(prepared.method, key)
    entries = []
    for place, (index, word) in enumerate(
        zip(indices, getattr(prepared, key), strict=True)
    ):
        tensor = prepared.method.values[index]
        assert isinstance(tensor, Tensor)
        name = f"{key}_{number}_{place}"
        yield _array("int32_t", f"sizes_{name}", tensor.sizes)
        yield _array("uint8_t", f"order_{name}", tensor.dim_order)
        constant = int(word.place is not None and word.place[0] in FILES)
        entries.append(
            f"    {{(void *)({names.text(word, number)}), sizes_{name}, order_{name},"
            f" {tensor.numel}, {tensor.dtype.value}, {len(tensor.sizes)},"
            f" {tensor.dtype.itemsize}, {constant}}},"
        )
    yield f"static const ember_tensor_t tensors_{key}_{number}[] = {{"
    yield from entries
    yield "    {0}};"


def _array(kind: str, name: str, items: Sequence[int]) -> str:
    text = ", ".join(map(str, items)) or "0"
    return f"static const {kind} {name}[] = {{{text}}};"
