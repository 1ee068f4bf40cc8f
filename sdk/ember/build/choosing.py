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
from ember.plan import holes, lending, passes
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
    if options.rows in ("smallest", "fed"):
        return _by_rows(whole, slim, packed, names, job)
    return _finished(packed, whole, names, job)


def _by_rows(
    whole: Model, slim: Model, packed: Improved, names: Sequence[str], job: Job
) -> tuple[Improved, Examined]:
    """A model with regions of rows. What scratch kernels have where rows have the
    columns beside the image is not known before there are any: none, at first."""
    wanted = passes.with_rows(job.options.passes, job.options.rows)
    known = job.options.rules.known
    tried: list[tuple[Improved, Examined]] = []
    scratch = _scratch(packed, _examined(packed, names, job).selection)
    sided: repack.Scratch = {}
    for _ in range(2):
        rows = repack.repack(slim, known, wanted, job.board, scratch, sided)
        tried.append(_finished(rows, whole, names, job))
        sided = _scratch(rows, tried[-1][1].selection)
        if not rows.has_rows:
            break
    return min(tried, key=lambda each: _bytes(*each))


def _bytes(model: Improved, examined: Examined) -> int:
    """Of planned memory, with scratch outside of it."""
    planned = sum(method.planned_bytes for method in model.program.methods)
    return planned + (examined.selection.scratch if examined.selection else 0)


def _scratch(model: Improved, chosen: Selection | None) -> repack.Scratch:
    """Bytes of scratch by method and index in the program as it was read; none where a
    kernel lacks."""
    scratch: dict[str, dict[int, int]] = {}
    if chosen is None or model.stock is None:
        return scratch
    for method, needs in zip(chosen.methods, chosen.needs, strict=True):
        sizes = scratch.setdefault(method.name, {})
        origins = chosen.origins.get(method.name) or model.origins[method.name]
        for call in needs.calls:
            origin = origins[call.instruction]
            sizes[origin] = max(sizes.get(origin, 0), call.scratch)
    return scratch


def _finished(
    packed: Improved, whole: Model, names: Sequence[str], job: Job
) -> tuple[Improved, Examined]:
    """With weights packed, or scratch placed, for the kernels that are chosen."""
    if packed.stock is not None:
        packed = replace(packed, stock=whole.program)
    examined = _examined(packed, names, job)
    if examined.selection is not None:
        faster = _packed_convolutions(packed, examined.selection, job)
        again = examined if faster is packed else _examined(faster, names, job)
        if again.selection is not None:
            packed, examined = faster, again
    if examined.selection is not None:
        smaller = prepacked(packed, examined.selection.needs)
        if smaller is not packed:
            return smaller, _examined(smaller, names, job)
        filled = _filled(packed, examined.selection, job)
        if filled is not None:
            return filled, _examined(filled, names, job)
    return packed, examined


def _packed_convolutions(model: Improved, chosen: Selection, job: Job) -> Improved:
    """The model with weights of convolutions in their kernels' layout. What is pinned
    keeps its operator; with rows, no weights become longer: those are for whole
    images."""
    rules = job.options.rules
    if any(name == model.name for name, _, _ in rules.calls):
        return model
    after = prepack.convolutions(
        model.program,
        chosen.needs,
        rules.allowed(job.board),
        rules.pins,
        optimize="size" if model.has_rows else job.options.optimize,
    )
    return model if after is model.program else repack.again(model, after, rules.known)


def _filled(model: Improved, chosen: Selection, job: Job) -> Improved | None:
    """The model with scratch in the holes of its plan; None where it stays outside:
    methods share it, or the project says where it lies."""
    steering = job.options.steering
    asked = "scratch" in {*steering.place, *steering.align}
    alone = sum(map(len, job.methods)) == len(model.program.methods) == 1
    if asked or not alone or model.stock is None:
        return None
    return holes.filled(model, chosen.needs[0], job.options.rules.known)


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
        if not method_needs.is_fixed:
            raise SdkError(
                f"{model.name} cannot be prepared: arguments in {method.name} can"
                " change at run time",
                hint="build without --prepared",
            )
    needs = tuple(replace(need, arena=0) for need in chosen.needs)
    return replace(chosen, needs=needs, prepared=True)
