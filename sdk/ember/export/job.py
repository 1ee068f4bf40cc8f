"""One export from the source to the bytes of a .pte or .bpte file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ember import boards, gaps, program, selection
from ember.boards import Board
from ember.errors import SdkError, problem_list
from ember.export import blame, flows, samples, source, tests
from ember.export.flows import Backend, Lowered, Quantize
from ember.export.packages import quiet
from ember.export.source import Sample, Source
from ember.rules import Rules

_TESTS = 4  # samples beside the example that a bundled program is tested on
_CORE = "cortex-m55"  # whose layouts a program has that is for no board


@dataclass(frozen=True)
class Order:
    """What a user may ask of an export."""

    path: Path
    board: Board | None = None
    quantize: Quantize | None = None
    backend: Backend | None = None
    calibrate: Path | None = None
    bundled: bool = True  # a .bpte
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True)
class Made:
    """An exported program and what is worth telling of it."""

    content: bytes
    backend: Backend
    calibration: int | None  # samples; None: nothing was quantised by samples
    tests: int
    distance: float  # of outputs from those of the model itself


def run(order: Order) -> Made:
    """Export; every failure is an SdkError that names operator and source line."""
    backend = order.backend or flows.backend_for(order.board, order.quantize)
    found = source.read(order.path)
    flows.check(backend, order.quantize, found)
    given = (
        samples.read(order.calibrate, found.inputs)
        if order.calibrate
        else found.calibration
    )
    lowered = _lowered(order, found, backend, given or (found.inputs,))
    if lowered.data:
        raise SdkError(f"{order.path} makes external data, which export cannot write")
    _check(order, lowered)
    tested = [found.inputs, *given[:_TESTS]]
    with quiet():
        content = tests.bundled(lowered, tested) if order.bundled else lowered.content
        distance = tests.distance(lowered, found.model, tested)
    calibrated = len(given) if order.quantize in ("int8", "int8-dynamic") else None
    return Made(
        content, backend, calibrated, len(tested) if order.bundled else 0, distance
    )


def _lowered(
    order: Order, found: Source, backend: Backend, calibration: Sequence[Sample]
) -> Lowered:
    core = order.board.cpu if order.board and order.board.port == "cortexm" else _CORE
    try:
        with quiet():
            return flows.lower(found, backend, order.quantize, core, calibration)
    except SdkError:
        raise
    except Exception as error:
        what = f"the exporter cannot take {order.path} to {backend}"
        raise blame.of(what, error, order.path) from error


def _check(order: Order, lowered: Lowered) -> None:
    """An SdkError that names each operator the board has no kernel for, and where the
    source calls it."""
    target = order.board or boards.load("host")
    parsed = program.parse(lowered.content, str(order.path))
    found = selection.examine(
        parsed,
        lowered.content,
        (),
        target,
        parsed.methods,
        order.path.stem,
        order.rules,
    )
    if found.gaps:
        problems = [_told(one, lowered) for one in found.gaps]
        raise SdkError(problem_list(f"{target.name} cannot run {order.path}", problems))


def _told(gap: gaps.Gap, lowered: Lowered) -> str:
    lines = blame.calls_of(lowered.graph, gap.op)
    return f"{gap}, called at {'; '.join(lines)}" if lines else str(gap)
