"""Graphs become folders of cases, by the real exporter; kept in the cache.

Of the 0.3 s of processor time of an export, nine tenths are lowering: 18 passes compute
the shape of each node again. start() leaves out expensive work that changes no byte.
"""

from __future__ import annotations

import functools
import gc
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ember.export import flows
from ember.export.calibration import Calibration
from ember.export.cases import ExpectedRun, Exported, write_case
from ember.export.graph import first, states
from ember.export.packages import need
from ember.export.source import Source
from ember.files.tensors import DType
from ember.program import Tensor
from ember.program.reader import parse
from ember.sweep.graphs.generate import generated
from ember.sweep.graphs.graph import GraphStep, RandomGraph, Values
from ember.sweep.settings import Family

torch = need("torch")
exir = need("executorch.exir")

ATTEMPTS = 8  # graphs of a seed, until the exporter takes one
_CORE = "cortex-m55"  # whose layouts int8 graphs have


# ---- the process ---------------------------------------------------------------------


def start() -> None:
    """Prepares a process: quiet, one thread, and faster exports."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    gc.freeze()
    gc.set_threshold(200_000, 50, 1000)
    # Two thirds of the exporter's time go into collecting the same operators, and into
    # annotations of nested functions, again and again.
    utils = need("torch._export.utils")
    name = "_collect_all_valid_cia_ops_for_namespace"
    setattr(utils, name, functools.cache(getattr(utils, name)))
    torch._ops.Callable = dict
    _compile_on_demand(need("torch.fx.graph_module").GraphModule)


class _Compiled:
    """The attributes that compiling a graph sets; compiles it when one is read."""

    def __init__(self, name: str, compile_now: Callable[[Any], Any]) -> None:
        self.name = name
        self.compile_now = compile_now

    def __get__(self, module: Any, owner: type) -> Any:
        if module is None:
            return self
        self.compile_now(module)
        return module.__dict__[self.name]


def _compile_on_demand(module_type: Any) -> None:
    """Graphs become Python only when called: most are interpreted."""
    compile_now = module_type.recompile
    compiled = ("_code", "_lineno_map", "_prologue_start")

    def recompile(module: Any) -> None:
        def forward(module: Any, *args: Any, **options: Any) -> Any:
            compile_now(module)
            return type(module).forward(module, *args, **options)

        type(module).forward = forward
        for name in compiled:
            module.__dict__.pop(name, None)
        info = getattr(module.graph._codegen, "pytree_info", None)
        if info is not None:
            module._in_spec, module._out_spec = info.in_spec, info.out_spec

    for name in compiled:
        setattr(module_type, name, _Compiled(name, compile_now))
    module_type.recompile = recompile


# ---- a graph -------------------------------------------------------------------------


def files(graph: RandomGraph, family: Family) -> Exported:
    """The program of a graph, and PyTorch's outputs for each sample. Any exception is a
    refusal by the exporter."""
    with torch.no_grad():
        content, runs = _FLOWS.get(family, _portable)(graph)
    # A number times a 0-d uint8 tensor becomes int64, for instance.
    wanted = [str(value.dtype).removeprefix("torch.") for value in runs[0].outputs]
    if wanted != _dtypes(content["model.pte"]):
        raise ValueError("the exporter changed the dtype of an output")
    content["graph.txt"] = graph.source().encode()
    exact = family == "cortex_m"  # the dialect's own operators, in PyTorch
    tolerance = (0.0, 0.0) if exact else (graph.rtol, graph.atol)
    return Exported(content, runs, *tolerance)


_Made = tuple[dict[str, bytes], list[ExpectedRun]]


def _portable(graph: RandomGraph) -> _Made:
    module, samples = graph.module(), _samples(graph)
    runs = _runs(states.run_of(module), samples)
    exported = torch.export.export(
        module, samples[0], dynamic_shapes=_dynamic_shapes(graph)
    )
    config = exir.EdgeCompileConfig(_check_ir_validity=False)
    program = exir.to_edge(exported, compile_config=config).to_executorch()
    check(program, bool(graph.batched))
    # there is no public way to the .ptd files
    data = {f"{name}.ptd": bytes(blob) for name, blob in program._tensor_data.items()}
    return {"model.pte": bytes(program.buffer), **data}, runs


def _delegated(graph: RandomGraph) -> _Made:
    lowered = _lowered(graph, "xnnpack", None)
    runs = _runs(states.run_of(graph.module(), lowered.changed), _samples(graph))
    return _contents(lowered), runs


def _dtypes(content: bytes) -> list[str]:
    """The dtypes of a program's outputs."""
    method = parse(content).methods[0]
    values = [method.values[number] for number in method.outputs]
    return [DType(value.dtype).label for value in values if isinstance(value, Tensor)]


