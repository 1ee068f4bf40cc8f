"""A method and cascades become the method in which these are regions of rows.

A node of a region is its call with rows in place of images: windows of the region's
slab. The call of rows tells the planner how many bytes an input must start later than
an output, so that the output may overlap it.

A method whose first region reads an input can have that a row at a time: the input is
then the same image with one row. The region goes on from row to row, and the calls
behind it run with the last one (kernels/rows/rows.h, `rows_fed`). Its position is in a
cursor, which is a state: nothing else is kept from row to row but what is alive in the
region anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.plan.rows import placing, reads, row_regions, schedule
from ember.plan.rows.reads import RowCall
from ember.plan.rows.row_regions import ENTER, ROWS
from ember.plan.rows.schedule import Schedule
from ember.program import KernelCall, Method, types
from ember.program.edit import with_values
from ember.program.types import ALIGN


@dataclass(frozen=True)
class Rewritten:
    method: Method
    order: tuple[int, ...]  # the instruction that each new one came from
    tables: tuple[bytes, ...]  # new constants, in the order of their data indices


def rewritten(
    method: Method,
    regions: Sequence[Schedule],
    first_constant: int,
    fed: int | None = None,
) -> Rewritten:
    """Regions are in the order of their calls and have no call in common; `fed` is an
    input that is to come row by row."""
    return _Rewriter(method, first_constant, fed).done(regions)


@dataclass
class _Rewriter:
    method: Method
    first_constant: int
    fed: int | None
    values: list[types.Value] = field(init=False)
    sizes: list[int] = field(init=False)
    operators: list[types.Operator] = field(init=False)
    tables: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = list(self.method.values)
        self.sizes = list(self.method.planned_sizes)
        self.operators = list(self.method.operators)

    def done(self, regions: Sequence[Schedule]) -> Rewritten:
        new: list[types.Instruction] = []
        order: list[int] = []
        (chain,) = self.method.chains
        at = 0
        for region in regions:
            first, last = (region.cascade.calls[n].index for n in (0, -1))
            new += chain.instructions[at:first]
            order += range(at, first)
            new += self._region(region)
            order += [first, *(call.index for call in region.cascade.calls), last]
            at = last + 1
        new += chain.instructions[at:]
        order += range(at, len(chain.instructions))
        method = replace(
            self.method,
            values=tuple(self.values),
            chains=(chain.rewritten(new, order),),
            operators=tuple(self.operators),
            planned_sizes=tuple(self.sizes),
        )
        return Rewritten(method, tuple(order), tuple(self.tables))

    # ---- values ------------------------------------------------------------------

    def _add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _ints(self, items: Iterable[int]) -> int:
        numbers = tuple(self._add(types.Int(item)) for item in items)
        return self._add(types.IntList(numbers))

    def _tensor(self, value: int) -> types.Tensor:
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor

    # ---- regions -----------------------------------------------------------------

    def _call(self, operator: types.Operator, args: Sequence[int]) -> types.Instruction:
        if operator not in self.operators:
            self.operators.append(operator)
        return KernelCall(self.operators.index(operator), tuple(args))

    def _region(self, region: Schedule) -> list[types.Instruction]:
        cascade = region.cascade
        home = self._tensor(cascade.calls[-1].out).allocation
        assert home is not None
        start = -(-self.sizes[home.memory_id] // ALIGN) * ALIGN
        self.sizes[home.memory_id] = start + region.slab.size
        slab = self._add(
            types.Tensor(
                DType.UINT8,
                (region.slab.size,),
                (0,),
                allocation=types.Allocation(home.memory_id, start),
            )
        )
        count = self._add(types.Int(len(cascade.calls)))
        inputs = self._add(types.TensorList(cascade.inputs))
        outputs = self._add(types.TensorList(cascade.outputs))
        enter = self._call(ENTER, (count, inputs, slab, outputs, outputs))
        nodes = self._nodes(region, types.Allocation(home.memory_id, start))
        args = (
            self._table(region),
            count,
            inputs,
            slab,
            self._ints(self._over(region)),
            outputs,
            outputs,
        )
        return [enter, *nodes, self._call(ROWS, args)]

    def _over(self, region: Schedule) -> list[int]:
        """Triples for the planner; nothing overlaps an input that comes row by row."""
        inputs = region.cascade.inputs
        slab = len(region.cascade.outputs)  # counts as one more
        pairs = {**schedule.over(region)}
        pairs |= {(n, slab): by for n, by in schedule.over_slab(region).items()}
        return [
            number
            for (source, out), delta in pairs.items()
            if inputs[source] != self.fed
            for number in (source, out, delta)
        ]

    def _table(self, region: Schedule) -> int:
        self.tables.append(schedule.table(region))
        number = self.first_constant + len(self.tables) - 1
        size = len(self.tables[-1])
        return self._add(types.Tensor(DType.UINT8, (size,), (0,), data_index=number))

    def _nodes(
        self, region: Schedule, slab: types.Allocation
    ) -> list[types.Instruction]:
        starts = region.slab.starts
        return [
            self._node(region, number, call, slab, starts)
            for number, call in enumerate(region.cascade.calls)
        ]

    def _node(
        self,
        region: Schedule,
        number: int,
        call: RowCall,
        slab: types.Allocation,
        starts: Sequence[int],
    ) -> types.Instruction:
        windows = region.cascade.windows
        changed: dict[int, int] = {}
        lists: dict[int, list[int]] = {}
        sides = False
        for source in region.cascade.sources[number]:
            window, read = windows[source.window], source.read
            first = window.rows - window.ahead - source.lag - read.extent
            at = slab.offset + starts[source.window] + first * window.row_bytes
            beside = read.beside if window.beside else 0
            at += 0 if beside else window.beside
            rows = self._rows(read.tensor, read.extent, slab.memory_id, at, beside)
            sides = sides or beside > 0
            if read.item is None:
                changed[read.arg] = rows
            else:  # all items of a list are read, in their order
                lists.setdefault(read.arg, []).append(rows)
        for arg, items in lists.items():
            changed[arg] = self._add(types.TensorList(tuple(items)))
        result = windows[number]
        last = starts[number] + (result.rows - call.step) * result.row_bytes
        last += result.beside
        out = self._rows(call.tensor, call.step, slab.memory_id, slab.offset + last)
        old = self.method.instructions[call.index]
        assert isinstance(old, KernelCall)
        for arg, first in call.firsts:
            gone = sides and arg == call.padding_arg
            changed[arg] = self._with_first(old.args[arg], first, gone=gone)
        other = {value: self._empty(value) for value in call.scratch}
        other |= self._unread(call, slab, region.slab.unread)
        other[call.result] = out
        given = old.args if call.arguments is None else self._given(call.arguments)
        args = [
            changed[arg] if arg in changed else self._other(value, other)
            for arg, value in enumerate(given)
        ]
        operator = call.operator or self.method.operators[old.op_index]
        return self._call(operator, args)

    def _given(self, arguments: Iterable[int | types.Value]) -> list[int]:
        return [
            each if isinstance(each, int) else self._add(each) for each in arguments
        ]

    def _unread(
        self, call: RowCall, slab: types.Allocation, start: int
    ) -> dict[int, int]:
        """Unread results, with their rows at the end of the slab."""
        values = {}
        at = slab.offset + start
        for each in call.unread:
            values[each.value] = self._rows(each.tensor, call.step, slab.memory_id, at)
            at += -(-reads.row_bytes(each.tensor) * call.step // ALIGN) * ALIGN
        return values

    def _other(self, value: int, other: Mapping[int, int]) -> int:
        """The value in place of one, also of those in a list."""
        if value in other:
            return other[value]
        listed = self.values[value]
        if isinstance(listed, types.TensorList) and other.keys() & {*listed.items}:
            items = (other.get(item, item) for item in listed.items)
            return self._add(types.TensorList(tuple(items)))
        return value

    def _rows(
        self,
        tensor: types.Tensor,
        count: int,
        memory: int,
        offset: int,
        beside: int = 0,
    ) -> int:
        rows = reads.with_rows(tensor, count, beside)
        place = types.Allocation(memory, offset)
        return self._add(replace(rows, allocation=place))

    def _with_first(self, value: int, first: int, *, gone: bool) -> int:
        """A list with another number for rows; that of columns stays, unless they are
        `gone`: in the window."""
        stated = self.method.values[value]
        assert isinstance(stated, types.IntList)
        items = self.method.int_list(stated)
        assert items is not None
        return self._ints((first, 0 if gone else items[-1]))

    def _empty(self, value: int) -> int:
        tensor = self._tensor(value)
        return self._add(replace(tensor, sizes=(0,), dim_order=(0,)))


# ---- a row of the input at a time ----------------------------------------------------


_CURSOR_WORDS = 2 + 8  # CURSOR_WORDS of kernels/rows/rows_fed.c


def fed_input(method: Method) -> int | None:
    """The input that can come row by row: the first image with several rows."""
    for value in method.inputs:
        tensor = method.values[value]
        if reads.is_image(tensor) and isinstance(tensor, types.Tensor):
            return value if reads.rows(tensor) > 1 else None
    return None


def placed_fed(before: Method, method: Method, known: KernelList) -> Method:
    """A method that fed() made of the one `before`, with its memory planned where
    replan() would leave it."""
    if row_regions.overlapping(before):
        return placing.placed(method, known)
    return method


def fed(method: Method) -> Method:
    """The method with one row of that input, nothing moved; the method itself where no
    region begins with it."""
    value = fed_input(method)
    regions = row_regions.regions(method)
    if value is None or not regions or regions[0].inputs != (value,):
        return method
    region = regions[0]
    image, slab = method.values[value], method.values[region.slab]
    assert isinstance(image, types.Tensor) and isinstance(slab, types.Tensor)
    assert slab.allocation is not None
    memory = slab.allocation.memory_id
    sizes = list(method.planned_sizes)
    place = types.Allocation(memory, -(-sizes[memory] // ALIGN) * ALIGN)
    cursor = types.Tensor(DType.INT32, (_CURSOR_WORDS,), (0,), allocation=place)
    sizes[memory] = place.offset + cursor.nbytes
    row = replace(reads.with_rows(image, 1), allocation=image.allocation)
    values = [*with_values(method, {value: row}).values]
    at = len(values)
    values += [cursor, types.Int(reads.rows(image))]
    (chain,) = method.chains
    instructions = list(chain.instructions)
    call = instructions[region.rows]
    assert isinstance(call, KernelCall)
    args = list(call.args)
    args[row_regions.CURSOR : row_regions.CURSOR] = [at, at + 1]
    instructions[region.rows] = KernelCall(len(method.operators), tuple(args))
    return replace(
        method,
        values=tuple(values),
        chains=(chain.rewritten(instructions, range(len(instructions))),),
        operators=(*method.operators, row_regions.FED),
        planned_sizes=tuple(sizes),
    )
