"""A job becomes firmware: the whole way of a model, with its two loops.

    read     jobs.py             models, a board and options become a job
    improve  repack.py        <+ passes make programs smaller, memory is planned again
    select   select/selection  | a kernel for each call; weights and scratch of these
                              -+ kernels change the program: improve and select again
    place    placing.py       <+ an address for every byte, for assumed sizes of stack,
    pack     pack/             | code and variables; images, C tables, a linker script
    link     linking.py       -+ the link tells these sizes: place again with them
    write    linking.py          firmware.elf, certificate, sizes, JSON of each stage

Whoever needs a stage asks a `Pipeline` for it; `chosen` is computed once. The record of
a stage holds the one before: `Job`, `Chosen`, `Placed`, `Packed`, `Estimate`.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ember import progress
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware import certificate, jobs, linking, pack, placing, repack
from ember.firmware.jobs import Job, Options
from ember.firmware.linking import Estimate, Linking
from ember.firmware.pack import Packed
from ember.firmware.placing import Assumed, Placed
from ember.model import Model
from ember.plan import kernel_scratch, passes
from ember.plan.improved import Chosen, Improved
from ember.plan.memories import NoRoomByRulesError
from ember.program import Method
from ember.select import selection as selections
from ember.select.gaps import Gap
from ember.select.selection import Examined, Selection
from ember.toolchain import linker
from ember.toolchain.compiler import Libraries
from ember.toolchain.tools import MissingToolError
from ember.toolchain.user_code import UserCode


class Pipeline:
    """The stages of one job; `chosen` is given where kernels are missing."""

    def __init__(self, job: Job, chosen: Sequence[Chosen] | None = None) -> None:
        self.job = job
        if chosen is not None:
            self.__dict__["chosen"] = chosen

    @classmethod
    def read(
        cls,
        files: Sequence[Path],
        board: Board,
        options: Options,
        app: UserCode | None = None,
    ) -> Pipeline:
        """That of the models in `files`."""
        return cls(jobs.read(files, board, options, app))

    def with_options(self, **changes: Any) -> Pipeline:
        """That of the same models with other options."""
        options = replace(self.job.options, **changes)
        return Pipeline(replace(self.job, options=options))

    def on(self, board: Board) -> Pipeline:
        """That of the same models for another board."""
        return Pipeline(replace(self.job, board=board))

    @functools.cached_property
    def names(self) -> str:
        return ", ".join(model.name for model in self.job.models)

    # ---- improve and select ----------------------------------------------------------

    @functools.cached_property
    def chosen(self) -> Sequence[Chosen]:
        """Improved models with a kernel for each call; SdkError names all gaps."""
        chosen: list[Chosen] = []
        gaps: list[Gap] = []
        job = self.job
        reload, count = job.options.steering.reload, sum(map(len, job.methods))
        for model, methods in zip(job.models, job.methods, strict=True):
            with progress.doing(f"choosing kernels for {model.name}"):
                improved, examined = _Choice(job, model, methods).made()
            if not kernel_scratch.may_lend(job.board, count, reload=reload):
                improved = kernel_scratch.payloads_last(improved, methods[0].name)
            gaps += examined.gaps
            if examined.selection is not None:
                chosen.append(Chosen(improved, examined.selection))
        if gaps:
            raise selections.missing(gaps)
        return [_prepared(each) for each in chosen] if job.options.prepared else chosen

    def check(self) -> Pipeline:
        """Itself, once every call has a kernel; SdkError names all gaps."""
        _ = self.chosen
        return self

    # ---- place, pack and link --------------------------------------------------------

    def place(self, assumed: Assumed) -> Placed:
        return placing.place(self.job, self.chosen, assumed)

    def pack(self, folder: Path, placed: Placed) -> Packed:
        return pack.fill(folder, self.job, placed)

    def settle(self, folder: Path, libs: Libraries, scratch: Path) -> Estimate:
        """The package in `folder`; in `scratch` the objects, and firmware.elf where it
        fits: if need be with layers that run row by row, unless the job forbids that.
        """
        estimate = self._settled(folder, libs, scratch)
        if estimate.fits or self.job.options.rows != "fit":
            return estimate
        by_rows = self.with_options(rows="smallest")
        if not any(model.has_rows for model, _ in by_rows.chosen):
            return estimate
        try:
            other = by_rows._settled(folder, libs, scratch)
        except NoRoomByRulesError:
            other = estimate
        return other if other.fits else self._settled(folder, libs, scratch)

    def _settled(self, folder: Path, libs: Libraries, scratch: Path) -> Estimate:
        """Place, pack and link until the link takes no more than placing assumed, or
        the board is too small."""
        options = self.job.options
        tools = Linking(folder, self.job, libs, scratch)
        stack = options.stack or certificate.first_stack(self.job.board)
        first = assumed = Assumed(stack)
        while True:
            try:
                placed = self.place(assumed)
            except NoRoomByRulesError:  # a rule of the project has no room for a guess
                if assumed.linked is not None:
                    raise
                assumed = replace(assumed, linked={})
                continue
            packed = self.pack(folder, placed)
            compiled = tools.compile(packed)
            if compiled.stack.bytes > assumed.stack:
                assumed = replace(assumed, stack=compiled.stack.bytes)
                continue
            memories = tools.link(compiled, packed)
            estimate = Estimate(self, placed, memories, packed, compiled)
            if estimate.fits and not placed.shortages:
                return estimate
            if not assumed.covers(estimate.linked):
                assumed = assumed.grown(estimate.linked)
            elif assumed.spread and not options.steering:
                # Once more without copies, which stack and code pay for.
                assumed = replace(assumed, spread=False, stack=first.stack)
            else:
                return estimate

    def estimate(self) -> Estimate:
        """The linked estimate; an assumed one where the tools to link are missing."""
        try:
            return self.linked(jobs.libraries_of(self.job.board, self.job.options))
        except MissingToolError as error:
            return self.assumed(error.what)

    def linked(self, libs: Libraries) -> Estimate:
        """The estimate that `ember build` makes, linked in a folder that is removed."""
        with tempfile.TemporaryDirectory(prefix="ember-estimate-") as temporary:
            folder, scratch = Path(temporary) / "build", Path(temporary) / "objects"
            folder.mkdir()
            scratch.mkdir()
            return self.settle(folder, libs, scratch)

    def assumed(self, reason: str, *, spread: bool = True) -> Estimate:
        """Without a link, because of `reason`: code and stack are guesses."""
        stack = self.job.options.stack or linker.DEFAULT_STACK
        placed = self.place(Assumed(stack, spread=spread))
        memories = linking.guessed(placed, self.job.board, stack)
        return Estimate(self, placed, memories, reason=reason)

    # ---- write -----------------------------------------------------------------------

    def write(
        self, folder: Path, estimate: Estimate, linked: Path, libs: Libraries
    ) -> None:
        """The artefacts beside the package: JSON of each stage, and the `linked`
        firmware of an estimate that fits."""
        assert estimate.packed is not None
        pack.write_facts(folder, self.job, estimate.packed, estimate.to_json())
        linking.write_firmware(folder / "5-firmware", linked, estimate, libs)


# ---- one model -----------------------------------------------------------------------


class _Tried(NamedTuple):
    """An improved model, and what selecting its kernels found."""

    model: Improved
    examined: Examined

    @property
    def bytes(self) -> int:
        """Of planned memory, with scratch outside of it."""
        planned = sum(method.planned_bytes for method in self.model.program.methods)
        selection = self.examined.selection
        return planned + (selection.scratch if selection else 0)


class _Choice:
    """Improves one model and selects its kernels, again and again."""

    def __init__(self, job: Job, model: Model, methods: Sequence[Method]) -> None:
        self.job = job
        self.names = [method.name for method in methods]
        self.whole = model if job.options.caller_io else repack.with_buffers(model)
        self.slim = repack.without_steps(self.whole, self.names)

    def made(self) -> _Tried:
        options = self.job.options
        improved = self.improved(options.passes)
        if options.rows in ("smallest", "fed"):
            return self.by_rows(improved)
        return self.fitted(improved)

    def by_rows(self, improved: Improved) -> _Tried:
        """With regions of rows, the smaller of two. Scratch that kernels need if rows
        have the columns beside the image is unknown before they do: 0, at first."""
        options = self.job.options
        wanted = passes.with_rows(options.passes, options.rows)
        scratch = repack.scratch_of(improved, self.selected(improved).selection)
        sided: repack.Scratch = {}
        tried: list[_Tried] = []
        for _ in range(2):
            rows = self.improved(wanted, scratch, sided)
            tried.append(self.fitted(rows))
            sided = repack.scratch_of(rows, tried[-1].examined.selection)
            if not rows.has_rows:
                break
        return min(tried, key=lambda each: each.bytes)

    def fitted(self, improved: Improved) -> _Tried:
        """With weights and scratch as the chosen kernels want them: these change the
        program, for which kernels are selected again."""
        if improved.stock is not None:
            improved = replace(improved, stock=self.whole.program)
        tried = _Tried(improved, self.selected(improved))
        job = self.job
        faster = self.again(tried, partial(repack.with_convolutions_packed, job=job))
        if faster.examined.selection is not None:
            tried = faster
        packed = self.again(tried, repack.with_weights_packed)
        if packed is not tried:
            return packed
        return self.again(tried, partial(repack.with_scratch_in_holes, job=job))

    def again(self, tried: _Tried, change: _Change) -> _Tried:
        """After a change for the chosen kernels; itself if it changes nothing, or if
        kernels are missing."""
        selection = tried.examined.selection
        if selection is None:
            return tried
        after = change(tried.model, selection)
        return tried if after is tried.model else _Tried(after, self.selected(after))

    def improved(self, wanted: Sequence[str], *scratch: repack.Scratch) -> Improved:
        known, board = self.job.options.rules.known, self.job.board
        return repack.repack(self.slim, known, wanted, board, *scratch)

    def selected(self, model: Improved) -> Examined:
        return selections.examine(
            model.program,
            model.content,
            model.data,
            self.job.board,
            [model.method(name) for name in self.names],
            model.name,
            self.job.options.rules,
            model.origins,
        )


_Change = Callable[[Improved, Selection], Improved]


def _prepared(chosen: Chosen) -> Chosen:
    """With methods that are prepared at build time, and so need no arena."""
    model, selection = chosen
    for method, method_needs in zip(selection.methods, selection.needs, strict=True):
        if not method_needs.is_fixed:
            raise SdkError(
                f"{model.name} cannot be prepared: arguments in {method.name} can"
                " change at run time",
                hint="build without --prepared",
            )
    needs = tuple(replace(need, arena=0) for need in selection.needs)
    return Chosen(model, replace(selection, needs=needs, prepared=True))
