"""A program's regions of rows become what their nodes find, on a map of bytes.

The table of a region is executed; every row has a name. The check shares nothing with
what makes regions and tables.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ember.kernels.schemas import NamedCall
from ember.plan.check.byte_map import ByteMap, Content
from ember.program import KernelCall, Method, Program, types

_SKIP, _FILL, _IN, _RUN, _OUT, _LEAST = range(6)
_GO_ON = ("ember::avg_pool_sums.out", "ember::row_number.out")  # from what they have
LEAST = 0x100  # in place of a byte: -infinity in floats

# ("in", value, row), ("row", node, row), ("outside", byte); if that byte fills both
# ends of one of the first two, ("sides", bytes of an end, byte) stands before it.
Row = tuple[str | int, ...]


@dataclass
class RowTrace:
    """What a region does."""

    runs: list[tuple[int, tuple[tuple[Row, ...], ...]]] = field(default_factory=list)
    outputs: dict[int, tuple[Row, ...]] = field(default_factory=dict)  # by value
    faults: list[str] = field(default_factory=list)


def trace(
    method: Method, region: CheckedRegion, same: Mapping[int, int] | None = None
) -> RowTrace:
    """With `same`, rows of an input have the name of another value."""
    return _Machine(method, region, same or {}).trace()


class _Machine:
    """Executes a table with values at the places that the method states."""

    def __init__(
        self, method: Method, region: CheckedRegion, same: Mapping[int, int]
    ) -> None:
        self.same = same
        self.method = method
        self.region = region
        windows, actions, steps = struct.unpack_from("<HHI", region.table)
        at = 8
        self.windows = [
            struct.unpack_from("<IIBBH", region.table, at + 12 * n)
            for n in range(windows)
        ]
        at += 12 * windows
        self.actions = [
            struct.unpack_from("<BBH", region.table, at + 4 * n) for n in range(actions)
        ]
        self.steps = region.table[at + 4 * actions :]
        self.memory: dict[int, ByteMap] = {}
        self.done = RowTrace()
        if len(self.steps) != steps:
            self.done.faults.append("its table has another length than it says")
        self.edges = (*region.inputs, *region.outputs)
        self.passed = [0] * len(self.edges)  # bytes
        self.runs = [0] * len(region.nodes)
        self.given = 0  # rows of an input that comes row by row

    def trace(self) -> RowTrace:
        for value in self.region.inputs:
            if self.region.image_rows is None:
                self._give(value)
        for step in self.steps:
            self._act(*self.actions[step])
        if self.given != (self.region.image_rows or 0):
            self.done.faults.append("it takes more or fewer rows than its input has")
        for value in self.region.outputs:
            tensor = tensor_of(self.method, value)
            count = tensor.sizes[ROWS] * self.region.pieces
            self.done.outputs[value] = self._read(value, count)
        return self.done

    def _give(self, value: int) -> None:
        tensor = tensor_of(self.method, value)
        count = tensor.sizes[ROWS] * self.region.pieces
        name = self.same.get(value, value)
        for row in range(count):
            for at, size, before in _parts(tensor, row, count):
                self._put(tensor, at, size, ("in", name, row), before)

    def _give_next(self, value: int) -> None:
        """The next row of an input, which has the place of the last one."""
        tensor = tensor_of(self.method, value)
        name = ("in", self.same.get(value, value), self.given)
        for at, size, before in _parts(tensor, 0, 1):
            self._put(tensor, at, size, name, before)
        self.given += 1
        self.passed[self.edges.index(value)] = 0

    def _act(self, what: int, which: int, number: int) -> None:
        at, size, rows, fill, beside = self.windows[number]
        slab = tensor_of(self.method, self.region.slab)
        last = at + (rows - 1) * size
        if what != _OUT and rows > 1:
            self._copy(slab, at + size, slab, at, (rows - 1) * size)
        if what == _FILL:
            self._put(slab, last, size, ("outside", fill))
        elif what == _LEAST:
            self._put(slab, last, size, ("outside", LEAST))
        elif what == _RUN:
            self._run(which)
        elif what != _SKIP:  # which leaves the last row as it is
            inside = size - 2 * beside
            self._pass(which, slab, last + beside, inside, out=what == _OUT)

    def _pass(
        self, which: int, slab: types.Tensor, at: int, size: int, *, out: bool
    ) -> None:
        value = self.edges[which]
        if out != (which >= len(self.region.inputs)):
            self.done.faults.append(f"it mistakes value {value}")
        if self.region.image_rows is not None and not out:
            self._give_next(value)
        edge = tensor_of(self.method, value)
        planes = planes_of(edge)
        done, part = self.passed[which], size // planes
        self.passed[which] += part
        if (done + part) * planes > edge.nbytes or part * planes != size:
            self.done.faults.append(f"it leaves value {value}")
            return
        for plane in range(planes):
            there, here = plane * (edge.nbytes // planes) + done, at + plane * part
            if out:
                self._copy(slab, here, edge, there, part)
            else:
                self._copy(edge, there, slab, here, part)

    def _run(self, node: int) -> None:
        index = self.region.nodes[node]
        goes_on = name_of(self.method, index) in _GO_ON
        read = [
            self._read(value, tensor_of(self.method, value).sizes[ROWS])
            for value in windows_of(self.method, index, self.region.slab, out=goes_on)
        ]
        self.done.runs.append((node, tuple(read)))
        out = tensor_of(self.method, result_of(self.method, index))
        size = out.nbytes // out.sizes[ROWS]
        for row in range(out.sizes[ROWS]):
            self._put(out, row * size, size, ("row", node, self.runs[node]))
            self.runs[node] += 1
        for value in results_of(self.method, index)[1:]:
            other = tensor_of(self.method, value)
            self._put(other, 0, other.nbytes, ("beside", node))

    # ---- bytes -------------------------------------------------------------------

    def _bytes(self, tensor: types.Tensor) -> tuple[ByteMap, int]:
        place = tensor.allocation
        assert place is not None
        return self.memory.setdefault(place.memory_id, ByteMap()), place.offset

    def _put(
        self, tensor: types.Tensor, at: int, size: int, name: Row, before: int = 0
    ) -> None:
        """`size` bytes of a row, those behind the first `before`."""
        bytes_, start = self._bytes(tensor)
        bytes_.write(start + at, ((0, size, frozenset({(name, -before)})),))

    def _copy(
        self, source: types.Tensor, at: int, to: types.Tensor, there: int, size: int
    ) -> None:
        bytes_, start = self._bytes(source)
        content = bytes_.read(start + at, start + at + size)
        other, begin = self._bytes(to)
        other.write(begin + there, content)

    def _read(self, value: int, count: int) -> tuple[Row, ...]:
        """The rows of a tensor; ("broken",) for one that is not there as a whole."""
        tensor = tensor_of(self.method, value)
        bytes_, start = self._bytes(tensor)
        names: list[Row] = []
        for row in range(count):
            whole = ByteMap()
            for at, size, before in _parts(tensor, row, count):
                whole.write(before, bytes_.read(start + at, start + at + size))
            names.append(_row_of(whole.read(0, tensor.nbytes // count)))
        return tuple(names)


def _parts(
    tensor: types.Tensor, row: int, count: int
) -> Iterator[tuple[int, int, int]]:
    """Where the parts of one of `count` rows are, their bytes, and the bytes of the
    parts before."""
    planes = planes_of(tensor)
    plane, size = tensor.nbytes // planes, tensor.nbytes // planes // count
    for number in range(planes):
        yield number * plane + row * size, size, number * size


def _row_of(content: Content) -> Row:
    """The name of a row with these bytes."""
    if len(content) == 3:
        ends = {name for _, _, tokens in content[::2] for name, _ in tokens}
        sizes = {end - start for start, end, _ in content[::2]}
        kinds = {name[0] for name in ends}
        if len(ends) == len(sizes) == 1 and kinds == {"outside"}:
            (end,), (size,) = ends, sizes
            return ("sides", size, end[1], *_row_of(content[1:2]))
    if len(content) != 1:
        return ("broken",)
    ((start, _, tokens),) = content
    whole = [name for name, begin in tokens if begin == start]
    return whole[0] if len(whole) == 1 else ("broken",)


# ---- regions as a program states them ------------------------------------------------


ENTER, END = "ember::rows_enter.out", "ember::rows.out"
FED = "ember::rows_fed.out"  # the same, with a row of its input at a time
ENDS = (END, FED)
ROWS = 2  # the dimension of images


@dataclass(frozen=True)
class CheckedRegion:
    nodes: range  # instructions
    table: bytes
    slab: int  # values
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    image_rows: int | None = None  # of an input that comes row by row
    cursor: int | None = None  # value
    pieces: int = 1  # of a row: its one node is given so many, one after the other


def region_of(program: Program, index: int, call: NamedCall) -> CheckedRegion:
    method = call.method
    nodes, given, wanted = map(call.value, ("nodes", "inputs", "out"))
    assert isinstance(nodes, types.Int)
    assert isinstance(given, types.TensorList) and isinstance(wanted, types.TensorList)
    data = program.data_of(call.tensor("table"))
    assert data is not None
    is_fed = call.operator == FED
    columns = tensor_of(method, wanted.items[-1]).sizes[ROWS + 1]
    piece = tensor_of(method, result_of(method, index - 1)).sizes[ROWS + 1]
    return CheckedRegion(
        range(index - nodes.value, index),
        bytes(data),
        call["slab"],
        given.items,
        wanted.items,
        number_of(call, "image_rows") if is_fed else None,
        call["cursor"] if is_fed else None,
        columns // piece if nodes.value == 1 and piece > 0 else 1,
    )


def windows_of(
    method: Method, index: int, slab: int, *, out: bool = True
) -> Iterator[int]:
    """The arguments of a node that are in the slab, in their order; with `out`, also
    its first result."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    written = results_of(method, index)
    given = (listed(method, value) for value in call.args[:-1] if value not in written)
    values = (*itertools.chain.from_iterable(given), *(written[:1] if out else ()))
    return (value for value in values if _is_inside(method, value, slab))


