"""Calls of other versions' argument lists get the arguments of their operators."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import committed
import committed_cases
import pytest

from ember import cases, cli, kernels, model, program
from ember.errors import SdkError
from ember.kernels import OperatorKernels, library, schemas
from ember.program import KernelCall, Program, bundle, types
from ember.select import gaps

ROOT = Path(__file__).resolve().parents[3]
KNOWN = kernels.load()
EARLIER = sorted(KNOWN.earlier)
NAMES = [f"{op.partition('.')[0][10:]}-{number}" for op, number in EARLIER]


def written_by_1_4(op: str) -> Iterator[Path]:
    """Programs of one call of the operator."""
    for path in committed_cases.of_dialect("cortex_m::"):
        method = program.parse(bundle.read(path).program).methods[0]
        if op in method.operator_names:
            yield path


def as_earlier(parsed: Program, op: str, number: int) -> Program | None:
    """The program whose calls have an earlier list; None if they need the later one."""
    operator = KNOWN.operators[op]
    earlier = operator.earlier[number]
    parsed = schemas.normal(parsed, lambda: KNOWN)
    method = parsed.methods[0]
    instructions = list(method.instructions)
    for index, name, call in method.kernel_calls():
        if name != op:
            continue
        names = library.names(operator.schema)
        by_name = dict(zip(names, call.args, strict=False))
        for lacking, value in earlier.lacks.items():
            given = getattr(method.values[by_name[lacking]], "value", None)
            if value is not None and given != value:
                return None
        args = [by_name[each] for each in library.names(earlier.schema)]
        instructions[index] = KernelCall(call.op_index, (*args, call.args[-1]))
    chain = replace(method.chains[0], instructions=tuple(instructions))
    return replace(parsed, methods=(replace(method, chains=(chain,)),))


def case_of(op: str, number: int, folder: Path) -> Path:
    """A bundle in `folder` whose program has the earlier list."""
    for path in written_by_1_4(op):
        whole = bundle.read(path)
        parsed = as_earlier(program.parse(whole.program), op, number)
        if parsed is not None:
            content = bytes(program.content(parsed))
            place = folder / f"{op.partition('.')[0][10:]}_{number}.bpte"
            place.write_bytes(bundle.write(replace(whole, program=content)))
            return place
    raise AssertionError(f"no program of {op} can have list {number}")


@pytest.mark.parametrize(("op", "number"), EARLIER, ids=NAMES)
def test_a_call_gets_the_arguments_of_its_operator(
    op: str, number: int, tmp_path: Path
) -> None:
    path = case_of(op, number, tmp_path)
    content = bundle.read(path).program
    before = program.parse(content).methods[0]
    read = model.read(path)
    after = read.program.methods[0]
    operator = KNOWN.operators[op]
    earlier = operator.earlier[number]
    assert read.program.earlier == {(op, number)}
    assert read.exported == content
    assert program.parse(read.content) == read.program
    assert after.values[: len(before.values)] == before.values
    pairs = zip(before.kernel_calls(), after.kernel_calls(), strict=True)
    for (_, name, old), (_, _, new) in pairs:
        if name != op:
            assert old == new
            continue
        given = dict(zip(library.names(earlier.schema), old.args, strict=False))
        for wanted, value in zip(
            library.names(operator.schema), new.args, strict=False
        ):
            if wanted in given:
                assert value == given[wanted]
            else:
                default = getattr(after.values[value], "value", None)
                assert default == earlier.lacks[wanted]
                assert value >= len(before.values)
        assert new.args[-1] == old.args[-1]
        assert len(new.args) == operator.call_arguments


def test_the_device_reads_every_earlier_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for op, number in EARLIER:
        place = case_of(op, number, tmp_path)
        assert cases.read(cases.find([place])[0]).pte != bundle.read(place).program
    assert cli.main(["test", str(tmp_path), "--board", "host"]) == 0
    assert f"{len(EARLIER)} passed" in capsys.readouterr().out


def test_programs_of_one_version_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(program.write(committed.program_of("model_resnet8_small")))
    parsed = program.read(path)
    assert schemas.normal(parsed, lambda: KNOWN) is parsed
    assert model.read(path).exported is None
    assert model.read(path).content == path.read_bytes()


# ---- lists that are nobody's ---------------------------------------------------------


def changed(parsed: Program, op: str, args: tuple[int, ...]) -> Program:
    """The program whose call of the operator has these arguments."""
    method = parsed.methods[0]
    instructions = [
        replace(each, args=args)
        if isinstance(each, KernelCall) and method.operator_names[each.op_index] == op
        else each
        for each in method.instructions
    ]
    chain = replace(method.chains[0], instructions=tuple(instructions))
    return replace(parsed, methods=(replace(method, chains=(chain,)),))


@pytest.mark.parametrize("damage", ["kinds", "count"])
def test_a_damaged_list_is_refused(damage: str, tmp_path: Path) -> None:
    op = "cortex_m::quantized_add.out"
    parsed = program.parse(bundle.read(case_of(op, 0, tmp_path)).program)
    method = parsed.methods[0]
    (args,) = (call.args for _, name, call in method.kernel_calls() if name == op)
    swapped = (args[1], args[0], *args[2:])
    parsed = changed(parsed, op, swapped if damage == "kinds" else args[1:])
    after = schemas.normal(parsed, lambda: KNOWN)
    assert after is parsed
    (gap,) = gaps.static("damaged", after.methods[0], KNOWN)
    assert "its kernels take 15" in str(gap)
    path = tmp_path / "damaged.pte"
    path.write_bytes(bytes(program.content(parsed)))
    assert (
        cli.main(["build", str(path), "--board", "host", "--out", str(tmp_path)]) == 1
    )


@pytest.mark.parametrize("multiplier", [-(2**31), 2**31])
def test_a_scale_beyond_int32_is_no_contradiction(
    multiplier: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    op = "cortex_m::quantized_add.out"
    parsed = program.parse(bundle.read(next(written_by_1_4(op))).program)
    method = parsed.methods[0]
    ((_, _, call),) = method.kernel_calls()
    values = list(method.values)
    values[call.args[6]] = types.Int(multiplier)
    method = replace(method, values=tuple(values))
    path = tmp_path / "net.pte"
    path.write_bytes(bytes(program.content(replace(parsed, methods=(method,)))))
    words = ["build", str(path), "--board", "host", "--out", str(tmp_path / "out")]
    assert cli.main(words) == 1
    said = capsys.readouterr().err
    assert "this multiplier or shift is not supported" in said
    assert "contradicts itself" not in said


# ---- what kernels.yaml may say -------------------------------------------------------


def rows(operator: OperatorKernels) -> list[schemas.ArgumentMapping]:
    current = library.EarlierSchema(operator.version, operator.schema, {})
    return [schemas.mapping(operator, each) for each in (*operator.earlier, current)]


@pytest.mark.parametrize("op", sorted({op for op, _ in EARLIER}))
def test_no_call_can_have_two_lists(op: str) -> None:
    """Of as many arguments, one must be of kinds that the other list refuses."""
    for mapping, other in itertools.combinations(rows(KNOWN.operators[op]), 2):
        assert len(mapping.kinds) != len(other.kinds) or any(
            not set(a) & set(b) for a, b in zip(mapping.kinds, other.kinds, strict=True)
        )


def test_calls_fit_the_tables_of_the_runtime() -> None:
    assert all(op.startswith(schemas.DIALECT) for op, _ in EARLIER)
    for operator in (KNOWN.operators[op] for op, _ in EARLIER):
        assert operator.call_arguments < 1 << 8
        assert operator.version


SCHEMA = "(Tensor x, int low, *, Tensor(a!) out) -> Tensor(a!)"
OLD = "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        ({"version": "1", "schema": OLD, "lacks": {}}, "are not the arguments"),
        (
            {"version": "1", "schema": OLD, "lacks": {"high": 1}},
            "are not the arguments",
        ),
        ({"version": "1", "schema": OLD, "lacks": {"low": 128}}, "or an int8"),
        ({"version": "1", "schema": OLD, "lacks": {"low": 0.5}}, "or an int8"),
        ({"version": "1", "schema": SCHEMA, "lacks": {"out": None}}, "are not the"),
        ({"schema": OLD, "lacks": {"low": 1}}, "it has no 'version'"),
    ],
)
def test_an_entry_whose_lists_contradict_is_refused(
    earlier: dict[str, object], words: str
) -> None:
    entry = {"op": "a::b", "schema": SCHEMA, "kernels": [], "earlier": [earlier]}
    with pytest.raises(SdkError, match=words):
        library.entry_of(Path("kernels.yaml"), entry)


def test_nhwc_names_an_operator_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "kernels.yaml").write_text('- {op: "a::b.out", nhwc: "c::d.out"}')
    with pytest.raises(SdkError, match=r"names 'c::d\.out', which this file does not"):
        kernels.load((tmp_path,))


def test_a_users_library_has_no_earlier_lists(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("")
    (tmp_path / "kernels.yaml").write_text(
        f'- {{op: "a::b", schema: "{SCHEMA}", kernels: [one], earlier:'
        f' [{{version: 1, schema: "{OLD}", lacks: {{low: 1}}}}]}}'
    )
    with pytest.raises(SdkError, match="only Ember's operators have `earlier`"):
        kernels.load((tmp_path,))


LAST = (0, 2, 3, 1)


def turned(value: types.Tensor | bundle.BundledTensor) -> Any:
    """The image (N, C, H, W), channels_last, as (N, H, W, C): the same bytes."""
    sizes = tuple(value.sizes[at] for at in LAST)
    return replace(value, sizes=sizes, dim_order=(0, 1, 2, 3))


def with_nhwc(path: Path) -> bundle.Bundle | None:
    """The program's call by its operator that ends in _nhwc; None if it has none."""
    whole = bundle.read(path)
    parsed = schemas.normal(program.parse(whole.program), lambda: KNOWN)
    method = parsed.methods[0]
    ((_, name, call),) = method.kernel_calls()
    op = types.Operator(f"{name.removesuffix('.out')}_nhwc", "out")
    images = {call.args[0], call.args[-1]}
    tensors = [method.values[value] for value in images]
    lasts = [isinstance(x, types.Tensor) and x.dim_order == LAST for x in tensors]
    if op.full_name not in KNOWN.operators or not all(lasts):
        return None
    values = [
        turned(value) if index in images else value  # type: ignore[arg-type]
        for index, value in enumerate(method.values)
    ]
    method = replace(method, values=tuple(values), operators=(op,))
    content = bytes(program.content(replace(parsed, methods=(method,))))
    suites = [
        replace(suite, cases=tuple(map(turned_case, suite.cases)))
        for suite in whole.suites
    ]
    return replace(whole, program=content, suites=tuple(suites))


