"""A program as frozen dataclasses: methods, values, instructions, data.

Values refer to each other, and instructions to values, by index into `Method.values`.
Sizes are in bytes, shapes in elements, outermost dimension first.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ember.files import tensors
from ember.files.tensors import Data, DType
from ember.program.segments import Layout, NamedData

ALIGN = 16  # EMBER_ALIGN: bytes, of what a plan places
VIEWS = frozenset({"executorch_prim::et_view.default"})  # outputs point to inputs

# ---- values ------------------------------------------------------------------------
# With slots: a program may have a hundred thousand of them.


@dataclass(frozen=True, slots=True)
class Null:
    """None: an optional argument that is absent."""


@dataclass(frozen=True, slots=True)
class Int:
    """A constant integer (64 bits), or one that an instruction computes."""

    value: int


@dataclass(frozen=True, slots=True)
class Bool:
    """A constant boolean, or one that an instruction computes."""

    value: bool


def _bits(values: tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


@dataclass(frozen=True, eq=False, slots=True)
class Double:
    """Equal when the bits are: NaN equals itself, -0.0 is not 0.0."""

    value: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Double):
            return NotImplemented
        return _bits((self.value,)) == _bits((other.value,))

    def __hash__(self) -> int:
        return hash(_bits((self.value,)))


@dataclass(frozen=True, slots=True)
class String:
    """A constant string, in UTF-8."""

    value: str


@dataclass(frozen=True, slots=True)
class IntList:
    """The integers are values of their own, for they may be computed at run time."""

    items: tuple[int, ...]  # value indices


@dataclass(frozen=True, eq=False, slots=True)
class DoubleList:
    """Equal when the bits are, as for Double."""

    items: tuple[float, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DoubleList):
            return NotImplemented
        return _bits(self.items) == _bits(other.items)

    def __hash__(self) -> int:
        return hash(_bits(self.items))


@dataclass(frozen=True, slots=True)
class BoolList:
    """Constant booleans, stored in the list itself."""

    items: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class TensorList:
    """Tensors, by their value indices."""

    items: tuple[int, ...]  # value indices


@dataclass(frozen=True, slots=True)
class OptionalTensorList:
    """Tensors, by their value indices, any of which may be None."""

    items: tuple[int, ...]  # value indices, -1 is None


@dataclass(frozen=True, slots=True)
class Allocation:
    """A place in one of the planned buffers."""

    memory_id: int  # from 1; index into Method.planned_sizes
    offset: int


@dataclass(frozen=True, slots=True)
class ExtraInfo:
    """What only some tensors have: a name, external data, another device."""

    mutable_segment: int = 0  # index into Program.mutable_data
    name: str | None = None  # fully qualified name
    external: bool = False  # the data is in a .ptd, under `name`
    device_type: int = 0  # 0 is the CPU
    device_index: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """Dtype, shape and layout of a tensor, and where its data comes from."""

    dtype: DType
    sizes: tuple[int, ...]  # upper bounds when the shape is dynamic
    dim_order: tuple[int, ...]  # dimensions, outermost in memory first
    data_index: int = 0  # into Program.constants or mutable_data; 0 is none
    allocation: Allocation | None = None
    dynamism: str = "static"  # static, bounded, unbounded
    extra: ExtraInfo | None = None
    storage_offset: int = 0
    requires_grad: bool = False
    layout: int = 0

    @property
    def numel(self) -> int:
        return math.prod(self.sizes)

    @property
    def nbytes(self) -> int:
        return self.numel * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        return tensors.strides(self.sizes, self.dim_order)

    @property
    def is_contiguous(self) -> bool:
        return self.dim_order == tensors.contiguous(len(self.sizes))

    @property
    def is_dynamic(self) -> bool:
        return self.dynamism != "static"

    @property
    def is_external(self) -> bool:
        return self.extra is not None and self.extra.external

    @property
    def is_constant(self) -> bool:
        """Its data is read-only, in the program."""
        return self.data_index > 0 and not self.is_external and self.allocation is None

    @property
    def has_initial_state(self) -> bool:
        """Planned memory that is filled from the program when the method is loaded."""
        return (
            self.data_index > 0 and not self.is_external and self.allocation is not None
        )

    @property
    def role(self) -> str:
        """Where its data comes from, in one word or two."""
        if self.is_external:
            return "external" if self.allocation is None else "external state"
        if self.data_index > 0:
            return "constant" if self.allocation is None else "state"
        return "unbound" if self.allocation is None else "planned"

    @property
    def name(self) -> str | None:
        return self.extra.name if self.extra is not None else None

    def __str__(self) -> str:
        text = f"{self.dtype.label}{tensors.shape_text(self.sizes)}"
        if not self.is_contiguous:
            text += f" order {tensors.shape_text(self.dim_order)}"
        return text + (f" {self.dynamism}" if self.is_dynamic else "")


Value = (
    Null
    | Int
    | Bool
    | Double
    | Tensor
    | String
    | IntList
    | DoubleList
    | BoolList
    | TensorList
    | OptionalTensorList
)

# ---- instructions ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KernelCall:
    """Calls an operator's kernel."""

    op_index: int  # into Method.operators
    args: tuple[int, ...]  # schema order with outs, then the return once more

    @property
    def result(self) -> int:
        """The value that it returns; of an operator without a return, the last one."""
        return self.args[-1]


