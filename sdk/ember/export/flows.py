"""The exporter's flows: a model becomes a program, for each of three backends.

portable   operators of ATen in floating point, as they are
cortex_m   int8 by ExecuTorch's Cortex-M quantizer and passes, for one core
xnnpack    layers go to a delegate of XNNPACK: float, int8, int8-dynamic, int4
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.export import blame, cortex_m
from ember.export.packages import need
from ember.export.source import Sample, Source

Quantize = Literal["int8", "int8-dynamic", "int4"]
Backend = Literal["portable", "cortex_m", "xnnpack"]
_GROUP = 32  # weights of int4 that share a scale
_CAN: dict[Backend, tuple[Quantize | None, ...]] = {
    "portable": (None,),
    "cortex_m": ("int8",),
    "xnnpack": (None, "int8", "int8-dynamic", "int4"),
}


@dataclass(frozen=True)
class Lowered:
    """A program as the exporter wrote it."""

    content: bytes  # of the .pte
    data: Mapping[str, bytes]  # .ptd files by name
    graph: Sequence[Any]  # nodes of the last graph that knows source lines
    outputs: Callable[[Sample], Any]  # what the program shall compute
    prepare: Callable[[Sample], Sample]  # inputs as the program takes them


def backend_for(board: Board | None, quantize: Quantize | None) -> Backend:
    """What a board is exported for when nobody says."""
    if board is None:
        if quantize:
            raise UsageError(
                f"--quantize {quantize} depends on the board", hint="add --board NAME"
            )
        return "portable"
    if board.port == "cortexm":
        return "cortex_m" if quantize == "int8" else _float_or_xnnpack(quantize)
    return "xnnpack" if board.port == "a64" else _float_or_xnnpack(quantize)


def _float_or_xnnpack(quantize: Quantize | None) -> Backend:
    return "xnnpack" if quantize else "portable"


def check(backend: Backend, quantize: Quantize | None, source: Source) -> None:
    """A UsageError for what a flow cannot do."""
    if quantize not in _CAN[backend]:
        can = " or ".join(
            f"--quantize {one}" if one else "float" for one in _CAN[backend]
        )
        asked = f"--quantize {quantize}" if quantize else "no quantisation"
        raise UsageError(f"{backend} does not go with {asked}", hint=f"it takes {can}")
    if quantize == "int4" and source.saved:
        raise UsageError(
            f"{source.path} is a saved graph, in which int4 finds no layers",
            hint="export from the Python file that defines the model",
        )


def lower(
    source: Source,
    backend: Backend,
    quantize: Quantize | None,
    core: str,
    calibration: Sequence[Sample],
) -> Lowered:
    """Take the model to a program; errors are those of the exporter."""
    if backend == "cortex_m":
        return _cortex_m(source, core, calibration)
    if backend == "xnnpack":
        return _xnnpack(source, quantize, calibration)
    return _portable(source)


def _portable(source: Source) -> Lowered:
    torch, exir = need("torch"), need("executorch.exir")
    exported = torch.export.export(
        source.model, source.inputs, dynamic_shapes=source.dynamic
    )
    with _lines_of(exported):
        edge = exir.to_edge(exported)
        nodes = list(edge.exported_program().graph.nodes)
        return _made(edge.to_executorch(), nodes, _once(source.model))


def _cortex_m(source: Source, core: str, calibration: Sequence[Sample]) -> Lowered:
    torch = need("torch")
    if source.dynamic is not None:
        raise SdkError("the Cortex-M flow takes no dynamic shapes")
    images = any(isinstance(x, torch.Tensor) and x.dim() == 4 for x in source.inputs)
    prepare = _channels_last if images else _same
    model = source.model
    if images and not source.saved:
        model = model.to(memory_format=torch.channels_last)
    seen = [prepare(sample) for sample in calibration]
    quantised = cortex_m.quantised(model, seen)
    edge = cortex_m.lowered(quantised, prepare(source.inputs), core)
    program = edge.exported_program()
    nodes, reference = list(program.graph.nodes), program.module()
    return _made(edge.to_executorch(), nodes, reference, prepare)


def _xnnpack(
    source: Source, quantize: Quantize | None, calibration: Sequence[Sample]
) -> Lowered:
    torch, exir = need("torch"), need("executorch.exir")
    parts = need("executorch.backends.xnnpack.partition.xnnpack_partitioner")
    partitioners = [parts.XnnpackPartitioner()]
    if quantize in ("int8-dynamic", "int4"):
        partitioners.insert(0, parts.XnnpackDynamicallyQuantizedPartitioner())
    model = source.model
    if quantize == "int4":
        model = _in_groups(model)
    elif quantize:
        model = _pt2e(model, calibration, dynamic=quantize == "int8-dynamic")
    exported = torch.export.export(
        model, copy.deepcopy(source.inputs), dynamic_shapes=source.dynamic
    )
    nodes = list(exported.graph.nodes)
    _say_strides(nodes)
    with _lines_of(exported):
        edge = exir.to_edge_transform_and_lower(exported, partitioner=partitioners)
        made = edge.to_executorch()
    return _made(made, nodes, _runtime(bytes(made.buffer)))


@contextlib.contextmanager
def _lines_of(exported: Any) -> Iterator[None]:
    """Errors get the graph in which the lines of operators are found."""
    try:
        yield
    except Exception as error:
        raise blame.LoweringError(error, list(exported.graph.nodes)) from error


def _say_strides(nodes: Sequence[Any]) -> None:
    """XNNPACK's partitioner fails on a max_pool2d whose stride is left out."""
    pool = need("torch").ops.aten.max_pool2d.default
    for node in nodes:
        if node.target == pool and len(node.args) == 2:
            node.args = (*node.args, node.args[1])


