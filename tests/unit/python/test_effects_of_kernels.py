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
        made = bundle.read(path)
        parsed = schemas.normal(program.parse(made.program), lambda: KNOWN)
        if len(parsed.methods) == 1 and len(parsed.methods[0].instructions) == 1:
            yield made, parsed


def variants(made: bundle.Bundle, parsed: Program) -> Iterator[Changed]:
    (method,) = parsed.methods
    ((_, name, call),) = method.kernel_calls()
    roles = kernel_library.roles(KNOWN.operators[name].schema)
    for argument, (value, role) in enumerate(zip(call.args, roles, strict=False)):
        tensor = method.values[value]
        if not isinstance(tensor, program.Tensor) or not tensor.numel:
            continue
        if value in method.inputs and role == "writes":
            yield Changed(
                name, argument, WRITTEN, with_other_input(made, method, value)
            )
        elif value in method.inputs and role == "reads":
            yield Changed(name, argument, KEPT, given_back(made, parsed, value))
            yield Changed(
                name, argument, MATTERS, with_other_input(made, method, value)
            )
        elif tensor.is_constant and role == "reads":
            content = with_other_constant(made, parsed, tensor.data_index)
            yield Changed(name, argument, MATTERS, content)


def with_other_input(made: bundle.Bundle, method: Method, value: int) -> bytes:
    (suite,), at = made.suites, method.inputs.index(value)
    tests = []
    for one in suite.cases:
        given = one.inputs[at]
        assert isinstance(given, bundle.BundledTensor)
        other = replace(given, data=turned(given.data))
        tests.append(
            replace(one, inputs=(*one.inputs[:at], other, *one.inputs[at + 1 :]))
        )
    return bundle.write(replace(made, suites=(replace(suite, cases=tuple(tests)),)))


def with_other_constant(made: bundle.Bundle, parsed: Program, index: int) -> bytes:
    constants = list(parsed.constants)
    constants[index] = turned(constants[index])
    other = program.write(replace(parsed, constants=tuple(constants)))
    return bundle.write(replace(made, program=other))


def given_back(made: bundle.Bundle, parsed: Program, value: int) -> bytes:
    """The input is an output, too, which must be what it was."""
    (method,), (suite,) = parsed.methods, made.suites
    at = method.inputs.index(value)
    longer = replace(method, outputs=(*method.outputs, value))
    content = program.write(replace(parsed, methods=(longer,)))
    tests = tuple(
        replace(one, outputs=(*one.outputs, one.inputs[at])) for one in suite.cases
    )
    suites = (replace(suite, cases=tests),)
    return bundle.write(replace(made, program=content, suites=suites))


def turned(data: bytes) -> bytes:
    """Other bytes, none of them as it was."""
    return bytes(one ^ 0x55 for one in data)


def outcomes(found: list[Changed], folder: Path) -> dict[Changed, bool]:
    """Which of them give the outputs expected."""
    by_name = {f"{number:05}": one for number, one in enumerate(found)}
    for name, one in by_name.items():
        (folder / f"{name}.bpte").write_bytes(one.content)
    ran = testing.test(cases.find([folder]), [boards.load("host")], jobs=1)
    return {by_name[one.path.stem]: one.status == "passed" for one in ran}


@pytest.mark.slow
def test_every_argument_of_the_dialect(tmp_path: Path) -> None:
    found = [one for pair in programs("cortex_m::") for one in variants(*pair)]
    passed = outcomes(found, tmp_path)
    wrong = {
        (one.operator, one.argument, one.role)
        for one in found
        if one.role != MATTERS and not passed[one]
    }
    assert wrong == set()
    listed = {
        name
        for name, operator in KNOWN.operators.items()
        if name.startswith("cortex_m::") and "nhwc" not in operator.flags
    }
    assert {one.operator for one in found} == listed
    read = {(one.operator, one.argument) for one in found if one.role == MATTERS}
    matters = {
        (one.operator, one.argument)
        for one in found
        if one.role == MATTERS and not passed[one]
    }
    assert read - matters == set()  # what is read, and yet makes no difference
    assert sum(one.role == WRITTEN for one in found) > 20


@pytest.mark.slow
def test_arguments_of_other_operators(tmp_path: Path) -> None:
    found: list[Changed] = []
    seen: dict[str, int] = defaultdict(int)
    for pair in programs("aten::"):
        for one in variants(*pair):
            seen[f"{one.operator} {one.argument} {one.role}"] += 1
            if (
                one.role == KEPT
                and seen[f"{one.operator} {one.argument} {KEPT}"] <= MOST
            ):
                found.append(one)
    passed = outcomes(found, tmp_path)
    wrong = {(one.operator, one.argument) for one in found if not passed[one]}
    assert wrong == set()
    assert len({one.operator for one in found}) > 100


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