def turned_case(case: bundle.BundledCase) -> bundle.BundledCase:
    inputs = (turned(case.inputs[0]), *case.inputs[1:])  # type: ignore[arg-type]
    return replace(case, inputs=inputs, outputs=tuple(map(turned, case.outputs)))  # type: ignore[arg-type]


@pytest.mark.parametrize("board", ["host", "host-mve", "host-dsp", "host-hvx"])
def test_images_with_channels_last_in_name_give_the_same_bytes(
    board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = set[str]()
    for path in committed_cases.of_dialect("cortex_m::"):
        if "2d" not in path.name:
            continue
        whole = with_nhwc(path)
        if whole is not None:
            (tmp_path / path.name).write_bytes(bundle.write(whole))
            names |= {*program.parse(whole.program).methods[0].operator_names}
    assert len(names) == 5
    count = len([*tmp_path.iterdir()])
    assert count >= 25
    assert cli.main(["test", str(tmp_path), "--board", board]) == 0
    assert f"{count} passed" in capsys.readouterr().out


def test_operators_of_nhwc_have_all_that_those_of_nchw_have() -> None:
    names = [name for name in KNOWN.operators if name.endswith("_nhwc.out")]
    names = [name for name in names if name.startswith("cortex_m")]
    assert len(names) == 5
    for name in names:
        same = KNOWN.operators[name.replace("_nhwc", "")]
        operator = KNOWN.operators[name]
        assert operator.kernels == same.kernels
        assert operator.schema == same.schema
        chosen = {name: operator.usable(())}
        text = kernels.operator_table(chosen)
        count = operator.call_arguments
        row = f"ember_schemas_0.candidates, {count}, {count}, EMBER_OP_SCHEMAS}}"
        assert row in text
        assert "{ember_images_prepare, 0}, {&ember_kernel_" in text


def test_only_the_tables_that_are_asked_for_have_lists() -> None:
    chosen = {"cortex_m::quantized_add.out": ("quantized_add_s8",)}
    assert "schema" not in kernels.operator_table(chosen)
    assert "schema" not in kernels.operator_table(chosen, KNOWN)
    text = kernels.operator_table(chosen, KNOWN, KNOWN.earlier)
    assert "ember_schemas_0.candidates, 13, 15, EMBER_OP_SCHEMAS}" in text
    assert "EMBER_SCHEMA_CONSTANT(2, -128), EMBER_SCHEMA_CONSTANT(2, 127)," in text
    none = schemas.mapping(
        KNOWN.operators["cortex_m::quantized_conv2d.out"],
        KNOWN.operators["cortex_m::quantized_conv2d.out"].earlier[0],
    )
    assert none.sources[12] == types.Null()
    assert "EMBER_SCHEMA_CONSTANT(1, 0)" in none.c_text("one")
