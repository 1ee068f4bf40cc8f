"""An estimate that does not fit becomes the error of `ember build`, `pack` and `plan`.

It says which memory lacks how much, and what would fit: options, tried one after the
other, other boards, and the largest tensors and constants. `placed()` refuses the same
before there is firmware: for a new project, or sources for another build system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ember import boards, progress
from ember.boards import Board
from ember.errors import SdkError, problem_list
from ember.firmware import jobs
from ember.firmware.advice import gains
from ember.firmware.jobs import Options
from ember.firmware.linking import Estimate
from ember.firmware.pipeline import Pipeline
from ember.firmware.placing import Assumed, Placed
from ember.model.steering import Steering
from ember.plan import occupancy, passes, regions, room
from ember.plan.improved import Chosen, Improved
from ember.plan.memories import NoRoomByRulesError
from ember.select.selection import Selection
from ember.toolchain import compiler, linker
from ember.toolchain.compiler import DoesNotFitError

_PIECES, _BOARDS = 3, 5


class TooSmallError(DoesNotFitError):
    """Models do not fit a board: `shortages` say what lacks room."""

    def __init__(self, facts: Mapping[str, Any], names: str) -> None:
        super().__init__(what(facts, names), hint=hint(facts))
        self.shortages: list[dict[str, Any]] = facts["shortages"]


def error(estimate: Estimate, *, prepared: bool = True) -> TooSmallError:
    """The error of an estimate; possible remedies are tried now.

    `prepared` says whether the command has that option.
    """
    return TooSmallError(of(estimate, prepared=prepared), estimate.pipeline.names)


def of(estimate: Estimate, *, prepared: bool = True) -> dict[str, Any]:
    """The same as JSON."""
    helped = helps(estimate, prepared=prepared)
    return {
        "board": estimate.job.board.name,
        "fits": False,
        "over": estimate.over,
        "shortages": [shortage.to_json() for shortage in estimate.shortages],
        "helps": [each.to_json() for each in helped],
        "boards_that_fit": boards_that_fit(estimate),
        "largest": largest(estimate.pipeline.chosen),
    }


def what(facts: Mapping[str, Any], names: str) -> str:
    problems = [_lacking(shortage) for shortage in facts["shortages"]]
    return problem_list(f"{names} does not fit {facts['board']}", problems)


def _lacking(shortage: Mapping[str, Any]) -> str:
    rows = [f"{name} {size:,}" for name, size in shortage["pieces"].items()]
    more = ", .." if len(rows) > _PIECES else ""
    text = compiler.lacking(
        shortage["memory"], shortage["needed"], shortage["capacity"]
    )
    return f"{text} ({', '.join(rows[:_PIECES])}{more})"


def hint(facts: Mapping[str, Any]) -> str:
    """What would fit: options first, then boards, then what is largest."""
    return "\n  ".join(advice(facts))


def advice(facts: Mapping[str, Any]) -> list[str]:
    lines = [str(Help(**facts_of_help)) for facts_of_help in facts["helps"]]
    fitting = facts["boards_that_fit"]
    more = f", and {len(fitting) - _BOARDS} more" if len(fitting) > _BOARDS else ""
    names = ", ".join(fitting[:_BOARDS]) + more
    lines.append(f"boards with enough memory: {names or 'none known'}")
    for kind, rows in facts["largest"].items():
        if rows:
            sizes = "; ".join(f"{name} {size:,} bytes" for name, size in rows.items())
            lines.append(f"largest {kind}: {sizes}")
    return lines


# ---- what would help -----------------------------------------------------------------


_TOP = 3  # tensors, and constants
# Other boards have other instructions: their code, stack and scratch are assumed to be
# less than this many times as large, plus these bytes.
_FACTOR, _MORE = 3, 16 * 1024
_NEEDS_FACTOR, _NEEDS_MORE = 4, 4 * 1024


@dataclass(frozen=True)
class Help:
    """A change that was tried, and what it brought; sizes are bytes."""

    change: str  # as a command line or ember.yaml has it
    fits: bool
    over: int
    less: Mapping[str, int]  # by memory; negative: it takes more

    def to_json(self) -> dict[str, Any]:
        return {
            "change": self.change,
            "fits": self.fits,
            "over": self.over,
            "less": dict(self.less),
        }

    def __str__(self) -> str:
        less = [
            f"{abs(size):,} bytes {'less' if size > 0 else 'more'} of {name}"
            for name, size in self.less.items()
            if size
        ]
        end = "it fits" if self.fits else f"still {self.over:,} bytes too many"
        return f"with {self.change}: {', '.join([*less, end])}"


def helps(before: Estimate, *, prepared: bool = True) -> list[Help]:
    """Changes that help a job; `prepared`: whether the build may prepare its nodes."""
    trials = _Trials(before)
    for change, options in (
        *_of_code(before),
        *_of_build(before.job.options, prepared=prepared),
    ):
        trials.add(change, options)
    if len(trials.helps) > 1 and not any(help_.fits for help_ in trials.helps):
        both = replace(before.job.options, optimize="size", prepared=True)
        trials.add(f"{_PREPARED} {_SIZE}", both)
    for change, options in _others(before.job.options):
        trials.add(change, options)
    return trials.helps


_PREPARED, _SIZE = "--prepared", "--optimize size"


class _Trials:
    """Changes of a job, one after the other."""

    def __init__(self, before: Estimate) -> None:
        self.before = before
        self.known = [_content(before.pipeline)]
        self.helps: list[Help] = []

    def add(self, change: str, options: Options) -> None:
        with progress.doing(f"trying {change}"):
            after = self._after(options)
        if after is None or after.over >= self.before.over:
            return
        old = {memory.memory: memory.used for memory in self.before.memories}
        less = {
            memory.memory: old[memory.memory] - memory.used for memory in after.memories
        }
        self.helps.append(Help(change, after.fits, after.over, less))

    def _after(self, options: Options) -> Estimate | None:
        """None where the change is impossible or changes nothing."""
        job = self.before.job
        after = Pipeline(jobs.make(job.models, job.board, options, job.app))
        try:
            content = _content(after)
            if content in self.known:
                return None
            self.known.append(content)
            if self.before.reason:
                return after.assumed(self.before.reason)
            return after.linked(jobs.libraries_of(job.board, options))
        except SdkError:
            return None


def _content(pipeline: Pipeline) -> list[Any]:
    """What decides the firmware of a board: boards equal in it build the same."""
    options, chosen = pipeline.job.options, pipeline.chosen
    return [
        options.prepared,
        options.optimize == "speed",  # the compiler is told so
        options.steering.key(),
        options.caller_io and any(map(_has_caller_io, chosen)),
        [(model.content, used.kernels, used.nodes) for model, used in chosen],
    ]


def _of_code(before: Estimate) -> Iterator[tuple[str, Options]]:
    """Without some of the kernels that ember.yaml moves, where they do not fit."""
    out = gains.left_out(before)
    if not out or before.compiled is None:
        return
    options = before.job.options
    code = {
        moved.memory: tuple(
            kernel
            for kernel in moved.kernels
            if kernel not in out.get(moved.memory, ())
        )
        for moved in before.compiled.moved
    }
    steering = replace(options.steering, code={m: k for m, k in code.items() if k})
    what = ", ".join(
        f"{', '.join(kernels)} left out of {memory}" for memory, kernels in out.items()
    )
    yield f"{what} under `code:` of ember.yaml", replace(options, steering=steering)


def _of_build(options: Options, *, prepared: bool) -> Iterator[tuple[str, Options]]:
    if prepared and not options.prepared:
        yield _PREPARED, replace(options, prepared=True)
    if options.optimize != "size":
        yield _SIZE, replace(options, optimize="size")


def _others(options: Options) -> Iterator[tuple[str, Options]]:
    """Other options of the command line or ember.yaml that may help."""
    left_out = [name for name in passes.DEFAULT if name not in options.passes]
    if len(left_out) > 1:
        every = passes.wanted((*options.passes, *left_out))
        yield f"the passes {', '.join(left_out)}", replace(options, passes=every)
    for name in passes.NAMES:
        if name not in options.passes:
            more = passes.wanted((*options.passes, name))
            yield f"the pass {name}", replace(options, passes=more)
    if options.steering:
        rules = "`memory:` left out of ember.yaml"
        yield rules, replace(options, steering=Steering())
    if not options.caller_io:
        yield "--caller-io", replace(options, caller_io=True)


def _has_caller_io(chosen: Chosen) -> bool:
    """Whether a method has inputs or outputs that the program does not plan."""
    return any(
        choice is not None
        for method in chosen.selection.methods
        for choice in (
            *regions.unbound_inputs(method, caller_io=False),
            *regions.unbound_outputs(method, caller_io=False),
        )
    )


# ---- other boards --------------------------------------------------------------------


def boards_that_fit(before: Estimate) -> list[str]:
    """Other boards that surely have room, the smallest first; nothing is compiled."""
    job = before.job
    fitting = []
    for name in boards.names():
        board = job.options.rules.narrowed(boards.load(name))
        another = board.name != job.board.name and board.port != "host"
        if another and _fits_surely(before, board):
            fitting.append((sum(memory.size for memory in board.memories), name))
    return [name for _, name in sorted(fitting)]


def _fits_surely(before: Estimate, board: Board) -> bool:
    job, same = before.job, _is_alike(before.job.board, board)
    chosen = before.pipeline.chosen
    options = replace(job.options, toolchain=None)
    other = [each if same else _larger(*each) for each in chosen]
    try:
        options.rules.allowed(board)
        plan, shortages = regions.placed(
            other,
            board,
            stack=_FACTOR * before.stack,
            caller_io=options.caller_io,
            linked=_linked_there(before, board),
        )
        if options.steering:
            options.steering.check(board, job.models)
            elsewhere = replace(job, board=board)
            Pipeline(elsewhere, other).place(Assumed(before.stack)).check()
    except SdkError:
        return False
    used = regions.to_json(plan)["memories"]
    free = room.of(board, linked=_linked_there(before, board))
    return not shortages and all(
        memory["used"] <= free[memory["name"]] for memory in used
    )


def _is_alike(board: Board, other: Board) -> bool:
    """Whether kernels need the same memory on the other board."""
    facts = ("isa", "svl", "pointer_bytes")
    return all(getattr(board, name) == getattr(other, name) for name in facts)


def _larger(model: Improved, selection: Selection) -> Chosen:
    """The model with the arena, scratch and constants that other kernels may need."""
    needs = tuple(
        replace(
            need,
            arena=2 * need.arena,
            temp=_NEEDS_FACTOR * need.temp + _NEEDS_MORE,
        )
        for need in selection.needs
    )
    if any(method.delegates for method in model.program.methods):
        model = replace(model, data=(*model.data, bytes(len(model.content))))
    return Chosen(model, replace(selection, needs=needs))


def _linked_there(before: Estimate, board: Board) -> dict[str, int]:
    """Code and variables as they may be on another board, by memory."""
    if before.reason:
        return room.guessed(board)
    where = linker.place(board)
    sizes: dict[str, int] = {}
    writable = [ram.name for ram in before.job.board.memories if ram.writable]
    for name, size in before.linked.items():
        for role in ("data", "code") if name in writable else ("code",):
            memory = where[role]
            sizes[memory] = sizes.get(memory, 0) + _FACTOR * size
    sizes[where["code"]] = sizes.get(where["code"], 0) + _MORE
    return sizes


# ---- what is largest -----------------------------------------------------------------


Named = dict[str, int]  # bytes


def largest(chosen: Sequence[Chosen]) -> dict[str, Named]:
    """The tensors that are alive at the highest peak, and the constants."""
    return {
        "tensors": _largest_tensors(chosen),
        "constants": _largest_constants(chosen),
    }


def _largest_tensors(chosen: Sequence[Chosen]) -> Named:
    known = chosen[0].selection.known
    methods = (
        (model, method) for model, selection in chosen for method in selection.methods
    )
    peaks = [
        memory["peak"]
        for occupied in occupancy.of_all(methods, known)
        for memory in occupied["memories"]
    ]
    most = max(peaks, key=lambda peak: peak["bytes"], default=None)
    tensors = most["tensors"][:_TOP] if most else []
    return {tensor["name"]: tensor["bytes"] for tensor in tensors}


def _largest_constants(chosen: Sequence[Chosen]) -> Named:
    sizes: dict[tuple[int, int], tuple[str, int]] = {}
    rows: list[tuple[str, int]] = []
    for number, (model, _) in enumerate(chosen):
        rows += [(data.key, len(data.data)) for data in model.program.named_data]
        for method in model.program.methods:
            for index, value in method.tensors:
                if value.is_constant:
                    name = value.name or f"value {index} of {method.name}"
                    sizes[number, value.data_index] = (name, value.nbytes)
    rows += sizes.values()
    return dict(sorted(rows, key=lambda row: -row[1])[:_TOP])


# ---- before there is firmware --------------------------------------------------------


def placed(pipeline: Pipeline, board: Board) -> Placed:
    """The models of a job, whose board may have some memories of `board` only."""
    guess = Assumed(pipeline.job.options.stack or linker.DEFAULT_STACK)
    try:
        placed = pipeline.place(guess)
        if not placed.shortages:
            return placed
    except NoRoomByRulesError:
        pass  # a rule of the project has no room for a guess
    estimate = _linked(pipeline, board)
    if pipeline.job.board is board:
        return estimate.placed
    settled = Assumed(estimate.stack, estimate.linked, spread=False)
    rows = estimate.job.options.rows
    same = rows == pipeline.job.options.rows
    there = pipeline if same else pipeline.with_options(rows=rows)
    return there.place(settled)


def _linked(pipeline: Pipeline, board: Board) -> Estimate:
    """Linked as by `ember build` for `board`, but in the memories of the job."""
    given = pipeline.job.board
    part = board.model_copy(update={"memories": given.memories})
    estimate = pipeline.on(part).estimate()
    if estimate.fits:
        return estimate
    whole = estimate if given is board else pipeline.on(board).estimate()
    if whole.fits:
        raise _more_memories(pipeline, board, estimate)
    raise error(whole, prepared=False)


def _more_memories(pipeline: Pipeline, board: Board, estimate: Estimate) -> SdkError:
    names = pipeline.names
    memories = " and ".join(memory.name for memory in pipeline.job.board.memories)
    lacking = ", ".join(
        compiler.lacking(shortage.memory, shortage.needed, shortage.capacity)
        for shortage in estimate.shortages
    )
    return SdkError(
        f"{names} fits {board.name} only with other memories than {memories}, which"
        f" sources are planned for: {lacking}",
        hint="use `ember build`, or `ember pack` with CMake: they use every memory",
    )
