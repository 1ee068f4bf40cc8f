"""The exporter's flows: a model becomes a program, for each of four backends.

portable   operators of ATen in floating point, as they are
cortex_m   int8 by ExecuTorch's Cortex-M quantizer and passes, for one core; int4w8a
           and int16x8 by the same with other settings
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
    blame,
    cadence,
    cortex_m,
    faults,
    names,
    quantising,
    reference,
    xnnpack,
)
from ember.export.calibration import Calibration
from ember.export.graph import first, layouts, named, pairs, rest, states
from ember.export.graph.edges import Edges, separate_outputs, take_off
from ember.export.packages import need
from ember.export.source import Sample, Source

Quantize = Literal["int8", "int4w8a", "int16x8", "int8-dynamic", "int4"]
Backend = Literal["portable", "cortex_m", "cadence", "xnnpack"]
_CAN: dict[Backend, tuple[Quantize | None, ...]] = {
    "portable": (None,),
    "cortex_m": ("int8", "int4w8a", "int16x8"),
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
    """The default backend for a board."""
    if board is None:
        if quantize:
            raise UsageError(
                f"--quantize {quantize} depends on the board", hint="add --board NAME"
            )
        return "portable"
    wider = quantize in ("int4w8a", "int16x8")
    if wider or (quantize == "int8" and board.port == "cortexm"):
        return "cortex_m"
    return "xnnpack" if quantize or board.port == "a64" else "portable"


def check(backend: Backend, quantize: Quantize | None, source: Source) -> None:
    """Raises UsageError for what a flow cannot do."""
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
    """What to use for a model that a flow cannot export."""
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
    calibration: Calibration,
    *,
    integer_edges: bool = False,
    recorded: bool = False,
) -> Lowered:
    """Lowers the model to a program. Errors are those of the exporter.

    recorded -- whether an ETRecord of the program is kept
    """
    source = replace(source, model=states.settled(source.model, source.inputs))
    if pairs.has_complex(source.model, source.inputs):
        source = _in_pairs(source, quantize, plain=backend == "cadence")
    if backend == "cortex_m":
        given = (source, core, calibration, integer_edges, recorded)
        return _cortex_m(*given, quantize=quantize or "int8")
    if backend == "xnnpack":
        return _xnnpack(source, quantize, calibration, integer_edges, recorded)
    if backend == "cadence":
        if calibration.damage is not None:
            raise UsageError("--report is not for the Cadence flow")
        if recorded:
            raise UsageError("--etrecord is not for the Cadence flow")
        return _cadence(source, quantize, calibration.samples, integer_edges)
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
        manager, nodes = names.written(edge, source.model), list(program.graph.nodes)
        return _made(manager, nodes, outputs, changed, source.inputs)


def _exported(model: Any, inputs: Sample, dynamic: Any = None) -> Any:
    """The graph of a model. Raises SdkError if a program cannot return an output."""
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
    calibration: Calibration,
    integer_edges: bool,
    recorded: bool,
    *,
    quantize: Quantize,
) -> Lowered:
    torch = need("torch")
    if source.dynamic is not None:
        raise SdkError("the Cortex-M flow does not support dynamic shapes")
    images = any(isinstance(x, torch.Tensor) and x.dim() == 4 for x in source.inputs)
    prepare = _channels_last if images else _same
    model = copy.deepcopy(source.model)
    if faults.has("images") and not source.saved:  # weights say what is made inside
        model = model.to(memory_format=torch.channels_last)
    calibration.samples = [prepare(sample) for sample in calibration.samples]
    quantised, left = cortex_m.quantised(model, calibration, quantize)
    exported = _exported(quantised, prepare(source.inputs))
    _say_strides(exported.graph.nodes)
    narrow = quantize == "int4w8a"
    notes = (*left, quantising.weights_note(exported, source.model, 8, narrow=narrow))
    edges = take_off(exported) if integer_edges else Edges()
    with _lines_of(exported):
        edge = cortex_m.lowered(exported, core, edges.constants(), recorded)
        program = edge.exported_program()
        nodes, module = list(program.graph.nodes), program.module()
        changed = states.changed_inputs(program)
        outputs = reference.of_int8(copy.deepcopy(module), changed)
        manager = names.written(edge, source.model)
        inputs = edges.quantised(prepare(source.inputs))
        lowered = _made(manager, nodes, outputs, changed, inputs, prepare, notes)
        return replace(lowered, edges=edges)


def _cadence(
    source: Source,
    quantize: Quantize | None,
    calibration: Sequence[Sample],
    integer_edges: bool,
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
        notes = (quantising.weights_note(exported, source.model, 8),)
    else:
        exported = cadence.traced(model, inputs)
    edges = take_off(exported) if integer_edges else Edges()
    _say_strides(exported.graph.nodes)
    with _lines_of(exported):
        nodes = list(exported.graph.nodes)
        edge = cadence.lowered(exported, quantizer, edges.constants())
        program = edge.exported_program()
        changed = states.changed_inputs(program)
        outputs = cadence.outputs_of(copy.deepcopy(program.module()), changed)
        manager = names.written(edge, source.model)
        inputs = edges.quantised(inputs)
        lowered = _made(manager, nodes, outputs, changed, inputs, notes=notes)
        return replace(lowered, edges=edges)


def _xnnpack(
    source: Source,
    quantize: Quantize | None,
    calibration: Calibration,
    integer_edges: bool,
    recorded: bool,
) -> Lowered:
    model, notes = _for_xnnpack(source, quantize, calibration)
    exported = _exported(model, source.inputs, source.dynamic)
    separate_outputs(exported)
    nodes = list(exported.graph.nodes)
    _say_strides(nodes)
    notes = (*notes, *xnnpack.left_out(nodes))
    if quantize:
        bits = 4 if quantize == "int4" else 8
        notes = (*notes, quantising.weights_note(exported, source.model, bits))
    edges = take_off(exported) if integer_edges else Edges()
    with _lines_of(exported):
        edge = xnnpack.delegated(
            exported,
            edges.constants(),
            _config(),
            dynamic=quantize in ("int8-dynamic", "int4"),
            recorded=recorded,
        )
        changed = states.changed_inputs(edge.exported_program())
        manager = names.written(edge, source.model, [xnnpack.kept_orders()])
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
    calibration: Calibration,
) -> tuple[Any, tuple[str, ...]]:
    """The model with contiguous weights, quantised, and notes for the user."""
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
        return _pt2e(model, calibration, dynamic=dynamic), ()
    return source.model, ()


def _config() -> Any:
    """The exporter's configuration, and unfold, for which every board has kernels."""
    unfold = need("torch").ops.aten.unfold.default
    return need("executorch.exir").EdgeCompileConfig(
        _core_aten_ops_exception_list=[unfold]
    )