@dataclass(frozen=True, slots=True)
class DelegateCall:
    """Has a backend execute a delegate."""

    delegate_index: int  # into Method.delegates
    args: tuple[int, ...]  # inputs, then outputs


@dataclass(frozen=True, slots=True)
class MoveCall:
    """Copies a value to another."""

    move_from: int
    move_to: int


@dataclass(frozen=True, slots=True)
class JumpFalseCall:
    """Continues at `target` if the condition is false."""

    condition: int
    target: int  # instruction index; the number of instructions is the end


@dataclass(frozen=True, slots=True)
class FreeCall:
    """Ends the life of a tensor's memory."""

    value: int


Instruction = KernelCall | DelegateCall | MoveCall | JumpFalseCall | FreeCall


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the Python stack that an instruction came from."""

    filename: str
    line: int
    name: str
    context: str


@dataclass(frozen=True)
class Chain:
    """Instructions in order, as the exporter's list of a method."""

    instructions: tuple[Instruction, ...]
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    stacktrace: tuple[tuple[Frame, ...], ...] | None = None  # one per instruction

    def rewritten(
        self, instructions: Iterable[Instruction], origins: Sequence[int]
    ) -> Chain:
        """With other instructions; each keeps the frames of that which it stems from.

        `origins` are indices of this chain's instructions, one for each new one.
        """
        trace = self.stacktrace
        return replace(
            self,
            instructions=tuple(instructions),
            stacktrace=None if trace is None else tuple(trace[n] for n in origins),
        )


# ---- methods -----------------------------------------------------------------------


@dataclass(frozen=True)
class Operator:
    """An operator that kernels compute, as PyTorch names it."""

    name: str  # such as aten::add
    overload: str  # such as out

    @property
    def full_name(self) -> str:
        """Such as aten::add.out."""
        return f"{self.name}.{self.overload}" if self.overload else self.name


@dataclass(frozen=True)
class CompileSpec:
    """An option that a backend was given at export."""

    key: str
    value: bytes


@dataclass(frozen=True)
class Delegate:
    """A part of the graph that a backend computes, with the payload it reads."""

    id: str  # backend id
    data: bytes
    inline: bool = False  # inside the FlatBuffer instead of a segment
    compile_specs: tuple[CompileSpec, ...] = ()


@dataclass(frozen=True)
class PlannedDevice:
    """The device that one of a method's planned buffers belongs to."""

    buffer_index: int
    device_type: int
    device_index: int


@dataclass(frozen=True)
class Containers:
    """How Python nests the inputs and outputs (JSON of a pytree)."""

    inputs: str
    outputs: str