def _int8(graph: RandomGraph) -> _Made:
    lowered = _lowered(graph, "cortex_m", "int8")
    return _contents(lowered), _runs(
        lowered.outputs, [lowered.taken(sample) for sample in _samples(graph)]
    )


_FLOWS: dict[Family, Callable[[RandomGraph], _Made]] = {
    "xnnpack": _delegated,
    "cortex_m": _int8,
}


def _lowered(
    graph: RandomGraph, backend: flows.Backend, quantize: flows.Quantize | None
) -> flows.Lowered:
    samples, dynamic = _samples(graph), _dynamic_shapes(graph)
    source = Source(Path("graph"), graph.module(), samples[0], dynamic=dynamic)
    return flows.lower(source, backend, quantize, _CORE, Calibration(samples, "minmax"))


def _contents(lowered: flows.Lowered) -> dict[str, bytes]:
    data = {f"{name}.ptd": content for name, content in lowered.data.items()}
    return {"model.pte": lowered.content, **data}


def _samples(graph: RandomGraph) -> list[tuple[Any, ...]]:
    return [tuple(sample) for sample in graph.samples]


def _dynamic_shapes(graph: RandomGraph) -> dict[str, Any] | None:
    if not graph.batched:
        return None
    batch = torch.export.Dim("batch", min=2, max=8)
    shapes = [{0: batch} if index in graph.batched else None for index in graph.inputs]
    return {"inputs": tuple(shapes)}


def _runs(outputs: states.Run, samples: Sequence[Any]) -> list[ExpectedRun]:
    flat = need("torch.utils._pytree").tree_leaves
    return [
        ExpectedRun("forward", list(sample), flat(given))
        for sample, given in zip(samples, outputs(samples), strict=True)
    ]


# ---- what the exporter breaks --------------------------------------------------------


def check(program: Any, dynamic: bool) -> None:
    """Refuses a program that does not compute what the module does."""
    edge = program.exported_program()
    nodes = {node.name: node for node in edge.graph.nodes}
    inputs = [nodes[name].meta["val"] for name in edge.graph_signature.user_inputs]
    # Lowering may make it a number, and still give the range of its symbol.
    sizes = [str(size) for entry in inputs for size in entry.shape]
    if dynamic and all(size.isdecimal() for size in sizes):
        raise ValueError("the exporter made the batch static")
    if any(reads_strange_layout(node) for node in nodes.values()):
        raise ValueError("the exporter makes a view of channels_last without a copy")
    if any(depends_on_order(node) for node in nodes.values()):
        raise ValueError("a product of so many numbers depends on their order")


def depends_on_order(node: Any) -> bool:
    """Whether a product overflows in one order and vanishes in another."""
    if "aten.prod" not in str(node.target):
        return False
    factors, product = first(node).meta["val"], node.meta["val"]
    many = factors.numel() > 100 * max(product.numel(), 1)
    return product.dtype.is_floating_point and bool(many)


