"""Models, a board and options become a job: what a firmware is made of, and its key."""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ember import paths, program, progress
from ember.boards import Board
from ember.build import repack
from ember.build.project import Project
from ember.errors import SdkError
from ember.kernels.rules import Rules
from ember.model import Model
from ember.model.steering import Steering
from ember.plan import copies, lending, memories, passes
from ember.plan import regions as plan
from ember.plan.improved import Chosen, Improved
from ember.plan.memories import Spread
from ember.program import Method, adopt
from ember.select import prepack
from ember.select import selection as selections
from ember.select.gaps import Gap
from ember.select.selection import Examined, Selection
from ember.toolchain import libraries, user_kernels
from ember.toolchain.libraries import Libraries


@dataclass(frozen=True)
class Options:
    """What a user may ask of a build."""

    methods: tuple[str, ...] = ()  # none: forward, or the only one
    app: Path | None = None  # a main() of the user's own
    messages: bool = False  # keep error sentences and kernel names
    caller_io: bool = False
    prepared: bool = False  # nodes are prepared now, not when the firmware loads
    stack: int | None = None  # bytes; None: as many as the code may need
    toolchain: str | None = None
    optimize: libraries.Optimize = libraries.DEFAULT_OPTIMIZE
    rules: Rules = field(default_factory=Rules)
    steering: Steering = field(default_factory=Steering)
    passes: tuple[str, ...] = passes.DEFAULT  # of packing


def options_of(
    plans: Project,
    optimize: libraries.Optimize | None = None,
    only_passes: str | None = None,
    no_pass: Sequence[str] | None = None,
) -> Options:
    """What a command line asks of every build; the project where it says nothing."""
    names: Sequence[str] = plans.passes
    if only_passes is not None:
        names = [one for one in only_passes.split(",") if one]
    return Options(
        optimize=optimize or plans.optimize,
        rules=plans.rules,
        passes=passes.wanted(names, no_pass or ()),
        steering=plans.steering,
    )


@dataclass(frozen=True)
class Job:
    """What a firmware is made of, beside compiled libraries."""

    models: tuple[Model, ...]
    methods: tuple[tuple[Method, ...], ...]  # of each model
    board: Board
    options: Options
    app: Path | None


def make(
    found: Sequence[Model], board: Board, options: Options, app: Path | None
) -> Job:
    """The job of options, with what they say of kernels as a rule."""
    smallest = options.optimize == "size"
    options = replace(options, rules=replace(options.rules, smallest=smallest))
    return Job(tuple(found), _methods(found, options), board, options, app)


def _methods(
    found: Sequence[Model], options: Options
) -> tuple[tuple[Method, ...], ...]:
    """Of each model those that were asked for; of several models all without a wish."""
    if len(found) > 1 and not options.methods:
        return tuple(model.program.methods for model in found)
    wanted = options.methods or (None,)
    return tuple(
        tuple(dict.fromkeys(model.method(name) for name in wanted)) for model in found
    )


def asked(options: Options) -> dict[str, Any]:
    """What the libraries must be told."""
    return {
        "messages": options.messages,
        "toolchain": options.toolchain,
        "optimize": options.optimize,
    }


def libraries_of(board: Board, options: Options) -> Libraries:
    """The libraries to link firmware with, by parts.of()."""
    made = libraries.build(board, **asked(options), whole=False)
    return made.for_prepared() if options.prepared else made


@dataclass(frozen=True)
class Planned:
    """Where everything lies, and what lacks room; `facts` are the plan's JSON."""

    selected: Spread
    plans: list[plan.Plan]
    shortages: list[plan.Shortage]
    facts: dict[str, Any]
    seconds: float = 0.0  # of the processor, for placing it

    def check(self) -> Planned:
        """Itself; SdkError when something lacks room."""
        if self.shortages:
            names = ", ".join(model.name for model, _ in self.selected.pairs)
            raise plan.NoRoomError(names, self.plans[0].board, self.shortages)
        return self


def planned(
    job: Job,
    pairs: Sequence[Chosen],
    stack: int,
    linked: Mapping[str, int] | None = None,
    *,
    spread: bool = True,
) -> Planned:
    """The models over the memories of the board, `spread` by what is accessed how
    often; with bytes by memory of code and variables as they are `linked`, a guess
    when None."""
    began = time.process_time()
    options = job.options
    selected = Spread(list(pairs))
    if spread:
        selected = memories.spread(
            pairs,
            job.board,
            options.rules,
            options.steering,
            stack=stack,
            caller_io=options.caller_io,
            linked=linked,
        )
    lent = lending.lending(selected.pairs, job.board, reload=options.steering.reload)
    plans, shortages = plan.placed(
        selected.pairs,
        job.board,
        stack=stack,
        caller_io=options.caller_io,
        homes=selected.homes,
        lent=lent.size,
        linked=linked,
    )
    facts = _facts(selected, plans, lent)
    seconds = time.process_time() - began
    return Planned(selected, plans, shortages, facts, seconds)


