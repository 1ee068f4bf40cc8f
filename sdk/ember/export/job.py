"""An `ExportOrder` becomes the bytes of a .pte or .bpte file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ember import boards, kernels, program
from ember.boards import Board
from ember.errors import SdkError, UsageError, problem_list
from ember.export import blame, cases, flows, quantising, shares, source
from ember.export.calibration import Calibration, Method
from ember.export.damage import Damage
from ember.export.flows import Backend, Lowered, Quantize
from ember.export.graph import states
from ember.export.packages import need, quiet
from ember.export.shares import Shares
from ember.export.source import Sample, Source
from ember.model import describe
from ember.model.describe import Edge
from ember.select import gaps, selection
from ember.select.rules import Rules
from ember.select.selection import Selection

_BY_SAMPLES = ("int8", "int4w8a", "int16x8", "int8-dynamic")  # these are calibrated
_STRICT = ("int8", "int4w8a", "int16x8")  # whose activations are integers
_EDGES = {"int8": ("int8", "int4w8a"), "int16": ("int16x8",)}
_TESTS = 4  # samples beside the example that a bundled program is tested on
_CORE = "cortex-m55"  # whose layouts a program has that is for no board


@dataclass(frozen=True)
class ExportOrder:
    """What a user can ask of an export."""

    path: Path
    board: Board | None = None
    quantize: Quantize | None = None
    backend: Backend | None = None
    calibrate: Path | None = None
    bundled: bool = True  # a .bpte
    rules: Rules = field(default_factory=Rules)
    io: str = "float"  # or what inputs and outputs stay: int8, int16
    measured: bool = False  # what quantising does to each layer
    recorded: bool = False  # an ETRecord, for ExecuTorch's Inspector
    strict: bool = False  # nothing computes in float
    method: Method = "measured"  # for ranges of activations


@dataclass(frozen=True)
class Made:
    """An exported program and facts about it."""

    content: bytes
    backend: Backend
    calibration: int | None  # samples; None: nothing was quantised by samples
    tests: int
    distance: float  # of outputs from those of the model itself
    notes: tuple[str, ...] = ()  # what was done otherwise than asked
    edges: tuple[Edge, ...] = ()  # inputs and outputs of the program
    damage: Damage | None = None  # where it was asked for
    record: bytes | None = None  # an ETRecord, where it was asked for
    shares: Shares | None = None  # of integers, in a quantised program
    ranges: Calibration | None = None  # how samples became ranges


def run(order: ExportOrder) -> Made:
    """Exports. Raises SdkError for every failure, with operator and source line."""
    if order.strict and order.quantize not in _STRICT:
        raise UsageError(f"--strict needs --quantize {' or '.join(_STRICT)}")
    backend = order.backend or flows.backend_for(order.board, order.quantize)
    module = source.read(order.path)
    if _takes_quantised(order) and quantising.is_quantised(module.model):
        order = replace(order, quantize="int8")
        backend = flows.backend_for(order.board, order.quantize)
    flows.check(backend, order.quantize, module)
    if order.io != "float" and order.quantize not in _EDGES[order.io]:
        able = " or ".join(_EDGES[order.io])
        raise UsageError(f"--io {order.io} needs --quantize {able}")
    given = (
        source.read_samples(order.calibrate, module.inputs)
        if order.calibrate
        else module.calibration
    )
    damage = Damage() if order.measured else None
    calibration = Calibration(given or (module.inputs,), order.method, damage)
    lowered = _lowered(order, module, backend, calibration)
    if lowered.data:
        raise SdkError(
            f"{order.path} has external data, which `ember export` cannot write"
        )
    chosen = _chosen(order, lowered, flows.instead_of(backend, order.quantize))
    parts = _shares(order, chosen)
    tested = [module.inputs, *given[:_TESTS]]
    content, distance = _tested(order, module, lowered, tested)
    calibrated = len(given) if order.quantize in _BY_SAMPLES else None
    count = len(tested) if order.bundled else 0
    parsed = program.parse(lowered.content)
    edges = describe.of(parsed, parsed.methods[0])
    return Made(
        content=content,
        backend=backend,
        calibration=calibrated,
        tests=count,
        distance=distance,
        notes=lowered.notes,
        edges=edges,
        damage=damage,
        record=lowered.record,
        shares=parts,
        ranges=calibration if calibration.chosen else None,
    )


def _shares(order: ExportOrder, chosen: Selection) -> Shares | None:
    """What is in integers. Raises SdkError if that shall be all, and is not."""
    if order.quantize is None:
        return None
    integer = "int16" if order.quantize == "int16x8" else "int8"
    parts = shares.of(chosen, integer, order.rules.known, order.board)
    if order.strict:
        shares.check(parts, order.path)
    return parts


def _takes_quantised(order: ExportOrder) -> bool:
    """Whether a model that is quantised already is for the integers of a Cortex-M."""
    is_asked = order.quantize is not None or order.backend is not None
    return not is_asked and order.board is not None and order.board.port == "cortexm"


def _lowered(
    order: ExportOrder,
    module: Source,
    backend: Backend,
    calibration: Calibration,
) -> Lowered:
    core = order.board.cpu if order.board and order.board.port == "cortexm" else _CORE
    what = f"the exporter cannot lower {order.path} to {backend}"
    hint = flows.instead_of(backend, order.quantize)
    with _explained(what, order.path, hint=hint), need("torch").no_grad():
        return flows.lower(
            module,
            backend,
            order.quantize,
            core,
            calibration,
            integer_edges=order.io != "float",
            recorded=order.recorded,
        )


def _tested(
    order: ExportOrder, module: Source, lowered: Lowered, samples: Sequence[Sample]
) -> tuple[bytes, float]:
    """The bytes to write, and how far the outputs are from the model's own."""
    with need("torch").no_grad():
        with _explained(f"PyTorch cannot run {order.path}", order.path):
            exact = states.run_of(module.model, lowered.changed)(samples)
        what = f"the outputs of {order.path} cannot be computed"
        with _explained(what, order.path, lowered.graph):
            outputs = lowered.outputs([lowered.taken(sample) for sample in samples])
        real = [lowered.edges.real([output]) for output in outputs]
        distance = cases.distance(exact, real)
    if not order.bundled:
        return lowered.content, distance
    return cases.bundled(lowered, samples, outputs), distance