@contextlib.contextmanager
def _lines_of(exported: Any) -> Iterator[None]:
    """Gives errors the graph in which operators have source lines."""
    try:
        yield
    except (quantising.NothingQuantisedError, SdkError):
        raise
    except Exception as error:
        raise blame.LoweringError(error, list(exported.graph.nodes)) from error


def _say_strides(nodes: Iterable[Any]) -> None:
    """Writes out strides of pooling, without which both flows fail in some cases."""
    if not faults.has("pool strides"):
        return
    aten = need("torch").ops.aten
    for node in nodes:
        pools = node.target in (aten.max_pool2d.default, aten.avg_pool2d.default)
        if pools and not named(node)["stride"]:
            kernel = named(node)["kernel_size"]
            node.args = (first(node), kernel, kernel, *rest(node)[2:])


def _pt2e(model: Any, calibration: Calibration, *, dynamic: bool) -> Any:
    quantizers = need("executorch.backends.xnnpack.quantizer.xnnpack_quantizer")
    config = quantizers.get_symmetric_quantization_config(
        is_per_channel=True, is_dynamic=dynamic
    )
    quantizer = quantizers.XNNPACKQuantizer().set_global(config)
    return quantising.calibrated(model, calibration, quantizer, _LAYERS[dynamic])


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
    return replace(lowered, record=reference.of_program(manager, inputs))


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