def reads_strange_layout(node: Any) -> bool:
    """Whether this is a contiguous view of memory in another order.

    The exporter decomposes pixel_shuffle, stack and others into views, and declares all
    views contiguous. It then drops those that copy nothing, so that a channels_last
    tensor is read in the wrong order.
    """
    if node.target is not need("executorch.exir.memory").view:
        return False
    viewed = first(node).meta["spec"]
    order = [d for d in viewed.dim_order if viewed.shape[d] != 1]
    return order != sorted(order)


# ---- seeds ---------------------------------------------------------------------------


def program(
    family: Family, seed: int, attempt: int
) -> tuple[RandomGraph, list[Values]]:
    torch.manual_seed(seed)
    with torch.no_grad():
        return generated(family, seed, attempt)


def accepted(
    family: Family, seed: int, refused: list[str]
) -> tuple[RandomGraph, list[Values], Exported] | None:
    """The first graph of a seed that the exporter accepts; `refused` gets the rest."""
    for attempt in range(ATTEMPTS):
        graph, known = program(family, seed, attempt)
        try:
            return graph, known, files(graph, family)
        except Exception as bad:  # any refusal of the exporter
            text = " ".join(f"{type(bad).__name__}: {bad}".split())
            refused.append(f"{family} {seed}.{attempt}: {text}")
    return None


def export_seed(family: Family, seed: int, folder: Path) -> list[str]:
    """Writes the case of a seed into `folder`, which does not exist if the exporter
    refuses all graphs; why graphs were refused."""
    refused: list[str] = []
    matching = accepted(family, seed, refused)
    if matching is not None:
        aside = folder.with_name(f"{folder.name}.{os.getpid()}")
        write_case(matching[2], aside)
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    return refused


# ---- the smallest part of a graph that differs ---------------------------------------


Differing = Callable[[Sequence[Path]], list[Path]]  # of folders of cases
_Parts = list[tuple[GraphStep, ...]]


def smallest(family: Family, seed: int, differing: Differing, folder: Path) -> str:
    """Writes the case of the smallest differing part into `folder`, which is replaced;
    its text.

    Steps are tried one by one, then two in a row, and so on; then single steps are
    removed from the row. If no part differs by itself, it is the whole graph.
    """
    matching = accepted(family, seed, [])
    assert matching is not None  # it was exported before
    graph, known, whole = matching
    steps = tuple(graph.steps)
    for row in _parts(steps):
        guilty = _first(graph, known, row, family, differing)
        if guilty is not None:
            break
    else:
        write_case(whole, folder)
        return graph.source()
    while smaller := _first(graph, known, _fewer(guilty), family, differing):
        guilty = smaller
    part = graph.part(guilty, known)
    write_case(files(part, family), folder)
    return part.source()


def _parts(steps: tuple[GraphStep, ...]) -> Iterator[_Parts]:
    """Parts of one step, those of two in a row, and so on, but the whole."""
    for length in range(1, len(steps)):
        starts = range(len(steps) - length + 1)
        yield [steps[start : start + length] for start in starts]


def _fewer(steps: tuple[GraphStep, ...]) -> _Parts:
    """Without one of the steps between the first and the last: those are needed."""
    inner = range(1, len(steps) - 1)
    return [(*steps[:index], *steps[index + 1 :]) for index in inner]


def _first(
    graph: RandomGraph,
    known: list[Values],
    parts: _Parts,
    family: Family,
    differing: Differing,
) -> tuple[GraphStep, ...] | None:
    """The first of the parts that differs; what the exporter refuses does not."""
    with tempfile.TemporaryDirectory(prefix="ember-shrink-") as scratch:
        folders = {}
        for number, steps in enumerate(parts):
            folder = Path(scratch) / f"part_{number:03}"
            part = graph.part(steps, known)
            try:
                write_case(files(part, family), folder)
            except Exception:  # noqa: S112 - any refusal of the exporter
                continue
            folders[folder] = steps
        wrong = differing(list(folders)) if folders else []
        return folders[wrong[0]] if wrong else None
