"""The exporter's flows: a model becomes a program, for each of four backends.

portable   operators of ATen in floating point, as they are
cortex_m   int8 by ExecuTorch's Cortex-M quantizer and passes, for one core
cadence    operators of the flow for Xtensa, int8 or float, for every board
xnnpack    layers go to a delegate of XNNPACK: float, int8, int8-dynamic, int4
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.export import (
    assigned,
    blame,
    cadence,
    constants,
    cortex_m,
    layouts,
    quantised_io,
    quantising,
    record,
    reference,
    states,
    weights,
    xnnpack,
)
from ember.export.damage import Damage
from ember.export.packages import need
from ember.export.quantised_io import Edges
from ember.export.signal import pairs
from ember.export.source import Sample, Source

Quantize = Literal["int8", "int4w8a", "int8-dynamic", "int4"]
Backend = Literal["portable", "cortex_m", "cadence", "xnnpack"]
_CAN: dict[Backend, tuple[Quantize | None, ...]] = {
    "portable": (None,),
    "cortex_m": ("int8", "int4w8a"),
    "cadence": (None, "int8"),
    "xnnpack": (None, "int8", "int8-dynamic", "int4"),
}
# by whether it is dynamic: what XNNPACK's quantizer chooses
_LAYERS = (
    "convolution, linear layer, addition, multiplication, concatenation or adaptive"
    " pooling that XNNPACK's int8 takes",
    "linear layer or convolution that XNNPACK's int8-dynamic takes",
)

_OURS = (
    "the outputs expected are those of PyTorch: ExecuTorch's runtime has no ember::rfft"
    " and the like"
)


@dataclass(frozen=True)
class Lowered:
    """A program as the exporter wrote it."""

    content: bytes  # of the .pte
    data: Mapping[str, bytes]  # .ptd files by name
    graph: Sequence[Any]  # nodes of the last graph that knows source lines
    outputs: states.Run  # what the program shall compute
    changed: Sequence[int]  # inputs that a call changes, outputs of the program, too
    prepare: Callable[[Sample], Sample]  # inputs as the flow lays them out
    notes: tuple[str, ...] = ()  # what was done otherwise than asked
    edges: Edges = field(
        default_factory=Edges
    )  # what the program's inputs and outputs stand for
    record: bytes | None = None  # an ETRecord, where it was asked for

    def taken(self, sample: Sample) -> Sample:
        """The inputs of a call as the program takes them."""
        return self.edges.quantised(self.prepare(sample))


def backend_for(board: Board | None, quantize: Quantize | None) -> Backend:
    """What a board is exported for when nobody says."""
    if board is None:
        if quantize:
            raise UsageError(
                f"--quantize {quantize} depends on the board", hint="add --board NAME"
            )
        return "portable"
    if quantize == "int4w8a" or (quantize == "int8" and board.port == "cortexm"):
        return "cortex_m"
    return "xnnpack" if quantize or board.port == "a64" else "portable"


def check(backend: Backend, quantize: Quantize | None, source: Source) -> None:
    """A UsageError for what a flow cannot do."""
    if quantize not in _CAN[backend]:
        can = " or ".join(
            f"--quantize {choice}" if choice else "float" for choice in _CAN[backend]
        )
        asked = f"--quantize {quantize}" if quantize else "no quantisation"
        raise UsageError(
            f"{backend} does not support {asked}", hint=f"it supports {can}"
        )
    if quantize == "int4" and source.saved:
        raise UsageError(
            f"{source.path} is a saved graph, where int4 finds no layers",
            hint="export from the Python file that defines the model",
        )


def instead_of(backend: Backend, quantize: Quantize | None) -> str | None:
    """What may take a model that a flow does not take."""
    if backend in ("cortex_m", "cadence") and quantize:
        return "--backend xnnpack has another int8; without --quantize it stays float"
    if quantize:
        return "without --quantize it stays float"
    return "--backend portable has every operator" if backend == "xnnpack" else None


def lower(
    source: Source,
    backend: Backend,
    quantize: Quantize | None,
    core: str,
    calibration: Sequence[Sample],
    *,
    int8_edges: bool = False,
    damage: Damage | None = None,
    recorded: bool = False,
) -> Lowered:
    """Take the model to a program; errors are those of the exporter.

    `damage` receives what quantising to int8 does to each layer. If `recorded`, an
    ETRecord of the program is kept.
    """
    source = replace(source, model=assigned.settled(source.model, source.inputs))
    if pairs.has_complex(source.model, source.inputs):
        source = _in_pairs(source, quantize, plain=backend == "cadence")
    if backend == "cortex_m":
        given = (source, core, calibration, int8_edges, damage, recorded)
        return _cortex_m(*given, narrow=quantize == "int4w8a")
    if backend == "xnnpack":
        return _xnnpack(source, quantize, calibration, int8_edges, damage, recorded)
    if backend == "cadence":
        if damage is not None:
            raise UsageError("--report is not for the Cadence flow")
        if recorded:
            raise UsageError("--etrecord is not for the Cadence flow")
        return _cadence(source, quantize, calibration, int8_edges)
    return _portable(source, recorded)


def _in_pairs(source: Source, quantize: Quantize | None, *, plain: bool) -> Source:
    """The model without complex numbers; `plain` is for exporters that compile it."""
    if quantize == "int4":
        raise SdkError(
            "int4 finds no layers in a model with complex numbers inside",
            hint="--quantize int8 or int8-dynamic",
        )
    model = pairs.in_pairs(source.model, source.inputs, source.dynamic)
    if plain:
        inputs = copy.deepcopy(source.inputs)
        exported = need("torch").export.export(model, inputs, strict=False)
        model = exported.module(check_guards=False)
    return replace(source, model=model)


def _portable(source: Source, recorded: bool) -> Lowered:
    exir = need("executorch.exir")
    exported = _exported(source.model, source.inputs, source.dynamic)
    with _lines_of(exported):
        edge = exir.to_edge(
            exported, compile_config=_config(), generate_etrecord=recorded
        )
        program = edge.exported_program()
        changed = states.changed_inputs(program)
        outputs = states.run_of(source.model, changed)
        manager, nodes = states.written(edge), list(program.graph.nodes)
        return _made(manager, nodes, outputs, changed, source.inputs)


def _exported(model: Any, inputs: Sample, dynamic: Any = None) -> Any:
    """The graph of a model; an SdkError when a program cannot return what it does."""
    exported = need("torch").export.export(
        model, copy.deepcopy(inputs), dynamic_shapes=dynamic
    )
    for number, spec in enumerate(exported.graph_signature.output_specs):
        if isinstance(text := getattr(spec.arg, "value", None), str):
            raise SdkError(
                f"output {number} of the model is the string {text!r}, which no"
                " ExecuTorch program can return",
                hint="return tensors and numbers; the application can have the string",
            )
    layouts.reshape_copies(exported)
    return exported


def _cortex_m(
    source: Source,
    core: str,
    calibration: Sequence[Sample],
    int8_edges: bool,
    damage: Damage | None,
    recorded: bool,
    *,
    narrow: bool,
) -> Lowered:
    torch = need("torch")
    if source.dynamic is not None:
        raise SdkError("the Cortex-M flow does not support dynamic shapes")
    images = any(isinstance(x, torch.Tensor) and x.dim() == 4 for x in source.inputs)
    prepare = _channels_last if images else _same
    model = copy.deepcopy(source.model)
    if not source.saved:  # an image may be made inside: its weights say so
        model = model.to(memory_format=torch.channels_last)
    samples = [prepare(sample) for sample in calibration]
    quantised, left = cortex_m.quantised(model, samples, damage, narrow=narrow)
    exported = _exported(quantised, prepare(source.inputs))
    _say_strides(exported.graph.nodes)
    notes = (*left, weights.note(exported, source.model, 8, narrow=narrow))
    edges = quantised_io.take_off(exported) if int8_edges else Edges()
    with _lines_of(exported):
        edge = cortex_m.lowered(exported, core, edges.constants(), recorded)
        program = edge.exported_program()
        nodes, module = list(program.graph.nodes), program.module()
        changed = states.changed_inputs(program)
        outputs = reference.of_int8(copy.deepcopy(module), changed)
        manager = states.written(edge)
        inputs = edges.quantised(prepare(source.inputs))
        lowered = _made(manager, nodes, outputs, changed, inputs, prepare, notes)
        return replace(lowered, edges=edges)


def _cadence(
    source: Source,
    quantize: Quantize | None,
    calibration: Sequence[Sample],
    int8_edges: bool,
) -> Lowered:
    if source.dynamic is not None:
        raise SdkError(
            "the Cadence flow does not support dynamic shapes",
            hint="leave out dynamic_shapes, or use --backend portable or xnnpack",
        )
    model, inputs = copy.deepcopy(source.model), copy.deepcopy(source.inputs)
    quantizer: Any = None
    notes: tuple[str, ...] = ()
    if quantize:
        exported, quantizer = cadence.quantised(model, inputs, calibration)
        notes = (weights.note(exported, source.model, 8),)
    else:
        exported = cadence.traced(model, inputs)
    edges = quantised_io.take_off(exported) if int8_edges else Edges()
    _say_strides(exported.graph.nodes)
    with _lines_of(exported):
        nodes = list(exported.graph.nodes)
        edge = cadence.lowered(exported, quantizer, edges.constants())
        program = edge.exported_program()
        changed = states.changed_inputs(program)
        outputs = cadence.outputs_of(copy.deepcopy(program.module()), changed)
        manager = states.written(edge)
        inputs = edges.quantised(inputs)
        lowered = _made(manager, nodes, outputs, changed, inputs, notes=notes)
        return replace(lowered, edges=edges)


def _xnnpack(
    source: Source,
    quantize: Quantize | None,
    calibration: Sequence[Sample],
    int8_edges: bool,
    damage: Damage | None,
    recorded: bool,
) -> Lowered:
    model, notes = _for_xnnpack(source, quantize, calibration, damage)
    exported = _exported(model, source.inputs, source.dynamic)
    constants.apart(exported)
    nodes = list(exported.graph.nodes)
    _say_strides(nodes)
    notes = (*notes, *xnnpack.left_out(nodes))
    if quantize:
        bits = 4 if quantize == "int4" else 8
        notes = (*notes, weights.note(exported, source.model, bits))
    edges = quantised_io.take_off(exported) if int8_edges else Edges()
    with _lines_of(exported):
        edge = xnnpack.delegated(
            exported,
            edges.constants(),
            _config(),
            dynamic=quantize in ("int8-dynamic", "int4"),
            recorded=recorded,
        )
        changed = states.changed_inputs(edge.exported_program())
        manager = states.written(edge, [xnnpack.kept_orders()])
    outputs = reference.of_runtime(bytes(manager.buffer))
    if any("ember." in str(node.target) for node in nodes):
        outputs = states.run_of(model, changed)
        notes = (*notes, _OURS)
    inputs = edges.quantised(source.inputs)
    lowered = _made(manager, nodes, outputs, changed, inputs, notes=notes)
    return replace(lowered, edges=edges)


def _for_xnnpack(
    source: Source,
    quantize: Quantize | None,
    calibration: Sequence[Sample],
    damage: Damage | None,
) -> tuple[Any, tuple[str, ...]]:
    """The model with contiguous weights, quantised, and what to tell of it."""
    contiguous = need("torch").contiguous_format
    if not source.saved:
        model = copy.deepcopy(source.model).to(memory_format=contiguous)
        source = replace(source, model=model)
    if quantize == "int4":
        model, left = quantising.in_groups(source.model)
        what = (
            f"{left} linear layers stay float: their input widths are not multiples of"
        )
        return model, (f"{what} {quantising.GROUP}",) if left else ()
    if quantize:
        dynamic = quantize == "int8-dynamic"
        model = copy.deepcopy(source.model)
        return _pt2e(model, calibration, damage, dynamic=dynamic), ()
    return source.model, ()


def _config() -> Any:
    """The exporter's own, and unfold, for which there are kernels everywhere."""
    unfold = need("torch").ops.aten.unfold.default
    return need("executorch.exir").EdgeCompileConfig(
        _core_aten_ops_exception_list=[unfold]
    )


