"""Frames and calls become the most of the stack that a firmware can use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ember.errors import SdkError
from ember.firmware.stack import code
from ember.firmware.stack.calls import Callee, Calls
from ember.firmware.stack.code import CodeObjects, Members, Place, is_core
from ember.firmware.stack.walk import StackFrame, UnknownStackError


class StackError(SdkError):
    """The stack has no bound, or too little room."""


class UnknownBoundError(StackError):
    """Nobody can read a bound from the instructions: their user may state a size."""

    def __init__(self, message: str, path: str, *, is_missing: bool = False) -> None:
        remedy = "or state it, without a proof: --stack BYTES, or `stack: BYTES` in"
        remedy += " ember.yaml"
        if is_missing:
            remedy = (
                "add the file that defines it: --app takes several, as `app:` in"
                " ember.yaml does, and a kernels.yaml has `sources:`"
            )
        super().__init__(message, hint=f"call path: {path}; {remedy}")


@dataclass(frozen=True)
class CallDepth:
    """A function on the deepest path, and its part of the stack in bytes."""

    function: str
    bytes: int


@dataclass(frozen=True)
class HandlerLevel:
    """What the deepest handler of one priority adds to a stack."""

    handler: str
    priority: int | None
    bytes: int  # of its calls, and what the hardware pushes before
    path: tuple[CallDepth, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "handler": self.handler,
            "priority": self.priority,
            "bytes": self.bytes,
            "path": _steps(self.path),
        }


@dataclass(frozen=True)
class Bound:
    bytes: int  # of calls from the entry
    exception: int  # that an exception adds to it
    path: tuple[CallDepth, ...]
    functions: int  # that can be reached
    others: dict[str, tuple[int, int]] = field(default_factory=dict)  # need, room
    levels: tuple[HandlerLevel, ...] = ()  # of the application's handlers that may nest
    tasks: dict[str, int] = field(default_factory=dict)  # of functions, by themselves

    @property
    def handlers(self) -> int:
        return sum(level.bytes for level in self.levels)

    @property
    def total(self) -> int:
        return self.bytes + self.handlers + self.exception

    def deeper(self, what: str, size: int) -> Bound:
        """With `size` bytes more that any function on the path may use."""
        path = (*self.path, CallDepth(what, size))
        return replace(self, bytes=self.bytes + size, path=path)

    def to_json(self) -> dict[str, Any]:
        return {
            "bound": self.total,
            "calls": self.bytes,
            "handlers": self.handlers,
            "levels": [level.to_json() for level in self.levels],
            "exception": self.exception,
            "path": _steps(self.path),
            "functions": self.functions,
            "tasks": [
                {"function": name, "bytes": size} for name, size in self.tasks.items()
            ],
            "others": [
                {"stack": name, "bound": need, "size": room}
                for name, (need, room) in self.others.items()
            ],
        }

    def path_text(self) -> str:
        return " > ".join(f"{step.function} {step.bytes}" for step in self.path)


def _steps(path: Iterable[CallDepth]) -> list[dict[str, object]]:
    return [{"function": step.function, "bytes": step.bytes} for step in path]


@dataclass(frozen=True)
class _Need:
    bytes: int
    path: tuple[CallDepth, ...]


class CallGraph:
    """The calls of a firmware from its entry and its exception handlers."""

    def __init__(self, members: Members) -> None:
        kind = code.machine(members.objects[0].file.machine)
        assert kind is not None
        self.members = members
        self.code = CodeObjects(members, kind)
        self.calls = Calls(self.code, members.kept)
        self.reached: dict[Place, StackFrame] = {}
        self._others: dict[str, _Need] = {}
        self._needs: dict[tuple[Place, str | None], _Need] = {}
        self._active: list[tuple[Place, str | None]] = []
        self._pointing: dict[Place, bool] = {}

    def bound(self, handlers: Sequence[Place], exception: int, main: str) -> Bound:
        """The bound from the entry, with one exception of `exception` bytes.

        `handlers` run at exceptions. `main` names the stack that the entry changes to,
        "" when it starts on it. StackError.
        """
        entry = self.members.named(self.members.entry)
        if entry is None:
            raise StackError(f"the firmware has no entry '{self.members.entry}'")
        first = self._need(entry, None)
        needs = [self._need(handler, None) for handler in handlers]
        need = self._others.pop(main, first) if main else first
        extra = exception + max((path_need.bytes for path_need in needs), default=0)
        others = {
            name: (other.bytes, self.code.stacks.get(name, 0))
            for name, other in self._others.items()
        }
        for name, (used, room) in others.items():
            if room and used > room:
                path = Bound(0, 0, self._others[name].path, 0).path_text()
                raise StackError(
                    f"the stack '{name}' has {room:,} bytes, but its handlers need"
                    f" {used:,}: {path}"
                )
        return Bound(need.bytes, extra, need.path, len(self.reached), others)

    def add_stack(self, handler: Place, stack: str) -> None:
        """`handler` begins on `stack`, a name of one that the entry changes to."""
        need = self._need(handler, None)
        known = self._others.get(stack)
        if known is None or need.bytes > known.bytes:
            self._others[stack] = need

    def need(self, place: Place) -> tuple[int, tuple[CallDepth, ...]]:
        """What a call of a function takes, and its deepest path."""
        need = self._need(place, None)
        return need.bytes, need.path

    # ---- one function ------------------------------------------------------------

    def _need(self, place: Place, owner: str | None) -> _Need:
        """What a call of `place` needs; `owner` is the kernel that it works for."""
        if owner is not None and not self._has_pointers(place):
            owner = None
        key = place, owner
        if key not in self._needs:
            if key in self._active:
                raise self._recursion(key)
            self._active.append(key)
            self._needs[key] = self._computed(place, owner)
            self._active.pop()
        return self._needs[key]

    def _computed(self, place: Place, owner: str | None) -> _Need:
        name = self.code.name(place)
        frame = self._frame(place)
        deepest = {
            which: _Need(depth, (CallDepth(name, depth),))
            for which, depth in frame.depths.items()
        }
        for which, depth, callee in self._callees(place, frame, owner):
            below = self._need(callee.place, callee.owner)
            known = deepest.get(which)
            if known is None or depth + below.bytes > known.bytes:
                path = (CallDepth(name, depth), *below.path)
                deepest[which] = _Need(depth + below.bytes, path)
        for which, need in deepest.items():
            known = self._others.get(which)
            if which and (known is None or need.bytes > known.bytes):
                self._others[which] = need
        return deepest[""]

    def _frame(self, place: Place) -> StackFrame:
        try:
            frame = self.code.frame(place)
        except UnknownStackError as error:
            name = self.code.name(place)
            raise UnknownBoundError(
                f"the stack use of '{name}' is unknown: {error}",
                self._reached_by(),
                is_missing=error.is_missing,
            ) from None
        self.reached[place] = frame
        return frame

    def _callees(
        self, place: Place, frame: StackFrame, owner: str | None
    ) -> Iterable[tuple[str, int, Callee]]:
        for (which, target), depth in frame.calls.items():
            yield which, depth, Callee(target, owner)
        for (which, _, field_at), depth in frame.pointers.items():
            callees = self.calls.of(place, owner, field_at)
            if callees is None:
                raise UnknownBoundError(
                    f"'{self.code.name(place)}' calls through a function pointer"
                    " whose targets are unknown",
                    self._reached_by(),
                )
            for callee in callees:
                yield which, depth, callee

    def _has_pointers(self, place: Place) -> bool:
        """Whether a call by pointer, of a kernel's own, can be reached by calls."""
        has = self._pointing.get(place)
        if has is None:
            self._pointing[place] = False  # for a cycle; it is reported later
            frame = self._frame(place)
            has = bool(frame.pointers) and not is_core(place.object)
            for _, target in frame.calls:
                has = has or self._has_pointers(target)
            self._pointing[place] = has
        return has

    # ---- what is wrong -----------------------------------------------------------

    def _recursion(self, key: tuple[Place, str | None]) -> StackError:
        cycle = [*self._active[self._active.index(key) :], key]
        names = " > ".join(self.code.name(place) for place, _ in cycle)
        return UnknownBoundError(
            f"the stack is unbounded: a function may call itself: {names}",
            self._reached_by(),
        )

    def _reached_by(self) -> str:
        names = [self.code.name(place) for place, _ in self._active]
        return " > ".join(names)
