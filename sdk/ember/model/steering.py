"""The `memory:` section of ember.yaml becomes the user's wishes for memory placement.

memory:
  place:                         # the memory, or memories, that it may be placed in
    inputs: dtcm                 # a class: one of CLASSES
    constants: [flash, sram]
    aten::softmax.out: dtcm      # the outputs of an operator
    forward/12: sram             # METHOD/VALUE or MODEL/METHOD/VALUE
    kv_cache: sram               # a tensor, by its name in the program
  reserve: {dtcm: 64K}           # bytes that are left to the application
  forbid: [ddr]                  # memories that models must not use
  align: 32                      # alignment in bytes of written memory; or by class
  exclusive: [[ears, eyes/scan]] # MODEL or MODEL/METHOD that never run together
  code: {itcm: ["*conv*"]}       # kernels, by name or operator, that run there
  reload: true                   # methods are loaded again later: keep their payloads
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from ember.boards import Board, Memory, Role
from ember.errors import SdkError, problem_list
from ember.model import Model
from ember.program import Method, types
from ember.program.types import ALIGN

# The role that a memory must have to hold each class.
CLASSES: dict[str, Role] = {
    "activations": "planned",
    "inputs": "planned",
    "outputs": "planned",
    "constants": "weights",
    "scratch": "temp",
    "arena": "method",
    "stack": "stack",
}
MOST_ALIGN = 4096
_MOVES_CODE = "cortexm"  # the port whose start-up code copies and whose scripts place


@dataclass(frozen=True)
class Steering:
    place: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reserve: Mapping[str, int] = field(default_factory=dict)
    forbid: tuple[str, ...] = ()
    align: Mapping[str, int] = field(default_factory=dict)  # by class
    exclusive: tuple[tuple[str, ...], ...] = ()  # groups of models and methods
    reload: bool = False
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by memory

    def __bool__(self) -> bool:
        rules = (self.place, self.reserve, self.forbid, self.align, self.exclusive)
        return any(rules)

    def key(self) -> list[object]:
        """All of it, for a hash."""
        tables = (self.place, self.reserve, self.align, self.code)
        lists = [list(self.forbid), list(self.exclusive)]
        return [*(sorted(table.items()) for table in tables), *lists, self.reload]

    def align_of(self, kind: str) -> int:
        return self.align.get(kind, ALIGN)

    def wishes(
        self, model: Model, method: Method, values: Iterable[int]
    ) -> tuple[str, ...]:
        """The keys of `place` that match a storage of these values; its class first."""
        inside = set(values)
        kind = "activations"
        if inside & set(method.inputs):
            kind = "inputs"
        elif inside & set(method.outputs):
            kind = "outputs"
        named = (
            word
            for word in self.place
            if word not in CLASSES and inside & set(_values(word, model, method))
        )
        return (kind, *named)

    def check(self, board: Board, models: Sequence[Model]) -> None:
        """Raise an SdkError that names all that the board or the models do not have."""
        problems = [*self._of_memories(board), *self._of_words(models)]
        problems += self._of_groups(models)
        if problems:
            raise SdkError(
                problem_list("the project's memory rules are wrong", problems),
                hint=f"memories of {board.name}:"
                f" {', '.join(memory.name for memory in board.memories)}",
            )

    def groups(self, models: Sequence[Model]) -> tuple[frozenset[tuple[int, str]], ...]:
        """The groups of `exclusive`, as pairs of model number and method."""
        return tuple(
            frozenset(method for word in group for method in _methods(word, models))
            for group in self.exclusive
        )

    def _of_groups(self, models: Sequence[Model]) -> Iterator[str]:
        known = [model.name for model in models]
        known += [
            f"{m.name}/{method.name}" for m in models for method in m.program.methods
        ]
        seen: set[tuple[int, str]] = set()
        for group in self.exclusive:
            if len(group) < 2:
                yield (
                    f"exclusive: {', '.join(group) or 'a group'} has no other member:"
                    " name at least two that never run together"
                )
            for word in group:
                methods = _methods(word, models)
                if not methods:
                    yield (
                        f"exclusive: {word} is neither a model nor MODEL/METHOD"
                        f"{_near(word, known)}"
                    )
                if seen & methods:
                    yield (
                        f"exclusive: {word} is named twice: remove one, or merge the"
                        " groups"
                    )
                seen |= methods

    def _of_memories(self, board: Board) -> Iterator[str]:
        sizes = {memory.name: memory.size for memory in board.memories}
        named = [
            (f"place: {word}", memory)
            for word in self.place
            for memory in self.place[word]
        ]
        named += [("reserve", memory) for memory in self.reserve]
        named += [("forbid", memory) for memory in self.forbid]
        named += [("code", memory) for memory in self.code]
        yield from (
            f"{where}: board {board.name} has no memory {memory}{_near(memory, sizes)}"
            for where, memory in named
            if memory not in sizes
        )
        for memory_name, size in self.reserve.items():
            if memory_name in sizes and size > sizes[memory_name]:
                room = sizes[memory_name]
                yield f"reserve: {memory_name} has {room:,} bytes, not {size:,}"
        for memory_name in self.code:
            if memory_name in sizes:
                yield from _unable_to_run(board, memory_name)
        for word, memories in self.place.items():
            role = CLASSES.get(word, "planned")
            for memory_name in memories:
                if memory_name in sizes and memory_name not in self.forbid:
                    yield from _unable(board, word, memory_name, role)
            if set(memories) <= set(self.forbid):
                yield f"place: {word} allows only memories that `forbid` excludes"
        for role in dict.fromkeys(CLASSES.values()):
            holders = {memory.name for memory in board.memories_for(role)}
            if holders and holders <= set(self.forbid):
                yield f"forbid: no memory is left that can hold {role}"

    def _of_words(self, models: Sequence[Model]) -> Iterator[str]:
        for word in self.place:
            if word in CLASSES:
                continue
            pairs = (
                (model, method) for model in models for method in model.program.methods
            )
            if not any(_values(word, *pair) for pair in pairs):
                yield (
                    f"place: {word} is not a class, operator, name or METHOD/VALUE of"
                    f" planned memory{_near(word, CLASSES)}"
                )


def _unable(board: Board, word: str, memory: str, role: Role) -> Iterator[str]:
    holders = {holder.name for holder in board.memories_for(role)}
    if word == "constants":  # read in place, or copied to RAM
        holders |= {holder.name for holder in board.memories_for("planned")}
    if memory not in holders:
        able = ", ".join(sorted(holders)) or "none"
        yield f"place: {word} cannot go in {memory}, only in {able}"


def memories_of_code(board: Board) -> list[Memory]:
    """Those that `code` may name; none where Ember does not place code."""
    able = [*board.memories_for("kernels"), *board.memories_for("code")]
    named = {memory.name: memory for memory in able}
    return list(named.values()) if board.port == _MOVES_CODE else []


def _unable_to_run(board: Board, memory: str) -> Iterator[str]:
    """Why kernels cannot be moved to a memory: its own roles, or the board's port."""
    names = [holder.name for holder in memories_of_code(board)]
    if board.port != _MOVES_CODE:
        yield (
            f"code: all code of {board.name} runs from one memory, so no kernel can be"
            " moved; leave `code` out of ember.yaml, or use it with a Cortex-M board"
        )
    elif memory not in names:
        yield (
            f"code: {memory} does not hold code; {', '.join(names)} can. A memory that"
            " runs code has `access: rwx` and `kernels` in `holds` of the board's file"
        )


