"""A board's answer becomes a verdict: why a case failed, what differs."""

from __future__ import annotations

from itertools import zip_longest

from ember import cases, kernels, program
from ember.boards import Board
from ember.cases import Case, batch, compare, inputs
from ember.errors import SdkError
from ember.firmware import runner
from ember.program import Method
from ember.select import resolve
from ember.select.rules import Rules


def _method(case: Case, run: int) -> Method:
    name = case.runs[run].method
    return next(method for method in case.program.methods if method.name == name)


def where(case: Case, run: int) -> str:
    """The start of a sentence on a run, where there are several."""
    return f"run {run}, " if len(case.runs) > 1 else ""


def check(case: Case, index: int, got: batch.Result) -> None:
    """Raise an SdkError when a result is not one of this case: its numbers are used."""
    most = len(case.methods if got.stage == batch.LOAD else case.runs) - 1
    limits = [
        ("case", got.index, index, index),
        ("stage", got.stage, batch.READ, batch.DONE),
        ("method or run", got.which, 0, got.which if got.status == batch.OK else most),
        *(("run", output.run, i, i) for i, output in enumerate(got.outputs)),
        *(
            ("count of outputs", len(output.values), count, count)
            for output, count in zip(got.outputs, _counts(case), strict=False)
        ),
    ]
    runs = len(case.runs)
    done = runs if got.status == batch.OK else min(len(got.outputs), runs)
    limits.append(("count of runs", len(got.outputs), done, done))
    for name, value, least, highest in limits:
        if not least <= value <= highest:
            raise SdkError(
                f"the test runner answered case {case.name} with {name} {value},"
                f" not {least}{f' to {highest}' if highest != least else ''}"
            )


def _counts(case: Case) -> list[int]:
    """Outputs of each run."""
    gives = {method.name: len(method.outputs) for method in case.program.methods}
    return [gives[run.method] for run in case.runs]


def failure(case: Case, got: batch.Result) -> str:
    """Such as: loading forward, instruction 3 (aten::add.out): no kernel takes it."""
    if got.stage == batch.LOAD:
        name = case.methods[got.which]
        method = next(
            candidate for candidate in case.program.methods if candidate.name == name
        )
        what = f"loading {name}"
    elif got.stage >= batch.INPUTS:
        method = _method(case, got.which)
        verb = {batch.INPUTS: "setting the inputs of", batch.CHECK: "checking"}
        what = f"{verb.get(got.stage, 'executing')} {method.name}"
        what = where(case, got.which) + what
    else:
        return got.message
    if got.instruction is not None and got.instruction < len(method.instructions):
        names = {index: op for index, op, _ in method.kernel_calls()}
        op = names.get(got.instruction)
        what += f", instruction {got.instruction}{f' ({op})' if op else ''}"
    missing = _missing(method) if got.status == batch.UNSUPPORTED else ""
    return f"{what}: {got.message}{missing}"


def _missing(method: Method) -> str:
    """Every operator and backend that Ember lacks, where it lacks some."""
    known = kernels.load()
    names = {
        operator
        for operator in method.operator_names
        if operator not in known.operators
    }
    names |= {
        delegate.id
        for delegate in method.delegates
        if delegate.id not in known.backends
    }
    return f"; Ember has no {', '.join(sorted(names))}" if names else ""


def compared(case: Case, run: cases.Run, output: batch.Output) -> compare.Verdict:
    """The host's verdict, which the board's must agree with."""
    got = outputs(case, output)
    verdict = compare.outputs(got, run.outputs, rtol=case.rtol, atol=case.atol)
    equal = output.verdict == batch.OK
    if case.bundled and equal is not (verdict.problem is None):
        says = "equal" if equal else f"output {output.first_wrong} differs"
        here = verdict.problem or "all are equal"
        return compare.Verdict(
            f"the board's check says {says}, the host's: {here}",
            verdict.max_abs_diff,
        )
    return verdict


def outputs(case: Case, output: batch.Output) -> list[object]:
    """The outputs of a run, tensors in their logical order."""
    declared = _method(case, output.run).output_values
    return [
        logical(tensor, value)
        for tensor, value in zip(declared, output.values, strict=True)
    ]


def logical(declared: program.Value, value: object) -> object:
    """A value as PyTorch sees it: a tensor in its logical order."""
    if not isinstance(value, inputs.TensorValue):
        return value
    order = declared.dim_order if isinstance(declared, program.Tensor) else None
    return cases.CaseTensor(value.dtype, value.array(order))


def bytes_needed(case: Case, board: Board) -> int | None:
    """What the case takes in all, by the loader on the host; None: it fails."""
    names = [method.name for method in case.program.methods]
    indices = [names.index(name) for name in case.methods]
    methods = [case.program.methods[index] for index in indices]
    allowed, _ = runner.needs([case.program], board, Rules())
    content = case.pte
    try:
        needs = resolve.resolve(
            content, case.data, board, indices, allowed=allowed
        ).methods
    except SdkError:
        return None
    planned = sum(method.planned_sizes[1] for method in methods if method.planned_bytes)
    others = zip_longest(*(method.planned_sizes[2:] for method in methods), fillvalue=0)
    shared: int = sum(max(sizes) for sizes in others)
    arenas = sum(need.arena for need in needs)
    scratch = max(need.temp for need in needs)
    linked = 0 if runner.is_small(board) else len(content) + sum(map(len, case.data))
    return linked + planned + shared + arenas + scratch