@contextlib.contextmanager
def _lines_of(exported: Any) -> Iterator[None]:
    """Errors get the graph in which the lines of operators are found."""
    try:
        yield
    except (quantising.NothingQuantisedError, SdkError):
        raise
    except Exception as error:
        raise blame.LoweringError(error, list(exported.graph.nodes)) from error


def _say_strides(nodes: Iterable[Any]) -> None:
    """Both flows fail on some pooling whose stride is left out."""
    aten = need("torch").ops.aten
    for node in nodes:
        pools = node.target in (aten.max_pool2d.default, aten.avg_pool2d.default)
        if pools and not any(node.args[2:3]):
            node.args = (*node.args[:2], node.args[1], *node.args[3:])


def _pt2e(
    model: Any, calibration: Sequence[Sample], damage: Damage | None, *, dynamic: bool
) -> Any:
    quantizers = need("executorch.backends.xnnpack.quantizer.xnnpack_quantizer")
    config = quantizers.get_symmetric_quantization_config(
        is_per_channel=True, is_dynamic=dynamic
    )
    quantizer = quantizers.XNNPACKQuantizer().set_global(config)
    return quantising.calibrated(
        model, calibration, quantizer, _LAYERS[dynamic], damage
    )


def _made(
    manager: Any,
    nodes: Sequence[Any],
    outputs: states.Run,
    changed: Sequence[int],
    inputs: Sample,
    prepare: Callable[[Sample], Sample] | None = None,
    notes: tuple[str, ...] = (),
) -> Lowered:
    # there is no public way to the .ptd files
    data = {name: bytes(blob) for name, blob in manager._tensor_data.items()}
    content = bytes(manager.buffer)
    lowered = Lowered(content, data, nodes, outputs, changed, prepare or _same, notes)
    return replace(lowered, record=record.of_program(manager, inputs))


def _same(sample: Sample) -> Sample:
    return sample


def _channels_last(sample: Sample) -> Sample:
    torch = need("torch")
    return tuple(
        x.to(memory_format=torch.channels_last)
        if isinstance(x, torch.Tensor) and x.dim() == 4
        else x
        for x in sample
    )