def _methods(word: str, models: Sequence[Model]) -> set[tuple[int, str]]:
    """The methods named by MODEL or MODEL/METHOD, or METHOD if there is one model."""
    return {
        (number, method.name)
        for number, model in enumerate(models)
        for method in model.program.methods
        if word in (model.name, f"{model.name}/{method.name}")
        or (len(models) == 1 and word == method.name)
    }


def _near(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f": did you mean {near[0]}?" if near else ""


def _values(word: str, model: Model, method: Method) -> list[int]:
    """The planned values of a method that `word` refers to."""
    parts = word.rsplit("/", 2)
    if "::" in word:
        named = [call.result for _, name, call in method.kernel_calls() if name == word]
    elif len(parts) > 1 and parts[-1].isdecimal():
        of = [model.name, method.name][-len(parts) + 1 :]
        named = [int(parts[-1])] if parts[:-1] == of else []
    else:
        named = [n for n, tensor in method.tensors if tensor.name == word]
    return [n for n in _flat(method, named) if _is_planned(method, n)]


def _flat(method: Method, values: Iterable[int]) -> Iterator[int]:
    for index in values:
        if index < len(method.values):
            value = method.values[index]
            if isinstance(value, types.TensorList):
                yield from value.items
            else:
                yield index


def _is_planned(method: Method, index: int) -> bool:
    value = method.values[index]
    return isinstance(value, types.Tensor) and value.allocation is not None
