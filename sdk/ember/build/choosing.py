"""A job's models become chosen ones: after passes, with a kernel for each call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ember import program, progress
from ember.build import repack
from ember.build.jobs import Job
from ember.errors import SdkError
from ember.model import Model, interface
from ember.plan import lending
from ember.plan.improved import Chosen, Improved
from ember.program import adopt
from ember.select import prepack
from ember.select import selection as selections
from ember.select.gaps import Gap
from ember.select.resolve import MethodNeeds
from ember.select.selection import Examined, Selection


def choose(job: Job) -> list[Chosen]:
    """Each model packed, with its selection; all gaps are reported together."""
    results: list[Chosen] = []
    gaps: list[Gap] = []
    options = job.options
    reload, count = options.steering.reload, sum(map(len, job.methods))
    for model, methods in zip(job.models, job.methods, strict=True):
        names = [method.name for method in methods]
        with progress.doing(f"choosing kernels for {model.name}"):
            packed, examined = _packed(model, names, job)
        if not lending.may_lend(job.board, count, reload=reload):
            packed = lending.payloads_last(packed, names[0])
        gaps += examined.gaps
        if examined.selection is not None:
            results.append(Chosen(packed, examined.selection))
    if gaps:
        raise selections.missing(gaps)
    if job.options.prepared:
        results = [
            Chosen(model, _without_arena(model, selection))
            for model, selection in results
        ]
    return results


def _packed(model: Model, names: Sequence[str], job: Job) -> tuple[Improved, Examined]:
    """A model after passes, with weights packed for its kernels."""
    options = job.options
    whole = model if options.caller_io else _with_buffers(model)
    slim = _without_steps(whole, names, job.app)
    packed = repack.repack(slim, options.rules.known, options.passes, job.board)
    if packed.stock is not None:
        packed = replace(packed, stock=whole.program)
    examined = _examined(packed, names, job)
    if examined.selection is not None:
        smaller = prepacked(packed, examined.selection.needs)
        if smaller is not packed:
            return smaller, _examined(smaller, names, job)
    return packed, examined


def prepacked(model: Improved, needs: Sequence[MethodNeeds]) -> Improved:
    """The model with weights in its kernels' layout; unchanged where none packs any."""
    result = prepack.prepack(model, needs)
    if result is None:
        return model
    return replace(
        model,
        program=result.program,
        content=program.content(result.program),
        data=result.data,
        packed=result.sizes,
    )


def _with_buffers(model: Model) -> Model:
    """The model with memory for the buffers that it leaves to its caller."""
    adopted = adopt.adopted(model.program)
    if adopted is model.program:
        return model
    return replace(model, program=adopted, content=program.content(adopted))


def _without_steps(model: Model, names: Sequence[str], app: Path | None) -> Model:
    """The model without the constant methods whose values its header has, unless they
    are asked for or an application names them."""
    kept = {*names, *(_words_of(app) if app else ())}
    dropped = interface.steps(model.program) - kept
    if not dropped:
        return model
    methods = (each for each in model.program.methods if each.name not in dropped)
    slim = replace(model.program, methods=tuple(methods))
    return replace(model, program=slim, content=program.content(slim))


def _words_of(app: Path) -> set[str]:
    """What stands between quotes in the sources of an application."""
    files = sorted(app.parent.glob("*.[ch]"))
    texts = (file.read_text("utf-8", "replace") for file in files)
    return {word for text in texts for word in re.findall(r'"(\w+)"', text)}


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
    """The selection of methods that are prepared already, and so need none."""
    for method, method_needs in zip(chosen.methods, chosen.needs, strict=True):
        if method_needs.changing:
            raise SdkError(
                f"{model.name} cannot be prepared: arguments in {method.name} can"
                " change at run time",
                hint="build without --prepared",
            )
    needs = tuple(replace(need, arena=0) for need in chosen.needs)
    return replace(chosen, needs=needs, prepared=True)