@contextlib.contextmanager
def _explained(
    what: str, path: Path, nodes: Sequence[Any] = (), hint: str | None = None
) -> Iterator[None]:
    """Silences the exporter and turns its errors into sentences."""
    try:
        with quiet():
            yield
    except SdkError:
        raise
    except quantising.NothingQuantisedError as error:
        raise SdkError(f"{path}: {error}", "leave out --quantize") from error
    except Exception as error:
        raise blame.of(what, error, path, nodes, hint) from error


def _chosen(order: ExportOrder, lowered: Lowered, hint: str | None) -> Selection:
    """The kernels of the board. Raises SdkError that names each operator without one,
    and where the source calls it."""
    target = order.board or boards.load("host")
    parsed, content = kernels.read_program(lowered.content, str(order.path))
    examined = selection.examine(
        parsed,
        content,
        (),
        target,
        parsed.methods,
        order.path.stem,
        order.rules,
    )
    if examined.selection is None:
        problems = [_told(gap, lowered) for gap in examined.gaps]
        what = problem_list(f"{target.name} cannot run {order.path}", problems)
        raise SdkError(what, hint)
    return examined.selection


def _told(gap: gaps.Gap, lowered: Lowered) -> str:
    if gap.remedy == gaps.CONTRADICTS:  # that was the exporter, just now
        gap = replace(gap, remedy="the exporter's call contradicts itself")
    places = blame.calls_of(lowered.graph, gap.op)
    return f"{gap}, called {'; '.join(places)}" if places else str(gap)