def _pt2e(model: Any, calibration: Sequence[Sample], *, dynamic: bool) -> Any:
    torch = need("torch")
    quantizers = need("executorch.backends.xnnpack.quantizer.xnnpack_quantizer")
    pt2e = need("torchao.quantization.pt2e")
    steps = need("torchao.quantization.pt2e.quantize_pt2e")
    config = quantizers.get_symmetric_quantization_config(
        is_per_channel=True, is_dynamic=dynamic
    )
    graph = torch.export.export(model, calibration[0], strict=True)
    prepared = steps.prepare_pt2e(
        graph.module(check_guards=False),
        quantizers.XNNPACKQuantizer().set_global(config),
    )
    for sample in calibration:
        prepared(*sample)
    return pt2e.allow_exported_model_train_eval(steps.convert_pt2e(prepared))


def _in_groups(model: Any) -> Any:
    torch, api = need("torch"), need("torchao.quantization.quant_api")
    granularity = need("torchao.quantization.granularity")
    model = copy.deepcopy(model)
    config = api.Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=granularity.PerGroup(_GROUP)
    )
    api.quantize_(model, config)
    return model


# ---- what tests compare with ---------------------------------------------------------


def _made(
    manager: Any,
    nodes: Sequence[Any],
    outputs: Callable[..., Any],
    prepare: Callable[[Sample], Sample] | None = None,
) -> Lowered:
    # there is no public way to the .ptd files
    data = {name: bytes(one) for name, one in manager._tensor_data.items()}
    return Lowered(
        bytes(manager.buffer),
        data,
        nodes,
        lambda sample: outputs(*sample),
        prepare or _same,
    )


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


def _once(model: Any) -> Callable[..., Any]:
    """A call on a copy: state does not carry over."""
    return lambda *inputs: copy.deepcopy(model)(*copy.deepcopy(inputs))


def _runtime(content: bytes) -> Callable[..., Any]:
    """ExecuTorch's own runtime, which has XNNPACK."""
    runtime = need("executorch.extension.pybindings.portable_lib")

    def call(*inputs: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pte"
            path.write_bytes(content)
            found = runtime._load_for_executorch(str(path)).forward(inputs)
            return [x.clone() if hasattr(x, "clone") else x for x in found]

    return call
