"""Models, a board and options become a job: what a firmware is made of, and its key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ember import __version__, kept, paths
from ember.boards import Board
from ember.errors import UsageError
from ember.firmware.project import Project
from ember.firmware.stack.ports import Interrupts
from ember.model import Model
from ember.model import read as read_model
from ember.model.steering import Steering
from ember.plan import passes
from ember.plan.passes import Rows
from ember.program import Method
from ember.select.rules import Rules
from ember.toolchain import libraries, user_code
from ember.toolchain.compiler import Libraries
from ember.toolchain.user_code import UserCode


@dataclass(frozen=True)
class Options:
    """What a user may ask of a build."""

    methods: tuple[str, ...] = ()  # empty: forward, or the only one
    app: UserCode | Path | None = None  # a main() of the user's own
    messages: bool = False  # keep error sentences and kernel names
    caller_io: bool = False
    prepared: bool = False  # nodes are prepared now, not when the firmware loads
    stack: int | None = None  # bytes; None: as many as the code may need
    toolchain: str | None = None
    optimize: libraries.Optimize = libraries.DEFAULT_OPTIMIZE
    rules: Rules = field(default_factory=Rules)
    steering: Steering = field(default_factory=Steering)
    passes: tuple[str, ...] = passes.DEFAULT  # of packing
    rows: Rows = "fit"  # regions that run row by row
    interrupts: Interrupts = field(default_factory=Interrupts)  # of the application
    # Names of classes, by model; "": of the only one.
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def told(self, board: Board) -> dict[str, str]:
        """What a comparison of two results on `board` tells first, where it differs."""
        toolchain = self.toolchain or board.toolchain
        return {
            "board": board.name,
            "Ember": __version__,
            "toolchain": toolchain,
            "compiler": libraries.compiler_version(toolchain),
            "--optimize": self.optimize,
            "--prepared": "yes" if self.prepared else "no",
            "--messages": "yes" if self.messages else "no",
            "--caller-io": "yes" if self.caller_io else "no",
            "--stack": "as bounded" if self.stack is None else f"{self.stack:,}",
            "--rows": self.rows,
            "passes": ", ".join(self.passes) or "none",
        }


def options_of(
    plans: Project,
    optimize: libraries.Optimize | None = None,
    only_passes: str | None = None,
    no_pass: Sequence[str] | None = None,
    rows: Rows | None = None,
) -> Options:
    """The options of a command line, with the project's where it says nothing."""
    optimize = optimize or plans.optimize
    names: Sequence[str] = plans.passes
    if only_passes is not None:
        names = [name for name in only_passes.split(",") if name]
    elif names == passes.DEFAULT:
        names = passes.default(optimize)
    return Options(
        stack=plans.stack,
        optimize=optimize,
        rules=plans.rules,
        passes=passes.wanted(names, no_pass or ()),
        rows=rows or plans.rows,
        steering=plans.steering,
        labels=plans.labels,
        interrupts=plans.interrupts,
    )


@dataclass(frozen=True)
class Job:
    """What a firmware is made of, beside compiled libraries."""

    models: tuple[Model, ...]
    methods: tuple[tuple[Method, ...], ...]  # of each model
    board: Board
    options: Options
    app: UserCode | None


def read(
    files: Sequence[Path],
    board: Board,
    options: Options,
    app: UserCode | Path | None = None,
    *,
    data: Sequence[Path] = (),
) -> Job:
    """The job of the models in `files`; `data` are .ptd files of the only one."""
    several = len(files) > 1
    models = tuple(read_model(file, () if several else data) for file in files)
    if data and several:
        raise UsageError(
            "--data works with one model",
            hint="put each model in a folder with its .ptd",
        )
    return make(models, board, options, app_of(app))


def make(
    models: Sequence[Model], board: Board, options: Options, app: UserCode | None
) -> Job:
    """The job of options, with their wishes for kernels as rules."""
    smallest = options.optimize == "size"
    options = replace(options, rules=replace(options.rules, smallest=smallest))
    return Job(tuple(models), _methods(models, options), board, options, app)


def _methods(
    models: Sequence[Model], options: Options
) -> tuple[tuple[Method, ...], ...]:
    """The wanted methods of each model; without a wish, all of several models."""
    if len(models) > 1 and not options.methods:
        return tuple(model.methods for model in models)
    wanted = options.methods or (None,)
    return tuple(
        tuple(dict.fromkeys(model.method(name) for name in wanted)) for model in models
    )


def asked(options: Options) -> dict[str, Any]:
    """The options that libraries are compiled with."""
    return {
        "messages": options.messages,
        "toolchain": options.toolchain,
        "optimize": options.optimize,
    }


def libraries_of(board: Board, options: Options) -> Libraries:
    """The libraries to link firmware with, by parts.of()."""
    libs = libraries.build(board, **asked(options), whole=False)
    return libs.for_prepared() if options.prepared else libs


def app_of(app: UserCode | Path | None) -> UserCode | None:
    """The application of options; SdkError where there is none."""
    return user_code.of([app]) if isinstance(app, Path) else app


# ---- the key -----------------------------------------------------------------------


def key(job: Job, libs: Libraries) -> str:
    """A hash of everything that a firmware depends on."""
    digest = hashlib.sha256(libs.key.encode())
    digest.update(_sdk_digest())
    for model in job.models:
        for content in (model.content, *model.data):
            digest.update(hashlib.sha256(content).digest())
    if job.app is not None:
        digest.update(job.app.digest())
    options = job.options
    facts = [
        job.board.model_dump(mode="json"),
        [model.name for model in job.models],
        [[method.name for method in methods] for methods in job.methods],
        job.app.key() if job.app else None,
        [options.messages, options.caller_io, options.stack],
        options.prepared,
        [options.toolchain, options.rules.key(), options.steering.key()],
        [options.passes, options.rows],
        dict(options.labels),
        vars(options.interrupts),
    ]
    digest.update(json.dumps(facts).encode())
    digest.update(libraries.user_digest(options.rules.libraries))
    return digest.hexdigest()


def _sdk_digest() -> bytes:
    """Hashes of the SDK and of the applications that it links."""
    files = [*(paths.runtime() / "app").iterdir(), paths.kernels() / "kernels.yaml"]
    return kept.modules_digest() + kept.digest(paths.root(), map(str, files))
