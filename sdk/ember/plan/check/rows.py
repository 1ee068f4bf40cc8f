"""Regions of rows become what their nodes find in memory, step by step.

The table of a region is executed on a map of bytes in which every row has a name. What
rows a call reads is said here once more, by operator, and nothing is shared with what
makes regions.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ember.plan.check.byte_map import ByteMap, Content
from ember.program import KernelCall, Method, Program, types

ENTER, ROWS = "ember::rows_enter.out", "ember::rows.out"
FED = "ember::rows_fed.out"  # the same, with a row of its input at a time
ENDS = (ROWS, FED)
_SKIP, _FILL, _IN, _RUN, _OUT = range(5)
_ROWS = 2  # the dimension of images

# ("in", value, row), ("row", node, row), ("outside", byte); where that byte lies at
# either end of one of the first two, ("sides", bytes of an end, byte) stands before it.
Row = tuple[str | int, ...]


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


@dataclass
class RowTrace:
    """What a region does."""

    runs: list[tuple[int, tuple[tuple[Row, ...], ...]]] = field(default_factory=list)
    outputs: dict[int, tuple[Row, ...]] = field(default_factory=dict)  # by value
    faults: list[str] = field(default_factory=list)


def of(program: Program, method: Method) -> list[CheckedRegion]:
    """The regions of a method, by their calls of rows."""
    return [
        _region(program, method, index, call)
        for index, name, call in method.kernel_calls()
        if name in ENDS
    ]


def inputs(method: Method, index: int) -> frozenset[int]:
    """Of the region that instruction `index` ends; none where it ends none."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    if method.operators[call.op_index].full_name not in ENDS:
        return frozenset()
    given = method.values[call.args[2]]
    return frozenset(given.items if isinstance(given, types.TensorList) else ())


def in_slabs(program: Program, method: Method) -> Mapping[int, tuple[int, int]]:
    """Values that lie in a slab: which, and at what byte of it."""
    inside: dict[int, tuple[int, int]] = {}
    for region in of(program, method):
        slab = _tensor(method, region.slab)
        for index in region.nodes:
            for value in _windows(method, index, region.slab):
                place = _tensor(method, value).allocation
                assert place is not None and slab.allocation is not None
                inside[value] = region.slab, place.offset - slab.allocation.offset
    return inside


def problems(first: Program, second: Program) -> Iterator[str]:
    """Where the regions of `second` do not find what those of `first` find."""
    for method, other in zip(first.methods, second.methods, strict=True):
        pairs = zip(of(first, method), of(second, other), strict=True)
        for region, placed in pairs:
            where = f"{method.name}, instruction {region.nodes.stop}"
            wanted, got = trace(method, region), trace(other, placed)
            for fault in (*wanted.faults, *got.faults):
                yield f"{where}: {fault}"
            if wanted.runs != got.runs:
                yield f"{where}: a node finds other rows than without this plan"
            if wanted.outputs != got.outputs:
                yield f"{where}: an output has other rows than without this plan"
            if placed.image_rows is not None:
                yield from (f"{where}: {fault}" for fault in _kept_over(other, placed))


# ---- a row of the input at a time ----------------------------------------------------


def fed_problems(
    before: Program, after: Program, writes: Mapping[str, Sequence[Set[int]]]
) -> Iterator[str]:
    """Where a method of `after`, whose input comes row by row, does not do what the one
    of `before` does with the whole; `writes` are values, by method and instruction.

    An execution that wants another row ends with the region. So the region must begin
    the method, and what it keeps until the next row must lie where nothing else is.
    """
    for method, other in zip(before.methods, after.methods, strict=True):
        for region, changed in zip(of(before, method), of(after, other), strict=True):
            if changed.image_rows is None:
                continue
            where = f"{other.name}, instruction {changed.nodes.stop}"
            wanted, got = trace(method, region), trace(other, changed)
            yield from (f"{where}: {fault}" for fault in got.faults)
            if (wanted.runs, wanted.outputs) != (got.runs, got.outputs):
                yield f"{where}: row by row, its nodes find other rows"
            (value,) = changed.inputs
            image = _tensor(method, value)
            if changed.image_rows != image.sizes[_ROWS] or value not in other.inputs:
                yield f"{where}: its input is another image"
            for fault in _kept_faults(other, changed, writes[other.name]):
                yield f"{where}: {fault}"


