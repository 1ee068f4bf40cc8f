"""Calls through pointers: which functions each may reach.

The runtime's own calls are few, and of known kinds: a kernel is prepared and run, a
backend is started. They are listed here by the function that makes them; one that is
not listed is an error. A kernel's own pointers can only hold what the kernel and the
engines below it take the address of, an application's what it does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ember import elf
from ember.stack.code import Objects
from ember.stack.members import Place, is_core
from ember.stack.objects import Object

# The words of the runtime's structures that hold functions, by what these are.
_CHANGING = dict(
    enumerate(
        (
            "load_values",
            "load_call",
            "load_other",
            "source",
            "tensor",
            "reshape",
            "unload",
        )
    )
)
_KERNEL = {0: "prepare", 1: "run"}
_BACKEND = {1: "init", 2: "execute", 3: "destroy"}
_WORDS: Mapping[str, int] = {
    "step": 0,
    "read": 0,
    "volatile": 2,
    **{
        role: word
        for words in (_CHANGING, _KERNEL, _BACKEND)
        for word, role in words.items()
    },
}
_FAR = 7  # words; what is not in the list lies further behind in its structure

# What a function of the runtime calls, with all that a compiler may move into it; the
# word of the pointer must agree.
_LOADING = ("prepare", "load_values", "load_call", "load_other", "unload", "init")
_CORE: Mapping[str, tuple[str, ...]] = {
    "ember_method_execute": ("step",),
    "ember_method_execute_traced": ("step", "callback"),
    "run_traced": ("step", "callback"),
    "ember_run_volatile": ("volatile", "prepare"),
    "prepare_again": ("prepare",),
    "ember_node_prepare": ("prepare",),
    "ember_method_load_fixed": ("prepare",),
    "ember_volatile_load": ("prepare",),
    "ember_method_load": _LOADING,
    "load": _LOADING,
    "load_all": _LOADING,
    "load_kernel": _LOADING,
    "ember_method_load_step": _LOADING,
    "ember_method_load_delegate": ("init",),
    "load_other": ("init",),
    "start": ("init",),
    "ember_method_unload": ("destroy",),
    "run_delegate": ("execute",),
    "ember_loader_read_all": ("read",),
    "read_all": ("read",),
}
# What any of them may call: how to look at a value.
_ANYWHERE = ("source", "tensor", "reshape", "find")
# Functions that the runtime itself takes the address of.
_OWN = {
    "ember_run_volatile": "step",
    "run_delegate": "step",
    "run_move": "step",
    "run_jump": "step",
    "run_nothing": "step",
    "find_data": "find",
    "read_memory": "read",
    "read_file": "read",
}


@dataclass(frozen=True)
class Callee:
    place: Place
    owner: str | None = None  # the kernel or backend whose pointers it may use


class Calls:
    """The functions that each call through a pointer may reach."""

    def __init__(self, code: Objects, kept: Iterable[tuple[Object, int]]) -> None:
        self.code = code
        self.kept = list(kept)
        self._of_owner: dict[str, tuple[Place, ...]] = {}
        self.roles: dict[str, list[Callee]] = {}
        self._find_descriptors("ember_kernel_", _KERNEL)
        self._find_descriptors("ember_backend_", _BACKEND)
        self._find_descriptors("ember_changing", _CHANGING)
        self._find_own()

    def of(
        self, caller: Place, owner: str | None, field_at: int | None
    ) -> list[Callee] | None:
        """What a pointer of `caller` may call; None: nothing says which.

        `field_at` is the pointer's place in its structure, in bytes, if it is known.
        """
        if is_core(caller.object):
            return self._of_core(self.code.name(caller).partition(".")[0], field_at)
        if owner is not None:
            return [Callee(place, owner) for place in self._of_owner[owner]]
        # Where nobody takes an address, all the pointers are NULL.
        return [Callee(place) for place in self._of_application]

    def _of_core(self, name: str, field_at: int | None) -> list[Callee] | None:
        roles = _CORE.get(name, ())
        if field_at is not None:
            word = field_at // self.code.machine.pointer_bytes
            roles = (*roles, *_ANYWHERE)
            roles = tuple(role for role in roles if _is_at(role, word))
        found = [one for role in roles for one in self._in_role(role)]
        return found if roles else None

    def _in_role(self, role: str) -> list[Callee]:
        found = list(self.roles.get(role, []))
        if role in ("step", "volatile"):
            found += self.roles.get("run", [])
        if role in ("callback", "find", "read"):
            found += [Callee(place) for place in self._of_application]
        return found

    def _find_descriptors(self, prefix: str, words: Mapping[int, str]) -> None:
        size = self.code.machine.pointer_bytes
        for one, section in self.kept:
            for at, name in one.labels.get(section, []):
                if not name.startswith(prefix) or _is_code(one, section):
                    continue
                if not is_core(one):
                    self._of_owner[name] = self._taken_by(one, section)
                for word, role in words.items():
                    place = self._pointer(one, section, at + word * size)
                    if place is not None:
                        callee = Callee(place, None if is_core(one) else name)
                        self.roles.setdefault(role, []).append(callee)

    def _pointer(self, one: Object, section: int, at: int) -> Place | None:
        return self.code.function(self.code.address(one, section, at))

    def _taken_by(self, one: Object, section: int) -> tuple[Place, ...]:
        """Functions whose address is taken below a descriptor, not by itself."""
        below = self.code.members.reached([(one, section)], core=False)
        found: dict[Place, None] = {}
        for key in below:
            if key != (one, section):
                found |= self._taken(*key)
        return tuple(found)

    def _taken(self, one: Object, section: int) -> dict[Place, None]:
        found: dict[Place, None] = {}
        for at in one.relocations.get(section, {}):
            place = self._pointer(one, section, at)
            names = place.object.functions if place else {}
            if place and (place.section, place.offset) in names:
                found[place] = None
        return found

    def _find_own(self) -> None:
        for one, section in self.kept:
            for place in self._taken(one, section) if is_core(one) else ():
                role = _OWN.get(self.code.name(place).partition(".")[0])
                if role is not None:
                    self.roles.setdefault(role, []).append(Callee(place))

    @functools.cached_property
    def _of_application(self) -> tuple[Place, ...]:
        """What objects outside of libraries take the address of, but no vectors."""
        found: dict[Place, None] = {}
        for one, section in self.kept:
            name = one.section(section).name
            if one.archive is None and not name.startswith(".ember_vectors"):
                found |= self._taken(one, section)
        return tuple(found)


def _is_at(role: str, word: int) -> bool:
    return (
        word == _WORDS[role] if role in _WORDS else role == "callback" or word >= _FAR
    )


def _is_code(one: Object, section: int) -> bool:
    return bool(one.section(section).flags & elf.SHF_EXECINSTR)