@dataclass(frozen=True)
class Method:
    """An entry point of a program: its values, its instructions and its memory."""

    name: str
    values: tuple[Value, ...]
    inputs: tuple[int, ...]  # value indices
    outputs: tuple[int, ...]  # value indices
    chains: tuple[Chain, ...]
    operators: tuple[Operator, ...] = ()
    delegates: tuple[Delegate, ...] = ()
    planned_sizes: tuple[int, ...] = (0,)  # by memory id; [0] is reserved
    planned_devices: tuple[PlannedDevice, ...] = ()
    containers: Containers | None = None

    @functools.cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """Of all chains in a row; exporters write exactly one chain."""
        return tuple(
            instruction for chain in self.chains for instruction in chain.instructions
        )

    @property
    def is_constant(self) -> bool:
        """Whether it only returns constants: metadata, which no run needs."""
        return not self.inputs and not any(chain.instructions for chain in self.chains)

    @property
    def input_values(self) -> tuple[Value, ...]:
        return tuple(self.values[index] for index in self.inputs)

    @property
    def output_values(self) -> tuple[Value, ...]:
        return tuple(self.values[index] for index in self.outputs)

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return tuple(value for value in self.input_values if isinstance(value, Tensor))

    @property
    def output_tensors(self) -> tuple[Tensor, ...]:
        return tuple(value for value in self.output_values if isinstance(value, Tensor))

    @functools.cached_property
    def tensors(self) -> tuple[tuple[int, Tensor], ...]:
        """Every tensor with its value index."""
        values = enumerate(self.values)
        return tuple(
            (index, value) for index, value in values if isinstance(value, Tensor)
        )

    @functools.cached_property
    def operator_names(self) -> tuple[str, ...]:
        """Full names, by op_index."""
        return tuple(operator.full_name for operator in self.operators)

    def name_of(self, instruction: Instruction) -> str:
        """The operator, the backend, or what kind of instruction it is."""
        if isinstance(instruction, KernelCall):
            return self.operator_names[instruction.op_index]
        if isinstance(instruction, DelegateCall):
            return self.delegates[instruction.delegate_index].id
        names = {MoveCall: "move", JumpFalseCall: "jump if false", FreeCall: "free"}
        return names[type(instruction)]

    @property
    def planned_bytes(self) -> int:
        return sum(self.planned_sizes)

    def kernel_calls(self) -> Iterator[tuple[int, str, KernelCall]]:
        """Instruction index, full operator name, call."""
        for index, instruction in enumerate(self.instructions):
            if isinstance(instruction, KernelCall):
                yield index, self.operator_names[instruction.op_index], instruction

    def int_list(self, value: IntList) -> tuple[int, ...] | None:
        """The integers as the program states them; None when one is not an Int."""
        items = tuple(self.values[index] for index in value.items)
        numbers = tuple(item.value for item in items if isinstance(item, Int))
        return numbers if len(numbers) == len(items) else None

    def used_values(self) -> frozenset[int]:
        """Values that instructions, inputs and outputs refer to, via lists too."""
        used: set[int] = set()
        for index in self._mentioned():
            used.add(index)
            value = self.values[index]
            if isinstance(value, IntList | TensorList | OptionalTensorList):
                used.update(item for item in value.items if item >= 0)
        return frozenset(used)

    def _mentioned(self) -> Iterator[int]:
        yield from self.inputs
        yield from self.outputs
        for instruction in self.instructions:
            match instruction:
                case KernelCall(args=args) | DelegateCall(args=args):
                    yield from args
                case MoveCall(source, target):
                    yield from (source, target)
                case JumpFalseCall(condition=value) | FreeCall(value=value):
                    yield value


@dataclass(frozen=True)
class Program:
    """All that a .pte contains."""

    methods: tuple[Method, ...]
    constants: tuple[Data, ...] = (b"",)  # by Tensor.data_index; [0] is unused
    mutable_data: tuple[tuple[Data, ...], ...] = ()  # by segment, then data_index
    named_data: tuple[NamedData, ...] = ()
    version: int = 0
    layout: Layout = field(default=Layout(), compare=False, repr=False)
    # Argument lists of calls in its file that are not those of their operators, which
    # calls have here (kernels/schemas.py): operator, number.
    earlier: frozenset[tuple[str, int]] = field(
        default=frozenset(), compare=False, repr=False
    )

    def method(self, name: str) -> Method | None:
        return next((method for method in self.methods if method.name == name), None)

    def data_of(self, tensor: Tensor) -> Data | None:
        """The bytes the program holds for a tensor: a constant, or an initial state."""
        if tensor.is_constant:
            return self.constants[tensor.data_index][: tensor.nbytes]
        if tensor.has_initial_state:
            segment = tensor.extra.mutable_segment if tensor.extra is not None else 0
            return self.mutable_data[segment][tensor.data_index][: tensor.nbytes]
        return None

    def used_constants(self) -> frozenset[int]:
        """Data indices of the constants that an instruction or an output uses."""
        return frozenset(
            value.data_index
            for method in self.methods
            for index in method.used_values()
            if isinstance(value := method.values[index], Tensor) and value.is_constant
        )

    def unused_constants(self) -> tuple[int, ...]:
        """Data indices of the constants that no instruction uses."""
        used = self.used_constants()
        every = range(1, len(self.constants))
        return tuple(index for index in every if index not in used)