def _kept_faults(
    method: Method, region: CheckedRegion, writes: Sequence[Set[int]]
) -> Iterator[str]:
    """What is wrong with what a region keeps until the next row comes."""
    enter = region.nodes.start - 1
    for index in range(enter):
        call = method.instructions[index]
        assert isinstance(call, KernelCall)
        if method.operators[call.op_index].full_name != "ember::scratch.out":
            yield "it does not begin the method"
    assert region.cursor is not None
    for index, written in enumerate(writes):
        if index != region.nodes.stop and region.cursor in written:
            yield "another call writes its cursor"
    yield from _kept_over(method, region)


def _kept_over(method: Method, region: CheckedRegion) -> Iterator[str]:
    """What lies over each other and must be there while rows come."""
    assert region.cursor is not None
    (value,) = region.inputs
    together = (region.slab, region.cursor, value, *region.outputs)
    for a, b in itertools.combinations(together, 2):
        if _meet(_tensor(method, a), _tensor(method, b)):
            yield f"values {a} and {b} share memory while rows come"


def _meet(a: types.Tensor, b: types.Tensor) -> bool:
    here, there = a.allocation, b.allocation
    assert here is not None and there is not None
    return (
        here.memory_id == there.memory_id
        and here.offset < there.offset + b.nbytes
        and there.offset < here.offset + a.nbytes
    )


# ---- against the calls without rows ------------------------------------------------


def differences(
    before: Method, program: Program, method: Method, order: tuple[int, ...]
) -> Iterator[str]:
    """Where regions of `method` read or give other rows than the calls of `before` that
    they stand for; `order` says which instruction each one came from."""
    for region in of(program, method):
        where = f"{method.name}, instruction {region.nodes.stop}"
        same = _same(before)
        calls = []
        for number, index in enumerate(region.nodes):
            pair = before, order[index], method, index
            readings, fault = _of_node(pair, region, same)
            calls.append(readings)
            if fault:
                yield f"{where}: node {number} {fault}"
        maker = {same[_out(before, order[n])]: k for k, n in enumerate(region.nodes)}
        walked = trace(method, region, same)
        yield from (f"{where}: {fault}" for fault in walked.faults)
        runs = [0] * len(calls)
        for node, windows in walked.runs:
            at = node, runs[node]
            wanted = _wanted(before, calls[node], at, maker, region.pieces)
            if wanted != windows:
                yield f"{where}: node {node} reads other rows for row {runs[node]}"
                break
            runs[node] += 1
        for value, rows in walked.outputs.items():
            whole = tuple(("row", maker[same[value]], n) for n in range(len(rows)))
            if rows != whole:
                yield f"{where}: value {value} is not whole"


@dataclass(frozen=True)
class _Reading:
    """Row r of a result is made of rows [r * stride - padding, ... + extent); of a
    transposed convolution, that is what it makes at its r-th time."""

    value: int
    extent: int
    stride: int
    padding: int
    outside: int
    columns: int = 0  # padding of these
    sides: int = 0  # bytes at either end of a row that are padding
    before: bool = False  # of what the node added up so far: nothing, every `stride`
    of_sums: bool = False  # of what the node before added up


