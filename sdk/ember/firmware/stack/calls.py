"""Calls through pointers: which functions each may reach.

The runtime's own calls are few, and of known kinds: a kernel is prepared and run, a
backend is started. They are listed here by the function that makes them; one that is
not listed is an error. A kernel's own pointers can only hold what the kernel and the
engines below it take the address of, an application's what it does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ember.firmware.stack.code import CodeObjects, Place, is_core
from ember.toolchain import elf
from ember.toolchain.elf import Object

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
_DESCRIPTORS: Mapping[str, Mapping[int, str]] = {
    "ember_kernel_": _KERNEL,
    "ember_backend_": _BACKEND,
    "ember_changing": _CHANGING,
    "ember_schemas_": {0: "prepare_as"},
}
_STEPS = "ember_steps_"  # steps of prepared methods: pairs of run and state
_GRAPH = "ember_run_xnnpack"  # the run of a delegate's graph, which is its state
# Kernels that run nodes, but none of these (kernels/rows/rows_run.h).
_RUN_NODES = frozenset({"ember_run_rows", "ember_run_rows_dsp", "ember_run_rows_fed"})
_PART = "ember_xnnpack_"  # descriptors below a backend's
# Who calls the hooks of an application for nodes in delegates, and what sets them.
_HOOKED = "ember_backend_"
_SETS_HOOKS = ("ember_method_trace_delegates", "ember_etdump_execute")
# Who calls what the tables of models name.
_MODEL = {
    "ember_model_open_of": "ember_model_attach",
    "ember_model_load_of": "ember_model_lend",
    "ember_model_start": "ember_model_lend",
}
_WORDS: Mapping[str, int] = {
    "step": 0,
    "read": 0,
    "volatile": 2,
    "prepare_as": 0,
    "named": 3,
    "named_tensor": 4,
    "named_reshape": 5,
    **{
        role: word
        for words in (_CHANGING, _KERNEL, _BACKEND)
        for word, role in words.items()
    },
}
_FAR = 7  # words; what is not in the list lies further behind in its structure

# What a function of the runtime calls, with all that a compiler may move into it; the
# word of the pointer must agree.
_PREPARING = ("prepare", "prepare_as")
_LOADING = (*_PREPARING, "load_values", "load_call", "load_other", "unload", "init")
_CORE: Mapping[str, tuple[str, ...]] = {
    "ember_method_execute": ("step",),
    "ember_method_execute_traced": ("step", "callback"),
    "run_traced": ("step", "callback"),
    "ember_run_volatile": ("volatile", *_PREPARING),
    "prepare_again": _PREPARING,
    "ember_node_prepare": _PREPARING,
    "ember_node_try": ("prepare",),
    "ember_images_prepare": ("prepare",),
    "ember_schemas_prepare": ("prepare",),
    "ember_method_load_fixed": _PREPARING,
    "ember_volatile_load": _PREPARING,
    "ember_method_load": _LOADING,
    "load": _LOADING,
    "load_all": _LOADING,
    "begin_load": ("load_values",),
    "load_kernel": _LOADING,
    "ember_method_load_step": _LOADING,
    "ember_method_load_delegate": ("init",),
    "load_other": ("init",),
    "start": ("init",),
    "ember_method_unload": ("destroy",),
    "run_delegate": ("execute",),
    "ember_loader_read_all": ("read",),
    "read_all": ("read",),
    "ember_etdump_execute": ("step", "callback", "clock"),
    **dict.fromkeys(
        ("begin_instruction", "end_instruction", "begin_node", "end_node"), ("clock",)
    ),
    "flush": ("write",),
}
# What any of them may call: how to look at a value.
_ANYWHERE = ("source", "tensor", "reshape", "find")
# What stands before those of the method (schemas.c, images.c).
_NAMED = {
    "named_value": "named",
    "image_value": "named",
    "image_tensor": "named_tensor",
    "image_reshape": "named_reshape",
}
_BEHIND = {*_NAMED, "plain_tensor"}  # call those of the method, never one of these
# Functions that the runtime itself takes the address of.
_OWN = {
    "ember_run_volatile": "step",
    "run_delegate": "step",
    "run_move": "step",
    "run_jump": "step",
    "run_nothing": "step",
    **_NAMED,
    "find_data": "find",
    "read_memory": "read",
    "read_file": "read",
    "begin_instruction": "callback",
    "end_instruction": "callback",
    "begin_node": "hook",
    "end_node": "hook",
}
# What an application gives the runtime to call, wherever it is kept.
_GIVEN = ("callback", "clock", "write")


@dataclass(frozen=True)
class Callee:
    place: Place
    owner: str | None = None  # the kernel or backend whose pointers it may use


@dataclass(frozen=True)
class _Descriptor:
    """A constant of functions: a kernel, a backend, a part of one."""

    name: str
    object: Object
    section: int
    offset: int

    @property
    def key(self) -> tuple[Object, int]:
        return self.object, self.section


class Calls:
    """The functions that each call through a pointer may reach."""

    def __init__(self, code: CodeObjects, kept: Iterable[tuple[Object, int]]) -> None:
        self.code = code
        self.kept = list(kept)
        self.roles: dict[str, list[Callee]] = {}
        self.handlers: set[Place] = set()  # of exceptions; nothing else calls them
        self._of_owner: dict[str, list[Callee]] = {}
        # Without the tables of them.
        self._parts = {
            part.key: part
            for part in self._descriptors(_PART)
            if self._taken(*part.key)
        }
        for prefix, words in _DESCRIPTORS.items():
            for descriptor in self._descriptors(prefix):
                self._add_roles(descriptor, words)
                if not is_core(descriptor.object):
                    self._add_owner(descriptor)
        for table in self._descriptors(_STEPS):
            self._add_steps(table)
        self._find_own()

    def of(
        self, caller: Place, owner: str | None, field_at: int | None
    ) -> list[Callee] | None:
        """What a pointer of `caller` may call; None: nothing says which.

        `field_at` is the pointer's place in its structure, in bytes, if it is known.
        """
        if is_core(caller.object):
            return self._of_core(self.code.name(caller).partition(".")[0], field_at)
        if _RUN_NODES & caller.object.defined.keys():
            nodes = self.roles.get("run", [])
            return [n for n in nodes if not _RUN_NODES & n.place.object.defined.keys()]
        if owner is not None:
            hooks = self._in_role("hook") if self._has_hooks(owner) else []
            return [*self._of_owner[owner], *hooks]
        # Where nobody takes an address, all the pointers are NULL.
        model = _MODEL.get(self.code.name(caller))
        taken = self._of_application if model is None else self._of_models
        return [
            callee for callee in taken if model in (None, self.code.name(callee.place))
        ]

    def _has_hooks(self, owner: str) -> bool:
        """Whether a backend may call what an application set for nodes in delegates."""
        return owner.startswith(_HOOKED) and any(
            object_.functions.get((section, 0)) in _SETS_HOOKS
            for object_, section in self.kept
        )

    def _of_core(self, name: str, field_at: int | None) -> list[Callee] | None:
        roles = _CORE.get(name, ())
        if field_at is not None:
            word = field_at // self.code.machine.pointer_bytes
            roles = (*roles, *_ANYWHERE, *(() if name in _BEHIND else _NAMED.values()))
            roles = tuple(role for role in roles if _is_at(role, word))
        callees = [callee for role in roles for callee in self._in_role(role)]
        return callees if roles else None

    def _in_role(self, role: str) -> list[Callee]:
        callees = list(self.roles.get(role, []))
        if role in ("step", "volatile"):
            callees += self.roles.get("run", [])
        if role in (*_GIVEN, "find", "read", "hook"):
            callees += self._of_application
        return callees

    # ---- what there is -----------------------------------------------------------

    def _descriptors(self, prefix: str) -> Iterator[_Descriptor]:
        for object_, section in self.kept:
            if not _is_code(object_, section):
                for at, name in object_.labels.get(section, []):
                    if name.startswith(prefix):
                        yield _Descriptor(name, object_, section, at)

    def _add_roles(self, descriptor: _Descriptor, words: Mapping[int, str]) -> None:
        owner = None if is_core(descriptor.object) else descriptor.name
        for word, role in words.items():
            at = descriptor.offset + word * self.code.machine.pointer_bytes
            place = self._pointer(descriptor.object, descriptor.section, at)
            if place is not None:
                self.roles.setdefault(role, []).append(Callee(place, owner))

    def _add_steps(self, table: _Descriptor) -> None:
        """Each step as a kernel: it may use what its state names, and its run."""
        words = table.object.relocations.get(table.section, {})
        pointer = self.code.machine.pointer_bytes
        for at in sorted(at_word for at_word in words if at_word % (2 * pointer) == 0):
            run = self._pointer(table.object, table.section, at)
            if run is None:
                continue
            name = f"{table.name}+{at}"
            self.roles.setdefault("run", []).append(Callee(run, name))
            state = words.get(at + pointer)
            place = state and self.code.members.definition(table.object, state.symbol)
            if place and self.code.name(run) == _GRAPH:
                self._add_graph(name, place)
                continue
            start = [each for each in (run, place) if each]
            self._of_owner[name] = [
                Callee(taken, name) for taken in self._taken_from(start)
            ]

    def _add_graph(self, name: str, graph: Place) -> None:
        """Functions of nodes, which `graph` names: each may use what it takes, but none
        that of a node, which only the graph's run reads."""
        nodes = self._taken(graph.object, graph.section)
        self._of_owner[name] = []
        for number, node in enumerate(nodes):
            owner = f"{name}.{number}"
            self._of_owner[name].append(Callee(node, owner))
            self._of_owner[owner] = [
                Callee(taken, owner)
                for taken in self._taken_from([node])
                if taken not in nodes
            ]

    def _taken_from(self, start: Iterable[Place]) -> dict[Place, None]:
        """Functions whose address is taken in sections of `start` or below."""
        sections = [(place.object, place.section) for place in start]
        below = self.code.members.reached(sections, core=False)
        return {place: None for key in below for place in self._taken(*key)}

    def _add_owner(self, descriptor: _Descriptor) -> None:
        """Functions whose address is taken below a descriptor, not by itself.

        Parts of it have pointers of their own, and may use the others.
        """
        below = self._taken_below(descriptor)
        parts = [self._parts[key] for key in below if key in self._parts]
        places = {
            place: None
            for key in below
            if key not in self._parts and key != descriptor.key
            for place in self._taken(*key)
        }
        callees = [Callee(place, descriptor.name) for place in places]
        for part in parts:
            callees += [Callee(place, part.name) for place in self._taken(*part.key)]
            self._of_owner[part.name] = [
                Callee(place, part.name)
                for place in {**places, **self._below_part(part)}
            ]
        self._of_owner[descriptor.name] = callees

    def _taken_below(self, descriptor: _Descriptor) -> dict[tuple[Object, int], None]:
        return self.code.members.reached([descriptor.key], core=False, last=self._parts)

    def _below_part(self, part: _Descriptor) -> dict[Place, None]:
        others = {key for key in self._parts if key != part.key}
        below = self.code.members.reached([part.key], core=False, last=others)
        return {
            place: None
            for key in below
            if key not in self._parts
            for place in self._taken(*key)
        }

    def _pointer(self, object_: Object, section: int, at: int) -> Place | None:
        return self.code.function(self.code.address(object_, section, at))

    def _taken(self, object_: Object, section: int) -> dict[Place, None]:
        places: dict[Place, None] = {}
        for at in object_.relocations.get(section, {}):
            place = self._pointer(object_, section, at)
            names = place.object.functions if place else {}
            if place and (place.section, place.offset) in names:
                places[place] = None
        return places

    def _find_own(self) -> None:
        for object_, section in self.kept:
            for place in self._taken(object_, section) if is_core(object_) else ():
                role = _OWN.get(self.code.name(place).partition(".")[0])
                if role is not None:
                    self.roles.setdefault(role, []).append(Callee(place))

    @functools.cached_property
    def _of_application(self) -> list[Callee]:
        return [
            callee
            for callee in self._of_objects
            if callee not in self._of_models and callee.place not in self.handlers
        ]

    @functools.cached_property
    def _of_models(self) -> list[Callee]:
        """Parts of the models' code that their tables name."""
        names = _MODEL.values()
        return [
            callee
            for callee in self._of_objects
            if self.code.name(callee.place) in names
        ]

    @functools.cached_property
    def _of_objects(self) -> list[Callee]:
        """What objects outside of libraries take the address of.

        The vectors do not count, nor do kernels and the steps of prepared methods.
        """
        steps = {table.object for table in self._descriptors(_STEPS)}
        places: dict[Place, None] = {}
        for object_, section in self.kept:
            name = object_.section(section).name
            kernel = any(name.startswith("ember_kernel_") for name in object_.defined)
            kernel = kernel or object_ in steps
            if not (object_.archive or kernel or name.startswith(".ember_vectors")):
                places |= self._taken(object_, section)
        tables = {each.place for each in self._in_role("prepare_as")}
        return [Callee(place) for place in places if place not in tables]


def _is_at(role: str, word: int) -> bool:
    if role == "prepare_as" and word == -2:  # of an ember_schemas_t, from its end
        return True
    return word == _WORDS[role] if role in _WORDS else role in _GIVEN or word >= _FAR


def _is_code(object_: Object, section: int) -> bool:
    return bool(object_.section(section).flags & elf.SHF_EXECINSTR)
