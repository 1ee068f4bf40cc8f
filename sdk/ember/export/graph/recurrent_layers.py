"""Recurrent layers of a graph become modules that compute the same in float.

The modules record what quantising needs to know about them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.export import blame
from ember.export.graph import first, item, named, rest
from ember.export.operators.recurrent import svdf
from ember.export.packages import need

_GATES = {"lstm": 4, "gru": 3}
_LAYERS = {"lstm.input": "lstm", "gru.input": "gru"}
_SAID = ("stack_trace", "nn_module_stack")  # of where a node comes from
_CELLS = {"lstm_cell.default": "lstm", "gru_cell.default": "gru"}
FLOATS = {
    kind: f"Tensor x, Tensor? h, {cell}Tensor w_x, Tensor w_h, Tensor? b_x,"
    " Tensor? b_h, bool batch_first, bool is_reverse"
    for kind, cell in (("lstm", "Tensor? c, "), ("gru", ""))
}
RESULTS = {"float_lstm": 3, "float_gru": 2}


# ---- what they compute ---------------------------------------------------------------


def lstm(x: Any, h: Any, c: Any, *others: Any) -> tuple[Any, Any, Any]:
    """y, the last h and the last c."""
    return _lstm(x, h, c, others)[:3]


def _lstm(
    x: Any, h: Any, c: Any, others: Sequence[Any]
) -> tuple[Any, Any, Any, list[Any]]:
    """y, the last h, the last c, and every c."""
    torch, linear = need("torch"), need("torch").nn.functional.linear
    w_x, w_h, b_x, b_h, batch_first, is_reverse = others
    steps = _steps(x, batch_first, is_reverse)
    zeros = x.new_zeros(steps.shape[1], w_h.shape[1])
    h, c = zeros if h is None else h, zeros if c is None else c
    outputs, cells = [], []
    for step in steps.unbind(0):
        i, f, g, o = (linear(step, w_x, b_x) + linear(h, w_h, b_h)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
        cells.append(c)
    return _joined(outputs, x, batch_first, is_reverse), h.clone(), c.clone(), cells


def gru(
    x: Any,
    h: Any,
    w_x: Any,
    w_h: Any,
    b_x: Any,
    b_h: Any,
    batch_first: bool,
    is_reverse: bool,
) -> tuple[Any, Any]:
    torch, linear = need("torch"), need("torch").nn.functional.linear
    steps = _steps(x, batch_first, is_reverse)
    h = x.new_zeros(steps.shape[1], w_h.shape[1]) if h is None else h
    outputs = []
    for step in steps.unbind(0):
        r_x, z_x, n_x = linear(step, w_x, b_x).chunk(3, dim=1)
        r_h, z_h, n_h = linear(h, w_h, b_h).chunk(3, dim=1)
        z = torch.sigmoid(z_x + z_h)
        n = torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h)
        h = (1 - z) * n + z * h
        outputs.append(h)
    return _joined(outputs, x, batch_first, is_reverse), h.clone()


def _steps(x: Any, batch_first: bool, is_reverse: bool) -> Any:
    if x.dim() == 2:
        return x[None]
    x = x.transpose(0, 1) if batch_first else x
    return x.flip(0) if is_reverse else x


def _joined(outputs: list[Any], x: Any, batch_first: bool, is_reverse: bool) -> Any:
    if x.dim() == 2:
        return outputs[0]
    y = need("torch").stack(outputs[::-1] if is_reverse else outputs)
    return y.transpose(0, 1) if batch_first else y


def module(kind: str) -> Any:
    """Calls lstm(), gru() or svdf(), and records the largest cell or held number."""
    torch = need("torch")

    class Recurrent(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.ember_recurrent = kind
            self.most = 0.0

        def forward(self, *arguments: Any) -> Any:
            if kind == "gru":
                return gru(*arguments)
            if kind == "svdf":
                y, after = svdf(*arguments)
                self._see([after])
                return y, after
            x, h, c, *others = arguments
            *given, cells = _lstm(x, h, c, others)
            self._see(cells)
            return tuple(given)

        def _see(self, states: Sequence[Any]) -> None:
            largest = (float(state.abs().amax()) for state in states if state.numel())
            self.most = max(self.most, *largest, 0.0)

    return Recurrent()


# ---- in a graph ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Layer:
    """A layer in one direction."""

    kind: str
    weights: Sequence[Any]  # w_x, w_h, b_x, b_h; biases may be None
    batch_first: bool
    is_reverse: bool

    def call(self, graph: Any, x: Any, states: Sequence[Any]) -> list[Any]:
        """The nodes of y and of the last states."""
        target = getattr(need("torch").ops.ember, f"float_{self.kind}").default
        arguments = (x, *states, *self.weights, self.batch_first, self.is_reverse)
        call = graph.call_function(target, arguments)
        count = RESULTS[f"float_{self.kind}"]
        return [graph.call_function(operator.getitem, (call, i)) for i in range(count)]


def has_any(graph: Any) -> bool:
    return any(_name(node) in {**_LAYERS, **_CELLS} for node in graph.nodes)


def fold(module: Any) -> tuple[str, ...]:
    """Makes operators ember::float_* of the layers of a graph that can be fused.

    Returns notes about the others.
    """
    notes = []
    for node in list(module.graph.nodes):
        name = _name(node)
        if name == "ember.svdf.default":
            node.target = need("torch").ops.ember.float_svdf.default
        if name not in _LAYERS and name not in _CELLS:
            continue
        reason = _reason(node)
        if reason is None:
            _replace(module.graph, node)
        else:
            line = blame.line_in(node.meta.get("stack_trace") or "")
            where = f" at {line}" if line else ""
            what = name.partition(".")[0]
            notes.append(f"{what}{where} stays in float, step by step: {reason}")
    for node in list(module.graph.nodes):
        if _name(node).startswith("ember.float_"):
            _straighten(module.graph, node)
    module.graph.eliminate_dead_code()
    module.recompile()
    return tuple(notes)


def _reason(node: Any) -> str | None:
    """Why a layer cannot be fused."""
    if _name(node) in _CELLS:
        return None
    given = named(node)
    count = 4 if given["has_biases"] else 2
    directions = 2 if given["bidirectional"] else 1
    if len(given["params"]) != count * given["num_layers"] * directions:
        return "it has projections"
    if given["train"] and given["dropout"]:
        return "its dropout is on, as in training"
    return None


def _replace(graph: Any, node: Any) -> None:
    known = set(graph.nodes)
    with graph.inserting_before(node):
        cell = _name(node) in _CELLS
        outputs = _cell(graph, node) if cell else _stack(graph, node)
    said = {key: node.meta[key] for key in _SAID if key in node.meta}
    for fresh in set(graph.nodes) - known:
        fresh.meta.update(said)
    if not isinstance(outputs, list):
        node.replace_all_uses_with(outputs)
    else:
        for user in list(node.users):
            user.replace_all_uses_with(outputs[item(user)])
            graph.erase_node(user)
    graph.erase_node(node)


def _cell(graph: Any, node: Any) -> Any:
    kind = _CELLS[_name(node)]
    call = named(node)
    states = _given(call["hx"] if kind == "lstm" else [call["hx"]])
    weights = [call[each] for each in ("w_ih", "w_hh", "b_ih", "b_hh")]
    y, _, *last = _Layer(kind, weights, False, False).call(graph, call["input"], states)
    return [y, *last] if kind == "lstm" else y


def _stack(graph: Any, node: Any) -> list[Any]:
    """All layers of a call, one after the other; results as the call's."""
    aten = need("torch").ops.aten
    kind = _LAYERS[_name(node)]
    call = named(node)
    x, weights, both = call["input"], call["params"], call["bidirectional"]
    states = _given(call["hx"] if kind == "lstm" else [call["hx"]])
    width, directions = 4 if call["has_biases"] else 2, 2 if both else 1
    last: list[list[Any]] = []
    for index in range(call["num_layers"]):
        outputs = []
        for way in range(directions):
            at = index * directions + way
            parameters = [*weights[at * width : (at + 1) * width], None, None][:4]
            given = [
                state and graph.call_function(aten.select.int, (state, 0, at))
                for state in states
            ]
            layer = _Layer(kind, parameters, call["batch_first"], way == 1)
            y, *others = layer.call(graph, x, given)
            outputs.append(y)
            last.append(others)
        x = graph.call_function(aten.cat.default, (outputs, -1)) if both else y
    stacks = [
        graph.call_function(aten.stack.default, (list(each),))
        for each in zip(*last, strict=True)
    ]
    return [x, *stacks]