def _facts(
    selected: Spread, plans: list[plan.Plan], lent: lending.Lending
) -> dict[str, Any]:
    conflicts = [
        one.conflict
        for model, _ in selected.pairs
        for one in model.replanned.values()
        if one.conflict
    ]
    done = [
        {"model": model.name, **asdict(one)}
        for model, _ in selected.pairs
        for one in model.passes
    ]
    facts = {"traffic": selected.facts, "conflicts": conflicts, "passes": done}
    facts |= _delegates(selected.pairs) | {"payloads": lent.to_json(plans)}
    facts |= {"copies": copies.to_json(selected.copies)}
    apart = list(plan.exclusive.kept_apart(selected.pairs, selected.homes))
    return plan.to_json(plans) | facts | {"kept_apart": apart}


def _delegates(pairs: Sequence[Chosen]) -> dict[str, Any]:
    """The parts of scratch and constants that are those of delegates, bytes."""
    rows: list[dict[str, Any]] = [
        {"model": model.name, "method": method.name, "index": index} | one.to_json()
        for model, chosen in pairs
        for method, needs in zip(chosen.methods, chosen.needs, strict=True)
        for index, one in needs.delegates.items()
    ]
    most = max((one["values"] + one["work"] for one in rows), default=0)
    packed = sum(sum(model.packed.values()) for model, _ in pairs)
    return {"delegate": most, "delegates": rows, "packed": packed}


def choose(job: Job) -> list[Chosen]:
    """Each model packed, with its selection; all gaps are told together."""
    results: list[Chosen] = []
    gaps: list[Gap] = []
    options = job.options
    reload, count = options.steering.reload, sum(map(len, job.methods))
    for model, methods in zip(job.models, job.methods, strict=True):
        names = [one.name for one in methods]
        with progress.doing(f"choosing kernels for {model.name}"):
            packed, found = _packed(model, names, job)
        if not lending.may_lend(job.board, count, reload=reload):
            packed = lending.payloads_last(packed, names[0])
        gaps += found.gaps
        if found.selection is not None:
            results.append(Chosen(packed, found.selection))
    if gaps:
        raise selections.missing(gaps)
    if job.options.prepared:
        results = [Chosen(model, _without_arena(model, one)) for model, one in results]
    return results


def _packed(model: Model, names: Sequence[str], job: Job) -> tuple[Improved, Examined]:
    """A model after passes, with weights packed for its kernels."""
    options = job.options
    whole = model if options.caller_io else _with_buffers(model)
    packed = repack.repack(whole, options.rules.known, options.passes, job.board)
    found = _examined(packed, names, job)
    if found.selection is not None:
        weights = prepack.prepack(packed, found.selection.needs)
        if weights is not None:
            made = replace(
                packed,
                program=weights.program,
                content=program.write(weights.program),
                data=weights.data,
                packed=weights.sizes,
            )
            return made, _examined(made, names, job)
    return packed, found


def _with_buffers(model: Model) -> Model:
    """The model with memory for the buffers that it leaves to its caller."""
    made = adopt.adopted(model.program)
    if made is model.program:
        return model
    return replace(model, program=made, content=program.write(made))


def _examined(model: Improved, methods: Sequence[str], job: Job) -> Examined:
    return selections.examine(
        model.program,
        model.content,
        model.data,
        job.board,
        [model.method(name) for name in methods],
        model.name,
        job.options.rules,
        model.origins,
    )


def _without_arena(model: Improved, chosen: Selection) -> Selection:
    """The selection of methods that need none, because they are prepared already."""
    for method, own in zip(chosen.methods, chosen.needs, strict=True):
        if own.changing:
            raise SdkError(
                f"{model.name} cannot be prepared: arguments in {method.name} can"
                " change at run time",
                hint="build without --prepared",
            )
    needs = tuple(replace(one, arena=0) for one in chosen.needs)
    return replace(chosen, needs=needs, prepared=True)


def app_of(path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise SdkError(f"the application {path} does not exist")
    return path.absolute() if path else None


# ---- the key -----------------------------------------------------------------------


def key(job: Job, made: Libraries) -> str:
    """Names everything that a firmware depends on."""
    digest = hashlib.sha256(made.key.encode())
    digest.update(_sdk_digest())
    for model in job.models:
        for content in (model.content, *model.data):
            digest.update(hashlib.sha256(content).digest())
    if job.app is not None:
        for path in sorted(job.app.parent.glob("*.[ch]")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    options = job.options
    facts = [
        job.board.model_dump(mode="json"),
        [model.name for model in job.models],
        [[one.name for one in methods] for methods in job.methods],
        [str(job.app), options.messages, options.caller_io, options.stack],
        options.prepared,
        [options.toolchain, options.rules.key(), options.steering.key()],
        options.passes,
    ]
    digest.update(json.dumps(facts).encode())
    digest.update(user_kernels.digest(options.rules.known))
    return digest.hexdigest()


@functools.cache
def _sdk_digest() -> bytes:
    """A hash of the SDK and of the applications that it links."""
    digest = hashlib.sha256()
    files = [*paths.package().rglob("*.py"), *(paths.runtime() / "app").iterdir()]
    files.append(paths.kernels() / "kernels.yaml")
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()
