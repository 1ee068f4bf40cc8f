"""Cases and boards become figures of their firmware; two sets of figures, regressions.

A baseline is a JSON file that a team keeps beside its models: for each board and case
what the firmware took when it was stored. Counts of emulators are exact, so any growth
is a regression; the outcome of its case then fails.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ember import files
from ember.boards import Board
from ember.cases import inputs
from ember.cycles import estimate
from ember.errors import SdkError
from ember.firmware import Options, build
from ember.run import run
from ember.run.run import NodeRun, RunLog
from ember.run.testing import Outcome
from ember.toolchain import emulator

_VERSION = 1
_KEY = "ember_baseline"
_IN_FLASH = ("code", "rodata", "data", "model")
_IN_RAM = ("data", "bss", "arena", "stack")


@dataclass(frozen=True)
class NodeFigures:
    """A call of the packed program, and its instructions in one execution."""

    op: str
    kernel: str | None
    instructions: int | None


@dataclass(frozen=True)
class Figures:
    """Of one case on one board, the first run of the case; None: nobody counts it.

    `instructions` and `cycles` (an estimate) are those of an execution, `load` the
    instructions of loading, `ram` and `flash` the bytes of the linked image, `outputs`
    a digest of what came out.
    """

    instructions: int | None
    load: int | None
    cycles: int | None
    ram: int
    flash: int
    outputs: str
    nodes: tuple[NodeFigures, ...] = ()


COUNTED = ("instructions", "load", "cycles", "ram", "flash")


@dataclass(frozen=True)
class FigureChange:
    """One figure of a case that is another than the baseline's."""

    board: str
    case: str
    figure: str
    before: int
    after: int
    node: str = ""  # that which took most of the growth

    @property
    def share(self) -> float:
        """Of the old figure; infinite, where that was 0."""
        return (self.after - self.before) / self.before if self.before else float("inf")

    @property
    def text(self) -> str:
        grown = f"{self.after - self.before:+,}, {100 * self.share:+.1f} %"
        said = f"{self.figure} {self.before:,} -> {self.after:,} ({grown})"
        return f"{said}; most in {self.node}" if self.node else said


Baseline = Mapping[str, Mapping[str, Figures]]  # by board and case


def measure(
    outcome: Outcome,
    options: Options,
    timeout_s: float | None = None,
    *,
    board: Board | None = None,
    out: Path | None = None,
) -> Figures:
    """The figures of a case that passed: it is built by itself, as for a product.

    `board` is what the outcome's name stands for, where that is none of Ember's; `out`
    the build folder.
    """
    given = inputs.of_case(outcome.path)
    assert given is not None
    options = replace(options, methods=(given.method,))
    built = build(outcome.path, board or outcome.board, out=out, options=options)
    log = run.run(
        built,
        inputs.lay_out(built.methods[0], given.given),
        cycles=_has_cycles(built.board),
        timeout_s=timeout_s,
    )
    return _figures(log)


def _has_cycles(board: Board) -> bool:
    try:
        estimate.check_known(board.cpu)
    except SdkError:
        return False
    return emulator.unit(board) is not None


def _figures(log: RunLog) -> Figures:
    sizes = log.built.sizes["size"]
    return Figures(
        instructions=log.execute,
        load=log.load,
        cycles=log.execute_cycles.core,
        ram=sum(sizes.get(name, 0) for name in _IN_RAM),
        flash=sum(sizes.get(name, 0) for name in _IN_FLASH),
        outputs=hashlib.sha256(inputs.to_bytes(log.outputs)).hexdigest()[:16],
        nodes=tuple(_node(node) for node in log.nodes if node.executions),
    )


def _node(node: NodeRun) -> NodeFigures:
    return NodeFigures(node.op, node.kernel, node.instructions)


# ---- comparison ----------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """What two sets of figures of a case say."""

    changes: tuple[FigureChange, ...]  # every figure that differs
    outputs: bool  # these differ
    allowed: float = 0.0  # tolerated growth, as a share

    @property
    def regressions(self) -> tuple[FigureChange, ...]:
        return tuple(change for change in self.changes if change.share > self.allowed)

    @property
    def message(self) -> str:
        """A sentence for what is worse than the baseline; "" where nothing is."""
        said = [change.text for change in self.regressions]
        if self.outputs:
            said.append("the outputs have other bits than the baseline's")
        return "; ".join(said)


def compare(
    outcome: Outcome, before: Figures, after: Figures, allowed: float = 0.0
) -> Compared:
    return Compared(
        tuple(_changes(outcome, before, after)),
        before.outputs != after.outputs,
        allowed,
    )