def _wanted(
    before: Method,
    call: tuple[_Reading, ...],
    at: tuple[int, int],
    maker: Mapping[int, int],
    pieces: int,
) -> tuple[tuple[Row, ...], ...]:
    """What a node finds; `at` is its number, and how often it ran."""
    windows: list[tuple[Row, ...]] = []
    node, row = at
    for reading in call:
        if reading.before:
            begins = row % reading.stride == 0
            sums: Row = ("outside", 0) if begins else ("row", node, row - 1)
            windows.append((sums,))
            continue
        if reading.of_sums:
            last = row * reading.stride - reading.padding
            windows.append((("row", node - 1, last),))
            continue
        height = _tensor(before, reading.value).sizes[_ROWS] * pieces
        first = row * reading.stride - reading.padding
        names: list[Row] = []
        sides: Row = ("sides", reading.sides, reading.outside) if reading.sides else ()
        for number in range(first, first + reading.extent):
            if not 0 <= number < height:
                names.append(("outside", reading.outside))
            elif reading.value in maker:
                names.append((*sides, "row", maker[reading.value], number))
            else:
                names.append((*sides, "in", reading.value, number))
        windows.append(tuple(names))
    return tuple(windows)


_POINTWISE = {
    "cortex_m::quantize_per_tensor.out": (0,),
    "cortex_m::dequantize_per_tensor.out": (0,),
    "cortex_m::quantized_activation.out": (0,),
    "cortex_m::quantized_add.out": (0, 4),
    "cortex_m::quantized_mul.out": (0, 2),
    "cortex_m::pad.out": (0,),
    "aten::cat.out": (0,),
    "cortex_m::minimum.out": (0, 1),
    "cortex_m::maximum.out": (0, 1),
}
_ELEMENTWISE = {*_POINTWISE} - {"cortex_m::pad.out", "aten::cat.out"}
# Arguments: kernel (None: the weights'), stride, padding, dilation, offset of x.
_WINDOWED = {
    "cortex_m::quantized_conv2d.out": (None, 3, 4, 5, 6),
    "cortex_m::quantized_depthwise_conv2d.out": (None, 3, 4, 5, 7),
    "cortex_m::quantized_max_pool2d.out": (1, 2, 3, 4, None),
    "cortex_m::quantized_avg_pool2d.out": (1, 2, 3, None, None),
}


_TRANSPOSED = "cortex_m::quantized_transpose_conv2d.out"
_POOL = "cortex_m::quantized_avg_pool2d.out"
_SUMS, _MEANS = "ember::avg_pool_sums.out", "ember::avg_pool_means.out"


def _of_node(
    pair: tuple[Method, int, Method, int],
    region: CheckedRegion,
    same: Mapping[int, int],
) -> tuple[tuple[_Reading, ...], str]:
    """What a node reads that stands for a call, and what is wrong with it."""
    before, old, method, new = pair
    call = before.instructions[old]
    assert isinstance(call, KernelCall)
    if before.operators[call.op_index].full_name == _TRANSPOSED:
        return _turned_back(pair, same)
    if _tensor(method, _out(method, new)).sizes[_ROWS] != 1:
        return (), "makes several rows at a time"
    if _name(method, new) in (_SUMS, _MEANS):
        return _of_sums(pair, same)
    whole = _whole_call(before, old, same)
    if region.pieces > 1:
        return whole, _piece_fault(pair, region)
    return _with_sides(whole, pair, region.slab)


