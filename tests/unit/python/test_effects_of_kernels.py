"""What schemas say of arguments is what kernels do, for every operator of a dialect.

Programs of one call are changed so that an argument's role is seen: memory that a call
overwrites may hold anything before it, what it reads is the same afterwards, and makes
a difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import committed_cases
import pytest

from ember import boards, cases, kernels, program
from ember.kernels import library as kernel_library
from ember.kernels import schemas
from ember.program import Method, Program, bundle
from ember.run import testing

KNOWN = kernels.load()
MOST = 3  # programs of an operator outside of the dialect
WRITTEN, KEPT, MATTERS = "written", "kept", "matters"


@dataclass(frozen=True)
class Changed:
    """A bundled program in which one argument's role shows."""

    operator: str
    argument: int
    role: str
    content: bytes


def programs(prefix: str) -> Iterator[tuple[bundle.Bundle, Program]]:
    """Those of tables that call an operator with this prefix."""
    for path in committed_cases.of_dialect(prefix):
        bundled = bundle.read(path)
        parsed = schemas.normal(program.parse(bundled.program), lambda: KNOWN)
        if len(parsed.methods) == 1 and len(parsed.methods[0].instructions) == 1:
            yield bundled, parsed


def variants(bundled: bundle.Bundle, parsed: Program) -> Iterator[Changed]:
    (method,) = parsed.methods
    ((_, name, call),) = method.kernel_calls()
    roles = kernel_library.roles(KNOWN.operators[name].schema)
    for argument, (value, role) in enumerate(zip(call.args, roles, strict=False)):
        tensor = method.values[value]
        if not isinstance(tensor, program.Tensor) or not tensor.numel:
            continue
        if value in method.inputs and role == "writes":
            yield Changed(
                name, argument, WRITTEN, with_other_input(bundled, method, value)
            )
        elif value in method.inputs and role == "reads":
            yield Changed(name, argument, KEPT, given_back(bundled, parsed, value))
            yield Changed(
                name, argument, MATTERS, with_other_input(bundled, method, value)
            )
        elif tensor.is_constant and role == "reads":
            content = with_other_constant(bundled, parsed, tensor.data_index)
            yield Changed(name, argument, MATTERS, content)


def with_other_input(bundled: bundle.Bundle, method: Method, value: int) -> bytes:
    (suite,), at = bundled.suites, method.inputs.index(value)
    tests = []
    for case in suite.cases:
        given = case.inputs[at]
        assert isinstance(given, bundle.BundledTensor)
        other = replace(given, data=turned(given.data))
        tests.append(
            replace(case, inputs=(*case.inputs[:at], other, *case.inputs[at + 1 :]))
        )
    return bundle.write(replace(bundled, suites=(replace(suite, cases=tuple(tests)),)))


def with_other_constant(bundled: bundle.Bundle, parsed: Program, index: int) -> bytes:
    constants = list(parsed.constants)
    constants[index] = turned(constants[index])
    other = program.write(replace(parsed, constants=tuple(constants)))
    return bundle.write(replace(bundled, program=other))


def given_back(bundled: bundle.Bundle, parsed: Program, value: int) -> bytes:
    """The input is an output, too, which must be what it was."""
    (method,), (suite,) = parsed.methods, bundled.suites
    at = method.inputs.index(value)
    longer = replace(method, outputs=(*method.outputs, value))
    content = program.write(replace(parsed, methods=(longer,)))
    tests = tuple(
        replace(case, outputs=(*case.outputs, case.inputs[at])) for case in suite.cases
    )
    suites = (replace(suite, cases=tests),)
    return bundle.write(replace(bundled, program=content, suites=suites))


def turned(data: bytes | memoryview) -> bytes:
    """Other bytes, none of them as it was."""
    return bytes(byte ^ 0x55 for byte in data)


def outcomes(changes: list[Changed], folder: Path) -> dict[Changed, bool]:
    """Which of them give the outputs expected."""
    by_name = {f"{number:05}": change for number, change in enumerate(changes)}
    for name, change in by_name.items():
        (folder / f"{name}.bpte").write_bytes(change.content)
    ran = testing.test(cases.find([folder]), [boards.load("host")], jobs=1)
    return {by_name[outcome.path.stem]: outcome.status == "passed" for outcome in ran}


@pytest.mark.slow
def test_every_argument_of_the_dialect(tmp_path: Path) -> None:
    changes = [change for pair in programs("cortex_m::") for change in variants(*pair)]
    passed = outcomes(changes, tmp_path)
    wrong = {
        (change.operator, change.argument, change.role)
        for change in changes
        if change.role != MATTERS and not passed[change]
    }
    assert wrong == set()
    listed = {
        name
        for name, operator in KNOWN.operators.items()
        if name.startswith("cortex_m::") and "nhwc" not in operator.flags
    }
    assert {change.operator for change in changes} == listed
    read = {
        (change.operator, change.argument)
        for change in changes
        if change.role == MATTERS
    }
    matters = {
        (change.operator, change.argument)
        for change in changes
        if change.role == MATTERS and not passed[change]
    }
    assert read - matters == set()  # what is read, and yet makes no difference
    assert sum(change.role == WRITTEN for change in changes) > 20


@pytest.mark.slow
def test_arguments_of_other_operators(tmp_path: Path) -> None:
    changes: list[Changed] = []
    seen: dict[str, int] = defaultdict(int)
    for pair in programs("aten::"):
        for change in variants(*pair):
            seen[f"{change.operator} {change.argument} {change.role}"] += 1
            if (
                change.role == KEPT
                and seen[f"{change.operator} {change.argument} {KEPT}"] <= MOST
            ):
                changes.append(change)
    passed = outcomes(changes, tmp_path)
    wrong = {
        (change.operator, change.argument) for change in changes if not passed[change]
    }
    assert wrong == set()
    assert len({change.operator for change in changes}) > 100


@pytest.mark.parametrize(
    ("argument", "role"),
    [
        ("Tensor scratch", "writes"),
        ("Tensor output_scratch", "writes"),
        ("Tensor scratchpad", "reads"),
        ("Tensor(a!) out", "updates"),
        ("*, Tensor(a!) out", "writes"),
    ],
)
def test_the_role_of_an_argument(argument: str, role: str) -> None:
    assert kernel_library.roles(f"({argument}) -> Tensor") == (role,)