def _changes(
    outcome: Outcome, before: Figures, after: Figures
) -> Iterator[FigureChange]:
    for figure in COUNTED:
        old, new = getattr(before, figure), getattr(after, figure)
        if old is not None and new is not None and old != new:
            node = _grown(before, after) if figure == "instructions" else ""
            yield FigureChange(outcome.board, outcome.name, figure, old, new, node)


def _grown(before: Figures, after: Figures) -> str:
    """The node whose instructions grew most."""
    if [node.op for node in before.nodes] != [node.op for node in after.nodes]:
        return "nodes that the program did not have"
    pairs = enumerate(zip(before.nodes, after.nodes, strict=True))
    growth = [
        ((new.instructions or 0) - (old.instructions or 0), place)
        for place, (old, new) in pairs
    ]
    most, place = max(growth, default=(0, 0))
    if most <= 0:
        return ""
    node, old = after.nodes[place], before.nodes[place]
    same = node.kernel == old.kernel
    kernel = node.kernel if same else f"{old.kernel} -> {node.kernel}"
    return f"node {place}, {node.op} by {kernel} ({most:+,})"


# ---- files ---------------------------------------------------------------------------


def read(path: Path) -> Baseline:
    """A stored baseline. SdkError where the file is none."""
    facts = files.read_json(path)
    if not isinstance(facts, dict) or facts.get(_KEY) != _VERSION:
        raise SdkError(
            f"{path} is not a baseline of this version of Ember",
            hint="delete the file: it is stored again",
        )
    try:
        return {
            board: {case: _parsed(figures) for case, figures in cases.items()}
            for board, cases in facts["boards"].items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise SdkError(
            f"{path} is not a baseline: {error} is missing or wrong",
            hint="delete the file: it is stored again",
        ) from None


def _parsed(facts: Any) -> Figures:
    known = {field.name: facts[field.name] for field in fields(Figures)}
    for name in COUNTED:
        if not isinstance(known[name], int | None):
            raise TypeError(f"{name} {known[name]!r}")
    nodes = tuple(NodeFigures(**node) for node in known["nodes"])
    return Figures(**(known | {"nodes": nodes}))


def document(baseline: Baseline) -> dict[str, Any]:
    """What is written: boards and cases in order, for short differences."""
    return {
        _KEY: _VERSION,
        "boards": {
            board: {case: asdict(figures) for case, figures in sorted(cases.items())}
            for board, cases in sorted(baseline.items())
        },
    }


def joined(old: Baseline, new: Baseline) -> Baseline:
    """`old`, with the cases of `new` in place of its own."""
    return {
        board: {**old.get(board, {}), **new.get(board, {})} for board in {*old, *new}
    }


# ---- regressions ---------------------------------------------------------------------


@dataclass
class Regressions:
    """What was measured, and how it stands beside the baseline."""

    stored: Baseline
    allowed: float = 0.0  # tolerated growth, as a share
    measured: dict[str, dict[str, Figures]] = field(default_factory=dict)
    changes: list[FigureChange] = field(default_factory=list)
    unknown: list[Outcome] = field(default_factory=list)  # not in the baseline
    unmeasured: int = 0  # cases that passed, but have no figures

    def check(
        self,
        results: Iterable[Outcome],
        options: Options,
        timeout_s: float | None = None,
    ) -> list[Outcome]:
        """Measure what passed; what got worse has failed."""
        return [
            self._checked(outcome, options, timeout_s)
            if outcome.status == "passed"
            else outcome
            for outcome in results
        ]

    def _checked(
        self, outcome: Outcome, options: Options, timeout_s: float | None
    ) -> Outcome:
        try:
            now = measure(outcome, options, timeout_s)
        except SdkError as error:
            self.unmeasured += 1
            what = " ".join(error.what.split())
            return replace(outcome, status="error", message=f"not measured: {what}")
        self.measured.setdefault(outcome.board, {})[outcome.name] = now
        then = self.stored.get(outcome.board, {}).get(outcome.name)
        if then is None:
            self.unknown.append(outcome)
            return outcome
        compared = compare(outcome, then, now, self.allowed)
        self.changes += compared.changes
        if not compared.message:
            return outcome
        return replace(outcome, status="failed", message=compared.message)

    def to_json(self) -> dict[str, Any]:
        return {
            "changes": [
                {
                    "board": change.board,
                    "case": change.case,
                    "figure": change.figure,
                    "before": change.before,
                    "after": change.after,
                    "node": change.node or None,
                }
                for change in self.changes
            ],
            "unknown": [
                {"board": outcome.board, "case": outcome.name}
                for outcome in self.unknown
            ],
        }
