"""Nodes of an exported graph -> frames of the program's instructions: module and line.

The exporter's emitter drops both. Here it notes from which node each instruction comes,
and writes the module's path and the line into the chain, as ember.program.names reads
them. Passes lose the module of steps from and to integers: those have the module of the
nearest node before them, or behind.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from ember.errors import SdkError
from ember.export import blame
from ember.export.graph import states
from ember.export.packages import need
from ember.files import xnnpack
from ember.program import names
from ember.program.types import Frame

_STEPS = ("quantize_per_", "dequantize_per_", "choose_qparams")
_WRAPPERS = ("model.", "body.")  # modules that a flow puts around the user's
_FAR = 32  # nodes that are followed


def written(edge: Any, model: Any, passes: Sequence[Any] = ()) -> Any:
    """The program of a lowered graph, as states.written() has it, with names.

    model -- the user's, whose modules are named
    """
    with _kept(Namer.of(model)):
        return states.written(edge, passes)


@dataclass(frozen=True)
class Namer:
    """What names a node."""

    modules: frozenset[str]  # paths in the user's model

    @classmethod
    def of(cls, model: Any) -> Namer:
        return cls(frozenset(name for name, _ in model.named_modules()))

    def path(self, node: Any) -> str:
        """The module that calls an operator; empty: the model itself, or unknown."""
        path = whole = blame.module_of(node.meta)
        while path not in self.modules:
            wrapper = next((word for word in _WRAPPERS if path.startswith(word)), None)
            if wrapper is None:
                return "" if f"{whole}." in _WRAPPERS else whole
            path = path.removeprefix(wrapper)
        return path

    def frame(self, node: Any) -> Frame:
        near = next(filter(self._is_named, _around(node)), node)
        module = self.path(node) or self.path(near)
        place = blame.place_in(node.meta.get("stack_trace") or "")
        place = place or blame.place_in(near.meta.get("stack_trace") or "")
        return names.frame(module, *(place or ()))

    def _is_named(self, node: Any) -> bool:
        return not _is_step(node) and bool(node.meta.get("nn_module_stack"))

    def frames(self, node: Any) -> list[Frame]:
        """One; of a call of a delegate, those of its nodes before it."""
        lowered = _delegate(node)
        if lowered is None:
            return [self.frame(node)]
        inner = list(lowered.original_module.graph.nodes)
        by_handle: dict[int, Frame] = {}
        for each in inner:
            if each.op == "call_function" and not _is_step(each):
                handle = each.meta.get("debug_handle", 0)
                by_handle.setdefault(handle, self.frame(each))
        inside = [by_handle.get(at) for at in _handles(lowered)]
        return [
            *(each or names.frame(None) for each in inside),
            names.frame(_span([each.name for each in by_handle.values()])),
        ]


def _span(marked: Sequence[str]) -> str:
    """The modules of a delegate in a word: features.0 .. head."""
    paths = [name.removeprefix(names.MARK) for name in marked]
    paths = list(dict.fromkeys(path for path in paths if path))
    if len(paths) < 2:
        return "".join(paths)
    return f"{paths[0]} .. {paths[-1]}"


def _around(node: Any) -> Iterator[Any]:
    """The node if it names itself, those before a step, then those behind it."""
    if not _is_step(node) and node.meta.get("nn_module_stack"):
        yield node
        return
    for follow in (_before, _behind):
        near = follow(node)
        for _ in range(_FAR):
            if near is None:
                break
            yield near
            near = follow(near)


def _before(node: Any) -> Any | None:
    calls = (each for each in node.all_input_nodes if each.op == "call_function")
    return next(calls, None)


def _behind(node: Any) -> Any | None:
    return next((each for each in node.users if each.op == "call_function"), None)


def _is_step(node: Any) -> bool:
    return any(word in str(node.target) for word in _STEPS)


# ---- delegates -----------------------------------------------------------------------


def _delegate(node: Any) -> Any | None:
    """The lowered module that a node calls."""
    if getattr(node.target, "__name__", "") != "executorch_call_delegate":
        return None
    held: Any = node.graph.owning_module
    for name in str(node.args[0].target).split("."):
        held = getattr(held, name)
    return held


def _handles(lowered: Any) -> list[int]:
    """By which the nodes of the payload name those of the graph."""
    if lowered.backend_id != xnnpack.BACKEND:
        return []
    try:
        return [node.handle for node in xnnpack.parse(lowered.processed_bytes).nodes]
    except SdkError:
        return []


# ---- the emitter ---------------------------------------------------------------------


@dataclass
class _Notes:
    """Which node each instruction comes from."""

    nodes: dict[int, Any] = field(default_factory=dict)  # by id of the instruction

    def noting(self, emit: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def run_node(emitter: Any, node: Any) -> Any:
            before = len(emitter.chain.instructions)
            result = emit(emitter, node)
            for instruction in emitter.chain.instructions[before:]:
                self.nodes.setdefault(id(instruction), node)  # a branch's own first
            return result

        return run_node


@contextlib.contextmanager
def _kept(namer: Namer) -> Iterator[None]:
    """Has the emitter write frames."""
    emitters, schema = (
        need("executorch.exir.emit._emitter"),
        need("executorch.exir.schema"),
    )
    notes, plan = _Notes(), emitters._TopLevelEmitter.plan

    def listed(instruction: Any) -> Any:
        node = notes.nodes.get(id(instruction))
        frames = namer.frames(node) if node is not None else [names.frame(None)]
        items = [
            schema.Frame(each.filename, each.line, each.name, each.context)
            for each in frames
        ]
        return schema.FrameList(items)

    def planned(emitter: Any) -> Any:
        entry = plan(emitter)
        for chain in entry.chains:
            chain.stacktrace = [listed(each) for each in chain.instructions]
        return entry

    run_node = notes.noting(emitters._Emitter.run_node)
    with (
        mock.patch.object(emitters._Emitter, "run_node", run_node),
        mock.patch.object(emitters._TopLevelEmitter, "plan", planned),
    ):
        yield
