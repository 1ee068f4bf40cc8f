"""Program -> its contradictions, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ember.files import tensors
from ember.program.types import (
    Bool,
    Chain,
    DelegateCall,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    Null,
    OptionalTensorList,
    Program,
    Tensor,
    TensorList,
)

_MOST_BYTES = 2**63 - 1


def problems(program: Program) -> list[str]:
    """Every contradiction; empty when the program is sound."""
    texts = [] if program.methods else ["the program has no method"]
    names: set[str] = set()
    for method in program.methods:
        if method.name in names:
            texts.append(f"two methods have the name {method.name!r}")
        names.add(method.name)
        texts += (
            f"method {method.name!r}: {problem}" for problem in _method(program, method)
        )
    texts += _repeated_keys(program)
    return texts


def _repeated_keys(program: Program) -> Iterator[str]:
    keys: set[str] = set()
    for entry in program.named_data:
        if entry.key in keys:
            yield f"two entries of named data have the key {entry.key!r}"
        keys.add(entry.key)


def _method(program: Program, method: Method) -> Iterator[str]:
    if not method.chains:
        yield "it has no instruction chain"
    yield from _outside("inputs", method.inputs, len(method.values))
    yield from _outside("outputs", method.outputs, len(method.values))
    for memory_id, size in enumerate(method.planned_sizes):
        if size < 0:
            yield f"planned memory {memory_id} has {size} bytes"
    for device in method.planned_devices:
        if not 0 <= device.buffer_index < len(method.planned_sizes):
            yield (
                f"a device is given for buffer {device.buffer_index}, which does"
                " not exist"
            )
    for index, value in enumerate(method.values):
        for problem in _value(program, method, value):
            yield f"value {index}: {problem}"
    for chain in method.chains:
        yield from _chain(method, chain)


def _outside(what: str, indices: Iterable[int], count: int) -> Iterator[str]:
    for index in indices:
        if not 0 <= index < count:
            yield f"{what} name value {index}, but there are {count} values"


def _value(program: Program, method: Method, value: object) -> Iterator[str]:
    match value:
        case Tensor():
            yield from _tensor(program, method, value)
        case IntList(items):
            yield from _items(method, items, (Int,), "an int")
        case TensorList(items):
            yield from _items(method, items, (Tensor,), "a tensor")
        case OptionalTensorList(items):
            present = (item for item in items if item != -1)
            yield from _items(method, present, (Tensor, Null), "a tensor or none")
        case _:
            pass


def _items(
    method: Method, items: Iterable[int], kinds: tuple[type, ...], wanted: str
) -> Iterator[str]:
    for item in items:
        if not 0 <= item < len(method.values):
            yield f"its item {item} is not one of the {len(method.values)} values"
        elif not isinstance(method.values[item], kinds):
            kind = type(method.values[item]).__name__
            yield f"its item {item} is {kind}, not {wanted}"


def _tensor(program: Program, method: Method, tensor: Tensor) -> Iterator[str]:
    if any(size < 0 for size in tensor.sizes):
        yield f"its shape {tensors.shape_text(tensor.sizes)} has a negative size"
        return
    if not tensors.is_dim_order(tensor.dim_order, len(tensor.sizes)):
        yield (
            f"its dim order {tensors.shape_text(tensor.dim_order)} does not match the"
            f" shape {tensors.shape_text(tensor.sizes)}"
        )
    if tensor.nbytes > _MOST_BYTES:
        yield f"its shape {tensors.shape_text(tensor.sizes)} has too many elements"
        return
    if tensor.storage_offset != 0:
        yield f"its storage offset is {tensor.storage_offset}; only 0 is supported"
    if tensor.is_external:
        if not tensor.name:
            yield "its data is external, but it has no name"
    elif tensor.data_index > 0:
        yield from _data(program, tensor)
    yield from _allocation(method, tensor)


def _data(program: Program, tensor: Tensor) -> Iterator[str]:
    if tensor.is_constant:
        what, held = "constants", program.constants
    else:
        what, index = "initial states", 0
        if tensor.extra is not None:
            index = tensor.extra.mutable_segment
        if index >= len(program.mutable_data):
            yield (
                f"its initial state is in mutable segment {index}, which does not exist"
            )
            return
        held = program.mutable_data[index]
    if tensor.data_index >= len(held):
        yield f"it names data {tensor.data_index}, but there are {len(held)} {what}"
    elif len(held[tensor.data_index]) < tensor.nbytes:
        yield (
            f"it needs {tensor.nbytes} bytes, data {tensor.data_index} of the {what} "
            f"has {len(held[tensor.data_index])}"
        )


def _allocation(method: Method, tensor: Tensor) -> Iterator[str]:
    place = tensor.allocation
    if place is None:
        return
    if not 1 <= place.memory_id < len(method.planned_sizes):
        yield (
            f"it is planned in memory {place.memory_id}, but the method plans "
            f"{len(method.planned_sizes) - 1}"
        )
    elif place.offset + tensor.nbytes > method.planned_sizes[place.memory_id]:
        yield (
            f"it ends at byte {place.offset + tensor.nbytes} of memory "
            f"{place.memory_id}, which has {method.planned_sizes[place.memory_id]}"
        )


def _chain(method: Method, chain: Chain) -> Iterator[str]:
    yield from _outside("chain inputs", chain.inputs, len(method.values))
    yield from _outside("chain outputs", chain.outputs, len(method.values))
    for index, instruction in enumerate(chain.instructions):
        for problem in _instruction(method, chain, instruction):
            yield f"instruction {index}: {problem}"


def _instruction(
    method: Method, chain: Chain, instruction: Instruction
) -> Iterator[str]:
    count = len(method.values)
    match instruction:
        case KernelCall(operator, args):
            if not 0 <= operator < len(method.operators):
                yield f"operator {operator} is not one of {len(method.operators)}"
            yield from _outside("arguments", args, count)
        case DelegateCall(delegate, args):
            if not 0 <= delegate < len(method.delegates):
                yield f"delegate {delegate} is not one of {len(method.delegates)}"
            yield from _outside("arguments", args, count)
        case MoveCall(source, target):
            yield from _outside("its operands", (source, target), count)
        case JumpFalseCall(condition, target):
            yield from _jump(method, chain, condition, target)
        case FreeCall(value):
            yield from _outside("its operands", (value,), count)


def _jump(method: Method, chain: Chain, condition: int, target: int) -> Iterator[str]:
    if not 0 <= target <= len(chain.instructions):
        yield f"it jumps to {target}, past the {len(chain.instructions)} instructions"
    if not 0 <= condition < len(method.values):
        yield from _outside("its condition", (condition,), len(method.values))
    elif not isinstance(method.values[condition], Bool | Tensor):
        yield f"its condition, value {condition}, is neither a bool nor a tensor"
