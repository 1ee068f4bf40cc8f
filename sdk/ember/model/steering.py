"""The `memory:` part of ember.yaml becomes what a user decides about places in memory.

memory:
  place:                         # the memory, or memories, that something may lie in
    inputs: dtcm                 # a class: one of CLASSES
    constants: [flash, sram]
    aten::softmax.out: dtcm      # what an operator writes
    forward/12: sram             # a value of a method, or MODEL/METHOD/VALUE
    kv_cache: sram               # a tensor by the name that the program gives it
  reserve: {dtcm: 64K}           # bytes that the application keeps
  forbid: [ddr]                  # memories that models keep out of
  align: 32                      # bytes, of all that is written; or by class
  exclusive: [[ears, eyes/scan]] # MODEL or MODEL/METHOD that never run together
  code: {itcm: [conv*]}          # kernels, by name or operator, that run there
  reload: true                   # methods are loaded again: their payloads stay
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from ember.boards import Board, Role
from ember.errors import SdkError, problem_list
from ember.model import Model
from ember.program import Method, types
from ember.program.types import ALIGN

# Classes, and the role that a memory must hold for each.
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
        """What `place` may say of a storage with these values; its class is first."""
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
        """SdkError that names everything which the board or the models do not have."""
        problems = [*self._of_memories(board), *self._of_words(models)]
        problems += self._of_groups(models)
        if problems:
            raise SdkError(
                problem_list("the project's memory rules are wrong", problems),
                hint=f"memories of {board.name}:"
                f" {', '.join(memory.name for memory in board.memories)}",
            )

    def groups(self, models: Sequence[Model]) -> tuple[frozenset[tuple[int, str]], ...]:
        """What `exclusive` names: methods by the number of their model."""
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
                    f"exclusive: {', '.join(group) or 'a group'} stands alone: name"
                    " at least two that never run together"
                )
            for word in group:
                found = _methods(word, models)
                if not found:
                    yield (
                        f"exclusive: {word} is neither a model nor MODEL/METHOD"
                        f"{_near(word, known)}"
                    )
                if seen & found:
                    yield (
                        f"exclusive: {word} is named twice: remove one, or merge the"
                        " groups"
                    )
                seen |= found

    def _of_memories(self, board: Board) -> Iterator[str]:
        sizes = {memory.name: memory.size for memory in board.memories}
        named = [
            (f"place: {word}", one) for word in self.place for one in self.place[word]
        ]
        named += [("reserve", one) for one in self.reserve]
        named += [("forbid", one) for one in self.forbid]
        named += [("code", one) for one in self.code]
        yield from (
            f"{where}: board {board.name} has no memory {one}{_near(one, sizes)}"
            for where, one in named
            if one not in sizes
        )
        for one, size in self.reserve.items():
            if one in sizes and size > sizes[one]:
                yield f"reserve: {one} has {sizes[one]:,} bytes, not {size:,}"
        for one in self.code:
            if one in sizes:
                yield from _unable_to_run(board, one)
        for word, memories in self.place.items():
            role = CLASSES.get(word, "planned")
            for one in memories:
                if one in sizes and one not in self.forbid:
                    yield from _unable(board, word, one, role)
            if set(memories) <= set(self.forbid):
                yield f"place: {word} allows only memories that `forbid` excludes"
        for role in dict.fromkeys(CLASSES.values()):
            holders = {one.name for one in board.memories_for(role)}
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
    holders = {one.name for one in board.memories_for(role)}
    if word == "constants":  # used in place, or copied
        holders |= {one.name for one in board.memories_for("planned")}
    if memory not in holders:
        able = ", ".join(sorted(holders)) or "none"
        yield f"place: {word} cannot go in {memory}, only in {able}"


def _unable_to_run(board: Board, memory: str) -> Iterator[str]:
    """Why kernels cannot be moved to a memory: its own roles, or the board's port."""
    able = [*board.memories_for("kernels"), *board.memories_for("code")]
    names = list(dict.fromkeys(one.name for one in able))
    if board.port not in ("cortexm", "a64"):
        yield f"code: Ember does not place the code of {board.name}"
    elif memory not in names:
        yield (
            f"code: {memory} does not hold code; {', '.join(names)} can. A memory that"
            " runs code has `access: rwx` and `kernels` in `holds` of the board's file"
        )


def _methods(word: str, models: Sequence[Model]) -> set[tuple[int, str]]:
    """The methods that MODEL or MODEL/METHOD means, of one model METHOD too."""
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
    """The planned values of a method that a word is about."""
    parts = word.rsplit("/", 2)
    if "::" in word:
        found = [one.args[-1] for _, name, one in method.kernel_calls() if name == word]
    elif len(parts) > 1 and parts[-1].isdecimal():
        of = [model.name, method.name][-len(parts) + 1 :]
        found = [int(parts[-1])] if parts[:-1] == of else []
    else:
        found = [n for n, one in method.tensors if one.name == word]
    return [n for n in _flat(method, found) if _is_planned(method, n)]


def _flat(method: Method, values: Iterable[int]) -> Iterator[int]:
    for index in values:
        if index < len(method.values):
            one = method.values[index]
            if isinstance(one, types.TensorList):
                yield from one.items
            else:
                yield index


def _is_planned(method: Method, index: int) -> bool:
    one = method.values[index]
    return isinstance(one, types.Tensor) and one.allocation is not None