def _straighten(graph: Any, call: Any) -> None:
    """Removes copies of states, which quantisers would turn into int8."""
    outputs = [user for user in call.users if item(user) == 0]
    kept = [
        node
        for output in outputs
        for node in output.users
        if _name(node) == "copy.default" and first(node) in rest(call)
    ]
    for node in [*states_of(call), *kept]:
        if _name(node) in ("clone.default", "copy.default"):
            given = named(node)
            node.replace_all_uses_with(given.get("src", given["self"]))
            graph.erase_node(node)


def states_of(call: Any) -> list[Any]:
    """The nodes that only move states to a layer or from it."""
    moves = []
    for state in rest(call):
        move = state
        while isinstance(move, type(call)) and _name(move) in _MOVES:
            moves.append(move)
            move = first(move)
    ends = [user for user in call.users if item(user) > 0]
    while ends:
        behind = {user for end in ends for user in end.users if _name(user) in _MOVES}
        ends = [move for move in behind if move not in moves]
        moves += ends
    return moves


def _given(states: Sequence[Any]) -> list[Any]:
    """A state; None if it is zeros."""
    return [None if _name(state) in _ZEROS else state for state in states]


_MOVES = ("clone.default", "copy.default", "select.int", "stack.default")
_ZEROS = ("zeros.default", "zeros_like.default", "new_zeros.default")


def as_modules(graph_module: Any) -> list[Any]:
    """Turns the operators of fold() into calls of module(); the calls."""
    calls: list[Any] = []
    for node in list(graph_module.graph.nodes):
        kind = _name(node).removeprefix("ember.float_").partition(".")[0]
        if not _name(node).startswith("ember.float_"):
            continue
        name = f"_recurrent_{len(calls)}"
        graph_module.add_submodule(name, module(kind))
        with graph_module.graph.inserting_before(node):
            call = graph_module.graph.call_module(name, node.args)
        call.meta = dict(node.meta)
        node.replace_all_uses_with(call)
        graph_module.graph.erase_node(node)
        calls.append(call)
    graph_module.recompile()
    return calls


def is_call(graph_module: Any, node: Any) -> bool:
    """Whether a node calls a module()."""
    if node.op != "call_module":
        return False
    return hasattr(graph_module.get_submodule(node.target), "ember_recurrent")


def _name(node: Any) -> str:
    return str(node.target).removeprefix("aten.")