def all_windows(method: Method, index: int, slab: int) -> Iterator[int]:
    """The same with all of its results."""
    yield from windows_of(method, index, slab, out=False)
    results = results_of(method, index)
    yield from (value for value in results if _is_inside(method, value, slab))


def _is_inside(method: Method, value: int, slab: int) -> bool:
    tensor, whole = method.values[value], tensor_of(method, slab)
    assert whole.allocation is not None
    if not isinstance(tensor, types.Tensor) or tensor.allocation is None:
        return False
    start = tensor.allocation.offset - whole.allocation.offset
    same = tensor.allocation.memory_id == whole.allocation.memory_id
    return same and tensor.nbytes > 0 and 0 <= start < whole.nbytes


def listed(method: Method, value: int) -> tuple[int, ...]:
    """A value, or the items of a list of tensors."""
    stated = method.values[value]
    return stated.items if isinstance(stated, types.TensorList) else (value,)


def results_of(method: Method, index: int) -> tuple[int, ...]:
    """The values that an instruction writes."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return listed(method, call.result)


def result_of(method: Method, index: int) -> int:
    """The first value that an instruction writes."""
    return results_of(method, index)[0]


def planes_of(image: types.Tensor) -> int:
    """How many separate parts a row has: the sizes of the dimensions before the rows in
    memory."""
    before = image.dim_order[: image.dim_order.index(ROWS)]
    return math.prod(image.sizes[dim] for dim in before)


def tensor_of(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return tensor


def name_of(method: Method, index: int) -> str:
    """The name of an instruction's operator."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return method.operators[call.op_index].full_name


def columns_of(call: NamedCall, name: str) -> int:
    """The last of a list, or an integer."""
    return _number_of(call, name, -1)


def number_of(call: NamedCall, name: str) -> int:
    """An integer, or the first of a list: that of rows."""
    return _number_of(call, name, 0)


def _number_of(call: NamedCall, name: str, item: int) -> int:
    stated = call.value(name)
    if isinstance(stated, types.IntList):
        stated = call.method.values[stated.items[item]]
    assert isinstance(stated, types.Int)
    return stated.value