def _piece_fault(pair: tuple[Method, int, Method, int], region: CheckedRegion) -> str:
    """A call of elements may be given parts of rows, all alike."""
    before, old, method, new = pair
    n, c, _, w = _tensor(before, _out(before, old)).sizes
    windows = _windows(method, new, region.slab)
    alike = {_tensor(method, value).sizes for value in windows}
    same = alike == {(n, c, 1, w // region.pieces)} and w % region.pieces == 0
    fits = same and _name(before, old) in _ELEMENTWISE
    return "" if fits else "has other columns than its call"


def _turned_back(
    pair: tuple[Method, int, Method, int], same: Mapping[int, int]
) -> tuple[tuple[_Reading, ...], str]:
    """Of a transposed convolution: its row r sees row i of the image by tap
    r + padding - i * stride. A node makes as many rows as its stride is, and must see
    the same rows by the same taps: by its padding and the first of its rows."""
    before, old, method, new = pair
    call, node = before.instructions[old], method.instructions[new]
    assert isinstance(call, KernelCall) and isinstance(node, KernelCall)
    stride, padding, dilation = (_number(before, call.args[n]) for n in (3, 4, 6))
    image, rows = (
        _tensor(of, of_call.args[0]) for of, of_call in ((before, call), (method, node))
    )
    reach = (_tensor(before, call.args[1]).sizes[1] - 1) * dilation
    earlier, rest = divmod(_number(method, node.args[4]) - padding, stride)
    first, last = -((reach - padding) // stride), (stride - 1 + padding) // stride
    extent = rows.sizes[_ROWS]
    other = (
        rest != 0
        or -earlier > first
        or extent - earlier <= last
        or _tensor(method, node.args[-1]).sizes[_ROWS] != stride
        or _tensor(before, call.args[-1]).sizes[_ROWS] % stride != 0
        or rows.sizes[_ROWS + 1] != image.sizes[_ROWS + 1]
        or any(
            _columns(before, call.args[n]) != _columns(method, node.args[n])
            for n in (3, 4, 5, 6)
        )
        or any(
            _number(before, call.args[n]) != _number(method, node.args[n])
            for n in (3, 6)
        )
    )
    outside = -_number(before, call.args[7]) & 0xFF
    reading = _Reading(same[call.args[0]], extent, 1, earlier, outside)
    return (reading,), "sees other rows than its call" if other else ""


def _of_sums(
    pair: tuple[Method, int, Method, int], same: Mapping[int, int]
) -> tuple[tuple[_Reading, ...], str]:
    """Of a pool without padding whose windows do not overlap: one node adds row after
    row to what it has, which is nothing at the first row of a window; the next one
    takes that behind the last row."""
    before, old, method, new = pair
    call, node = before.instructions[old], method.instructions[new]
    assert isinstance(call, KernelCall) and isinstance(node, KernelCall)
    rows, step = (_number(before, call.args[n]) for n in (1, 2))
    step = step if _tensor(before, call.args[-1]).sizes[_ROWS] > 1 else rows
    other = (
        before.operators[call.op_index].full_name != _POOL
        or step < rows
        or _number(before, call.args[3]) != 0
        or any(
            before.values[call.args[n]] != method.values[node.args[n]]
            for n in range(1, 7)
        )
    )
    fault = "adds up other windows than its call" if other else ""
    if _name(method, new) == _MEANS:
        fault = fault or ("" if _name(method, new - 1) == _SUMS else "has no sums")
        return (_Reading(-1, 1, step, 1 - rows, 0, of_sums=True),), fault
    image = _Reading(same[call.args[0]], 1, 1, 0, 0)
    return (image, _Reading(-1, 1, step, 0, 0, before=True)), fault


def _name(method: Method, index: int) -> str:
    """Of an instruction's operator."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return method.operators[call.op_index].full_name


def _same(method: Method) -> Mapping[int, int]:
    """Of each planned value the first one that lies at its place."""
    places: dict[object, int] = {}
    return {
        value: places.setdefault((tensor.allocation, tensor.nbytes), value)
        for value, tensor in method.tensors
        if tensor.allocation is not None
    }


def _whole_call(
    method: Method, index: int, same: Mapping[int, int]
) -> tuple[_Reading, ...]:
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    name = method.operators[call.op_index].full_name
    if name in _POINTWISE:
        values = itertools.chain.from_iterable(
            _listed(method, call.args[arg]) for arg in _POINTWISE[name]
        )
        return tuple(_Reading(same[value], 1, 1, 0, 0) for value in values)
    kernel, stride, padding, dilation, offset = _WINDOWED[name]
    if kernel is None:
        taps = _tensor(method, call.args[1]).sizes[1]
    else:
        taps = _number(method, call.args[kernel])
    step = 1 if dilation is None else _number(method, call.args[dilation])
    outside = 0x80  # less than anything, for a maximum
    if offset is not None:
        outside = -_number(method, call.args[offset]) & 0xFF
    return (
        _Reading(
            same[call.args[0]],
            (taps - 1) * step + 1,
            _number(method, call.args[stride]),
            _number(method, call.args[padding]),
            outside,
            _columns(method, call.args[padding]),
        ),
    )


def _with_sides(
    readings: tuple[_Reading, ...],
    pair: tuple[Method, int, Method, int],
    slab: int,
) -> tuple[tuple[_Reading, ...], str]:
    """What a node reads that stands for a call, and what is wrong with its columns."""
    before, _, method, new = pair
    sided = []
    for reading, value in zip(
        readings, _windows(method, new, slab, out=False), strict=False
    ):
        whole, window = _tensor(before, reading.value), _tensor(method, value)
        wider = window.sizes[_ROWS + 1] - whole.sizes[_ROWS + 1]
        left = reading.columns - _padding_of(method, new)
        if wider != 2 * left or wider < 0:
            return readings, "has other columns than its call"
        sided.append(
            replace(reading, sides=wider // 2 * whole.sizes[1] * whole.dtype.itemsize)
        )
    return tuple(sided), ""


def _padding_of(method: Method, index: int) -> int:
    """Of a call's columns."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    name = method.operators[call.op_index].full_name
    return 0 if name in _POINTWISE else _columns(method, call.args[_WINDOWED[name][2]])


def _columns(method: Method, value: int) -> int:
    """The last of a list, or an integer."""
    stated = method.values[value]
    if isinstance(stated, types.IntList):
        stated = method.values[stated.items[-1]]
    assert isinstance(stated, types.Int)
    return stated.value


def _number(method: Method, value: int) -> int:
    """An integer, or the first of a list: that of rows."""
    stated = method.values[value]
    if isinstance(stated, types.IntList):
        stated = method.values[stated.items[0]]
    assert isinstance(stated, types.Int)
    return stated.value


# ---- the table -----------------------------------------------------------------------


def trace(
    method: Method, region: CheckedRegion, same: Mapping[int, int] | None = None
) -> RowTrace:
    """With `same`, rows of an input have the name of another value."""
    return _Machine(method, region, same or {}).trace()


class _Machine:
    """Executes a table where values lie as the method says."""

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
            tensor = _tensor(self.method, value)
            count = tensor.sizes[_ROWS] * self.region.pieces
            self.done.outputs[value] = self._read(value, count)
        return self.done

    def _give(self, value: int) -> None:
        tensor = _tensor(self.method, value)
        count = tensor.sizes[_ROWS] * self.region.pieces
        name = self.same.get(value, value)
        for row in range(count):
            size = tensor.nbytes // count
            self._put(tensor, row * size, size, ("in", name, row))

    def _give_next(self, value: int) -> None:
        """The next row of an input, which has the place of the last one."""
        tensor = _tensor(self.method, value)
        name = ("in", self.same.get(value, value), self.given)
        self._put(tensor, 0, tensor.nbytes, name)
        self.given += 1
        self.passed[self.edges.index(value)] = 0

    def _act(self, what: int, which: int, number: int) -> None:
        at, size, rows, fill, beside = self.windows[number]
        slab = _tensor(self.method, self.region.slab)
        last = at + (rows - 1) * size
        if what != _OUT and rows > 1:
            self._copy(slab, at + size, slab, at, (rows - 1) * size)
        if what == _FILL:
            self._put(slab, last, size, ("outside", fill))
        elif what == _SKIP:
            self._put(slab, last, size, ("nothing",))
        elif what == _RUN:
            self._run(which)
        else:
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
        done = self.passed[which]
        self.passed[which] += size
        edge = _tensor(self.method, value)
        if done + size > edge.nbytes:
            self.done.faults.append(f"it leaves value {value}")
        elif out:
            self._copy(slab, at, edge, done, size)
        else:
            self._copy(edge, done, slab, at, size)

    def _run(self, node: int) -> None:
        index = self.region.nodes[node]
        adds = _name(self.method, index) == _SUMS
        read = [
            self._read(value, _tensor(self.method, value).sizes[_ROWS])
            for value in _windows(self.method, index, self.region.slab, out=adds)
        ]
        self.done.runs.append((node, tuple(read)))
        out = _tensor(self.method, _out(self.method, index))
        size = out.nbytes // out.sizes[_ROWS]
        for row in range(out.sizes[_ROWS]):
            self._put(out, row * size, size, ("row", node, self.runs[node]))
            self.runs[node] += 1

    # ---- bytes -------------------------------------------------------------------

    def _bytes(self, tensor: types.Tensor) -> tuple[ByteMap, int]:
        place = tensor.allocation
        assert place is not None
        return self.memory.setdefault(place.memory_id, ByteMap()), place.offset

    def _put(self, tensor: types.Tensor, at: int, size: int, name: Row) -> None:
        bytes_, start = self._bytes(tensor)
        bytes_.write(start + at, ((0, size, frozenset({(name, 0)})),))

    def _copy(
        self, source: types.Tensor, at: int, to: types.Tensor, there: int, size: int
    ) -> None:
        bytes_, start = self._bytes(source)
        content = bytes_.read(start + at, start + at + size)
        other, begin = self._bytes(to)
        other.write(begin + there, content)

    def _read(self, value: int, count: int) -> tuple[Row, ...]:
        """The rows of a tensor; ("broken",) for one that is not there as a whole."""
        tensor = _tensor(self.method, value)
        bytes_, start = self._bytes(tensor)
        size = tensor.nbytes // count
        names: list[Row] = []
        for at in range(start, start + tensor.nbytes, size):
            names.append(_row_of(bytes_.read(at, at + size)))
        return tuple(names)


def _row_of(content: Content) -> Row:
    """Of a row with these bytes."""
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


# ---- programs ------------------------------------------------------------------------


def _region(
    program: Program, method: Method, index: int, call: KernelCall
) -> CheckedRegion:
    table, count, inputs, slab, _, outputs = call.args[:6]
    nodes, given, wanted = (method.values[v] for v in (count, inputs, outputs))
    assert isinstance(nodes, types.Int)
    assert isinstance(given, types.TensorList) and isinstance(wanted, types.TensorList)
    data = program.data_of(_tensor(method, table))
    assert data is not None
    is_fed = method.operators[call.op_index].full_name == FED
    columns = _tensor(method, wanted.items[-1]).sizes[_ROWS + 1]
    piece = _tensor(method, _out(method, index - 1)).sizes[_ROWS + 1]
    return CheckedRegion(
        range(index - nodes.value, index),
        bytes(data),
        slab,
        given.items,
        wanted.items,
        _number(method, call.args[7]) if is_fed else None,
        call.args[6] if is_fed else None,
        columns // piece if nodes.value == 1 and piece > 0 else 1,
    )


def _windows(
    method: Method, index: int, slab: int, *, out: bool = True
) -> Iterator[int]:
    """The arguments of a node that lie in the slab, in their order."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    whole = _tensor(method, slab)
    assert whole.allocation is not None
    last = call.args[-1]
    given = (_listed(method, value) for value in call.args if value != last)
    for value in (*itertools.chain.from_iterable(given), *((last,) if out else ())):
        tensor = method.values[value]
        if not isinstance(tensor, types.Tensor) or tensor.allocation is None:
            continue
        start = tensor.allocation.offset - whole.allocation.offset
        same = tensor.allocation.memory_id == whole.allocation.memory_id
        if same and tensor.nbytes > 0 and 0 <= start < whole.nbytes:
            yield value


def _listed(method: Method, value: int) -> tuple[int, ...]:
    """A value, or the items of a list of tensors."""
    stated = method.values[value]
    return stated.items if isinstance(stated, types.TensorList) else (value,)


def _out(method: Method, index: int) -> int:
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return call.args[-1]


def _tensor(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return tensor
