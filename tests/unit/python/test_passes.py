# SPDX-License-Identifier: Apache-2.0
"""Passes of packing: what they change, and that they never change a result."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ember import batch, boards, cases, kernels, passes, program, testing
from ember import model as models
from ember.errors import UsageError
from ember.model import Model
from ember.passes import edit, execute, fold, improve, in_place, order
from ember.passes.execute import Computer
from ember.program import Method, Program, types
from ember.repack import repack
from ember.tensors import DType

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cases"
KNOWN = kernels.load()


def here() -> Computer:
    return Computer(boards.load("host"), KNOWN)


def packed(name: str, only: tuple[str, ...] = passes.NAMES) -> Model:
    return repack(models.read(CASES / name), KNOWN, only)


def tensor(
    offset: int | None, sizes: tuple[int, ...] = (2, 3), data: int = 0
) -> types.Tensor:
    place = None if offset is None else types.Allocation(1, offset)
    order = tuple(range(len(sizes)))
    return types.Tensor(DType.FLOAT32, sizes, order, data, place)


OPERATORS = {
    "permute": types.Operator("aten::permute_copy", "out"),
    "add": types.Operator("aten::add", "out"),
    "full": types.Operator("aten::full", "out"),
    "rand": types.Operator("aten::rand", "out"),
    "cat": types.Operator("aten::cat", "out"),
    "relu": types.Operator("aten::relu", "out"),
    "mul": types.Operator("aten::mul", "out"),
    "cos": types.Operator("aten::cos", "out"),
    "slice": types.Operator("aten::slice_copy", "Tensor_out"),
    "copy_": types.Operator("aten::copy_", ""),
}
NUMBERS = {name: number for number, name in enumerate(OPERATORS)}


def call(name: str, *args: int) -> types.KernelCall:
    return types.KernelCall(NUMBERS[name], (*args, args[-1]))


def one_method(
    values: list[types.Value],
    calls: list[types.Instruction],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    constants: tuple[bytes, ...] = (),
    size: int = 1024,
) -> Model:
    method = Method(
        "forward",
        tuple(values),
        inputs,
        outputs,
        (types.Chain(tuple(calls)),),
        tuple(OPERATORS.values()),
        planned_sizes=(0, size),
    )
    one = Program((method,), (b"", *constants))
    assert program.problems(one) == []
    return Model("made", Path("made.pte"), program.write(one), (), one)


WEIGHT = np.arange(6, dtype=np.float32)
ONE, PERMUTED = types.Int(1), types.IntList((4, 5))


def linear(*, shown: bool = False) -> Model:
    """y = x + permute(w), w a constant of 3 by 2; the transposed may be an output."""
    values: list[types.Value] = [
        tensor(0),
        tensor(None, (3, 2), 1),
        tensor(64),
        tensor(128),
        types.Int(1),
        types.Int(0),
        PERMUTED,
        ONE,
    ]
    calls: list[types.Instruction] = [
        call("permute", 1, 6, 2),
        call("add", 0, 2, 7, 3),
    ]
    return one_method(
        values, calls, (0,), (3, 2) if shown else (3,), (WEIGHT.tobytes(),)
    )


def names_of(one: Method) -> list[str]:
    return [op for _, op, _ in one.kernel_calls()]


def test_a_transposed_weight_is_folded() -> None:
    made = repack(linear(), KNOWN, ("fold",))
    (method,) = made.program.methods
    assert names_of(method) == ["aten::add.out"]
    assert made.origins == {"forward": (1,)}
    assert made.program.constants[1:] == (WEIGHT.reshape(3, 2).T.tobytes(),)
    assert made.program.unused_constants() == ()
    assert method.planned_bytes == 64
    (outcome,) = made.passes
    assert (outcome.status, outcome.instructions, outcome.constants) == ("used", 1, 0)


def test_no_pass_changes_nothing() -> None:
    made = repack(linear(), KNOWN)
    assert len(made.program.methods[0].instructions) == 2
    assert made.passes == ()
    assert made.origins == {"forward": (0, 1)}


def test_an_output_is_not_folded() -> None:
    made = repack(linear(shown=True), KNOWN, ("fold",))
    assert len(made.program.methods[0].instructions) == 2
    assert [one.status for one in made.passes] == ["idle"]


def full(count: int, *, random: bool = False) -> Model:
    """y = relu(x) + full([count], 1.5), or a random tensor."""
    values: list[types.Value] = [
        tensor(0, (count,)),
        types.Int(count),
        types.IntList((1,)),
        types.Double(1.5),
        tensor(4 * count, (count,)),
        types.Int(1),
        tensor(8 * count, (count,)),
        tensor(12 * count, (count,)),
    ]
    calls: list[types.Instruction] = [
        call("rand", 2, 4) if random else call("full", 2, 3, 4),
        call("relu", 0, 6),
        call("add", 6, 4, 5, 7),
    ]
    return one_method(values, calls, (0,), (7,), (), 16 * count)


def test_constants_may_grow_by_the_memory_that_is_saved() -> None:
    made = repack(full(64), KNOWN, ("fold",))
    (outcome,) = made.passes
    assert outcome.status == "used"
    assert -outcome.constants <= outcome.planned
    assert len(made.program.methods[0].instructions) == 2


def test_constants_do_not_grow_for_nothing() -> None:
    model = full(64)
    (method,) = model.program.methods
    # The peak is elsewhere: two large tensors that have nothing to do with it.
    values = [*method.values, tensor(1024, (1024,)), tensor(8192, (1024,))]
    calls = [*method.instructions, call("relu", 8, 9)]
    method = replace(
        method,
        values=tuple(values),
        inputs=(0, 8),
        outputs=(7, 9),
        chains=(types.Chain(tuple(calls)),),
        planned_sizes=(0, 16384),
    )
    large = replace(model, program=replace(model.program, methods=(method,)))
    grown = repack(large, KNOWN, ("fold",))
    before = repack(large, KNOWN)
    saved = before.program.methods[0].planned_bytes
    saved -= grown.program.methods[0].planned_bytes
    assert sum(map(len, grown.program.constants)) <= saved


def test_random_numbers_stay() -> None:
    made = repack(full(8, random=True), KNOWN, ("fold",))
    assert len(made.program.methods[0].instructions) == 3
    assert made.passes == ()


def test_kernels_of_the_user_are_not_folded(tmp_path: Path) -> None:
    (tmp_path / "kernels.yaml").write_text(
        "- {op: aten::permute_copy.out, kernels: [my_permute]}\n"
    )
    source = (ROOT / "kernels/movement/permute_copy.c").read_text()
    source = source.replace("EMBER_KERNEL(permute_copy", "EMBER_KERNEL(my_permute")
    (tmp_path / "my_permute.c").write_text(source)
    known = kernels.load((tmp_path,))
    draft = edit.draft(linear().program)
    assert fold.exact(draft, Computer(boards.load("host"), known), frozenset()) == []


def test_kept_memories_stay() -> None:
    draft = edit.draft(linear().program)
    assert fold.exact(draft, here(), frozenset({1})) == []


def test_jumps_follow_what_is_left() -> None:
    model = linear()
    (method,) = model.program.methods
    calls: list[types.Instruction] = [
        types.JumpFalseCall(8, 3),
        call("permute", 1, 6, 2),
        call("add", 0, 2, 7, 3),
        call("relu", 0, 9),
    ]
    method = replace(
        method,
        values=(*method.values, types.Bool(True), tensor(256)),
        inputs=(0, 8),
        outputs=(9,),
        chains=(types.Chain(tuple(calls)),),
    )
    after, kept = edit.without(method, frozenset({1}))
    assert kept == (0, 2, 3)
    assert after.instructions[0] == types.JumpFalseCall(8, 2)
    assert edit.without(method, frozenset({3}))[0].instructions[0] == calls[0]


# ---- view and concat ---------------------------------------------------------------


ROWS = types.Int(0), types.Int(1), types.Int(2), types.Int(4)  # values 0 to 3


def sliced(
    *, dim: int = 0, outputs: tuple[int, ...] = (8,), late: bool = False
) -> Model:
    """y = relu(relu(x)[1:2] along dim) + relu(x)[..]; `late` changes relu(x) before."""
    shape = (4, 4)
    part = (1, 4) if dim == 0 else (4, 1)
    values: list[types.Value] = [
        *ROWS,
        tensor(0, shape),
        tensor(64, shape),
        tensor(128, part),
        tensor(192, part),
        tensor(256, part),
    ]
    calls: list[types.Instruction] = [
        call("relu", 4, 5),
        call("slice", 5, dim, 1, 2, 1, 6),
        call("relu", 6, 7),
        call("add", 7, 6, 1, 8),
    ]
    if late:  # relu(x) is written again while the slice is still needed
        calls.insert(2, call("relu", 4, 5))
    return one_method(values, calls, (4,), (8,))


def test_a_slice_of_rows_becomes_a_view() -> None:
    made = repack(sliced(), KNOWN, ("view",))
    (method,) = made.program.methods
    assert names_of(method) == ["aten::relu.out", "aten::relu.out", "aten::add.out"]
    outer, inner = method.values[5], method.values[6]
    assert isinstance(outer, types.Tensor)
    assert isinstance(inner, types.Tensor)
    assert outer.allocation is not None
    assert inner.allocation is not None
    assert inner.allocation.offset == outer.allocation.offset + 16
    assert made.origins == {"forward": (0, 2, 3)}


def test_a_slice_of_columns_stays() -> None:
    made = repack(sliced(dim=1), KNOWN, ("view",))
    assert [one.status for one in made.passes] == ["idle"]


def test_a_copy_of_what_changes_stays() -> None:
    made = repack(sliced(late=True), KNOWN, ("view",))
    assert [one.status for one in made.passes] == ["idle"]


def test_an_input_is_not_shown_as_an_output() -> None:
    model = sliced()
    (method,) = model.program.methods
    calls = (call("slice", 4, 0, 1, 2, 1, 6),)
    method = replace(method, chains=(types.Chain(calls),), outputs=(6,))
    shown = replace(model, program=replace(model.program, methods=(method,)))
    made = repack(shown, KNOWN, ("view",))
    assert [one.status for one in made.passes] == ["idle"]


def joined(*, dim: int = 0, twice: bool = False, state: bool = False) -> Model:
    """y = cat(relu(x), relu(z)); z is x, a state, or the first part again."""
    part, whole = ((2, 3), (4, 3) if dim == 0 else (2, 6))
    values: list[types.Value] = [
        types.Int(0),
        types.Int(1),
        tensor(0, part),
        tensor(64, part),
        tensor(128, part),
        types.TensorList((3, 3) if twice else (3, 4)),
        tensor(192, whole),
        tensor(256, whole),
        tensor(320, part),
    ]
    calls: list[types.Instruction] = [
        call("relu", 2, 3),
        call("mul", 3, 3, 4),
        call("cat", 5, dim, 6),
        call("relu", 6, 7),
    ]
    outputs = (7, 3)
    if state:
        values[5] = types.TensorList((3, 8))
        calls.append(types.KernelCall(NUMBERS["copy_"], (8, 4, 0, 8)))
    return one_method(values, calls, (2,), outputs)


def test_what_is_concatenated_lies_inside_the_result() -> None:
    made = repack(joined(), KNOWN, ("concat",))
    (method,) = made.program.methods
    assert names_of(method) == ["aten::relu.out", "aten::mul.out", "aten::relu.out"]
    places = [method.values[value].allocation.offset for value in (6, 3, 4)]  # type: ignore[union-attr]
    assert places == [places[0], places[0], places[0] + 24]
    assert (
        made.program.methods[0].planned_bytes
        < joined().program.methods[0].planned_bytes
    )
    # What it wrote is read again: packing it once more changes nothing.
    again = repack(replace(made, stock=None), KNOWN, passes.NAMES)
    assert again.program == made.program


@pytest.mark.parametrize("options", [{"dim": 1}, {"twice": True}, {"state": True}])
def test_a_concatenation_that_must_copy_stays(options: dict[str, int]) -> None:
    made = repack(joined(**options), KNOWN, ("concat",))  # type: ignore[arg-type]
    assert [one.status for one in made.passes] == ["idle"]


def test_a_merge_that_raises_the_peak_is_not_made() -> None:
    # The part is alive for long, and the whole is large: apart they need less.
    values: list[types.Value] = [
        types.Int(0),
        tensor(0, (4,)),
        tensor(64, (4,)),
        tensor(128, (60,)),
        tensor(512, (64,)),
        tensor(1024, (64,)),
        types.TensorList((2, 3)),
        tensor(2048, (60,)),
        tensor(3072, (120,)),
        tensor(4096, (120,)),
        tensor(5120, (120,)),
    ]
    calls: list[types.Instruction] = [
        call("relu", 1, 2),
        call("relu", 8, 9),
        call("relu", 9, 10),
        call("relu", 7, 3),
        call("cat", 6, 0, 4),
        call("relu", 4, 5),
    ]
    model = one_method(values, calls, (1, 7, 8), (5, 10), size=8192)
    before = repack(model, KNOWN).program.methods[0].planned_bytes
    made = repack(model, KNOWN, ("concat",))
    assert made.program.methods[0].planned_bytes <= before


def cosine() -> Model:
    """y = x + cos(c): the last bit of a cosine may be another one elsewhere."""
    values: list[types.Value] = [
        tensor(0),
        tensor(None, (2, 3), 1),
        tensor(64),
        tensor(128),
        types.Int(1),
    ]
    calls: list[types.Instruction] = [call("cos", 1, 2), call("add", 0, 2, 4, 3)]
    return one_method(values, calls, (0,), (3,), (WEIGHT.tobytes(),))


def test_what_is_not_exact_is_folded_when_asked_for() -> None:
    assert len(repack(cosine(), KNOWN, passes.DEFAULT).program.constants) == 2
    made = repack(cosine(), KNOWN, ("fold_inexact",))
    assert names_of(made.program.methods[0]) == ["aten::add.out"]
    found = np.frombuffer(made.program.constants[1], np.float32)
    assert np.allclose(found, np.cos(WEIGHT))


# ---- order -------------------------------------------------------------------------


def branches() -> Model:
    """Two large tensors, each made small: the program makes both before it shrinks
    one."""
    large, small = (64,), (4,)
    values: list[types.Value] = [
        types.Int(0),
        types.Int(1),
        types.Int(4),
        tensor(0, small),
        types.IntList((6,)),
        types.Double(1.5),
        types.Int(64),
        tensor(1024, large),
        tensor(2048, large),
        tensor(3072, small),
        tensor(4096, small),
        tensor(5120, small),
        tensor(6144, small),
        tensor(7168, large),
        tensor(8192, large),
    ]
    calls: list[types.Instruction] = [
        call("relu", 13, 7),
        call("relu", 13, 8),
        call("slice", 7, 0, 0, 2, 1, 9),
        call("slice", 8, 0, 0, 2, 1, 10),
        call("mul", 9, 10, 11),
    ]
    return one_method(values, calls, (13,), (11,), size=16384)


def test_calls_change_places_where_that_lowers_the_peak() -> None:
    before = repack(branches(), KNOWN)
    made = repack(branches(), KNOWN, ("order",))
    (outcome,) = made.passes
    assert outcome.status == "used"
    saved = before.program.methods[0].planned_bytes
    saved -= made.program.methods[0].planned_bytes
    assert saved == outcome.planned == 256 - 16
    assert sorted(made.origins["forward"]) == [0, 1, 2, 3, 4]
    assert made.origins["forward"] != (0, 1, 2, 3, 4)


def test_an_order_that_is_best_stays() -> None:
    made = repack(linear(), KNOWN, ("order",))
    assert [one.status for one in made.passes] == ["idle"]
    again = repack(branches(), KNOWN, ("order",))
    twice = repack(again, KNOWN, ("order",))
    assert [one.status for one in twice.passes] == ["idle"]


@pytest.mark.parametrize("name", ["special_counter", "special_kv_cache"])
def test_state_is_read_before_it_changes_in_every_order(name: str) -> None:
    model = models.read(CASES / name)
    (method,) = model.program.methods
    found = order.Orders(method, KNOWN)
    reads = {v: n for n, own in enumerate(found.effects) for v in own.reads}
    for index, own in enumerate(found.effects):
        for value in own.writes | own.updates:
            for other, at in reads.items():
                a, b = found.of_value.get(value), found.of_value.get(other)
                if a is not None and a == b and at < index:
                    assert found.needs[index] >> at & 1


# ---- in place ----------------------------------------------------------------------


def chain(*, wide: bool = False, again: bool = False) -> Model:
    """y = relu(mul(t, u)), t = x * z, u = t or a row of it; t may be needed again."""
    values: list[types.Value] = [
        types.Int(1),
        tensor(0, (1, 4)),
        tensor(64, (4, 4)),
        tensor(128, (4, 4)),
        tensor(192, (4, 4)),
        tensor(64, (1, 4)),  # the first row of t
        tensor(256, (4, 4)),
        tensor(320, (4, 1)),
    ]
    calls: list[types.Instruction] = [
        call("mul", 1, 7, 2),
        call("mul", 2, 5 if wide else 2, 3),
        call("relu", 3, 4),
    ]
    if again:
        calls.append(call("add", 4, 2, 0, 6))
    return one_method(values, calls, (1, 7), (6 if again else 4,))


def offsets_of(made: Model, *values: int) -> list[int]:
    found = [made.program.methods[0].values[value] for value in values]
    return [one.allocation.offset for one in found]  # type: ignore[union-attr]


def test_a_result_is_written_over_an_argument() -> None:
    made = repack(chain(), KNOWN, ("in_place",))
    assert [one.status for one in made.passes] == ["used"]
    assert len(set(offsets_of(made, 2, 3, 4))) == 1
    assert offsets_of(made, 1) != offsets_of(made, 2)  # the caller's input stays
    again = repack(replace(made, stock=None), KNOWN, passes.DEFAULT)
    assert again.program.methods[0].planned_bytes <= 128


def test_an_argument_that_is_read_in_another_shape_stays() -> None:
    made = repack(chain(wide=True), KNOWN, ("in_place",))
    one, other = offsets_of(made, 2, 3)
    assert one != other


def test_an_argument_that_is_needed_again_stays() -> None:
    made = repack(chain(again=True), KNOWN, ("in_place",))
    one, other = offsets_of(made, 2, 3)
    assert one != other


def test_kernels_that_say_nothing_are_not_in_place() -> None:
    silent = replace(KNOWN, in_place=frozenset())
    computer = Computer(boards.load("host"), silent)
    assert in_place.apply(edit.draft(chain().program), computer, frozenset()) == []


def test_declared_kernels_write_over_their_arguments(tmp_path: Path) -> None:
    """Every committed case of one call, its result over each argument like it."""
    pairs, names = [], []
    for path in sorted(CASES.glob("op_*/model.pte")):
        case = cases.read(cases.Found(path.parent.name, path.parent))
        (method, *more) = case.program.methods
        calls = [
            c for _, name, c in method.kernel_calls() if KNOWN.writes_in_place(name)
        ]
        if more or len(method.instructions) != 1 or not calls:
            continue
        out = calls[0].args[-1]
        for value in set(method.inputs) & set(calls[0].args):
            if not in_place.are_alike(method, out, value):
                continue
            place = method.values[value].allocation  # type: ignore[union-attr]
            over = edit.with_values(
                method,
                {out: replace(method.values[out], allocation=place)},  # type: ignore[type-var]
            )
            for one in (method, over):
                pairs.append((replace(case.program, methods=(one,)), case.runs))
            names.append(f"{case.name}: {value}")
    results = here().run(pairs)
    assert len(names) > 60
    for name, before, after in zip(names, results[::2], results[1::2], strict=True):
        assert before is not None
        assert after is not None
        assert before.status == after.status == batch.OK, name
        assert before.outputs == after.outputs, name


# ---- every committed program -------------------------------------------------------


def test_committed_programs_compute_the_same_after_all_passes(tmp_path: Path) -> None:
    dropped, unused, used = [], [], 0
    for path in sorted(CASES.glob("*/model.pte")):
        folder = tmp_path / path.parent.name
        shutil.copytree(path.parent, folder)
        made = repack(models.read(path.parent), KNOWN, passes.NAMES)
        (folder / "model.pte").write_bytes(made.content)
        assert program.problems(made.program) == []
        dropped += [path.parent.name for one in made.passes if one.status == "dropped"]
        used += any(one.status == "used" for one in made.passes)
        unused += made.program.unused_constants()
        for plan in made.replanned.values():
            assert plan.planned == plan.lower_bound <= plan.stock
    assert (dropped, unused) == ([], [])
    assert used > 60
    found = cases.find([tmp_path])
    outcomes = testing.test(found, [boards.load("host")], jobs=1)
    assert [f"{o.name}: {o.message}" for o in outcomes if o.status != "passed"] == []
    assert len(outcomes) > 400


@pytest.mark.parametrize(
    ("name", "most"), [("model_encoder", 0.55), ("model_lstm", 0.5)]
)
def test_share_of_the_memory_that_the_exporter_plans(name: str, most: float) -> None:
    cache = os.environ.get("EMBER_CACHE") or Path.home() / ".cache" / "ember"
    path = Path(cache) / "corpus" / name
    if not path.is_dir():
        pytest.skip("tools/export_corpus.py has not been run")
    (plan,) = repack(models.read(path), KNOWN, passes.DEFAULT).replanned.values()
    assert plan.planned == plan.lower_bound <= most * plan.stock


# ---- a pass that is wrong ----------------------------------------------------------


def spoiled(
    draft: edit.Draft, computer: Computer, keep: frozenset[int]
) -> list[edit.Draft]:
    """As fold, with one bit of a constant wrong."""
    found = []
    for one in fold.exact(draft, computer, keep):
        *others, last = one.program.constants
        last = bytes([last[0], last[1], last[2] ^ 1, *last[3:]])
        program_ = replace(one.program, constants=(*others, last))
        found.append(replace(one, program=program_))
    return found


def test_a_pass_that_changes_a_result_is_dropped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(improve, "ALL", {**improve.ALL, "fold": spoiled})
    monkeypatch.setattr(improve.cache.Entry, "read", lambda self: None)
    monkeypatch.setattr(improve.cache.Entry, "write", lambda *_: None)
    made = repack(linear(), KNOWN, ("fold",))
    assert [(one.status, one.reason) for one in made.passes] == [
        ("dropped", "the results are not the same")
    ]
    assert len(made.program.methods[0].instructions) == 2


def test_a_program_that_cannot_run_here_is_not_changed() -> None:
    values: list[types.Value] = [*linear().program.methods[0].values]
    values[6] = types.IntList((4, 4))  # permutes a dimension twice
    model = linear()
    (method,) = model.program.methods
    broken = replace(method, values=tuple(values))
    draft = edit.draft(replace(model.program, methods=(broken,)))
    assert fold.exact(draft, here(), frozenset()) == []


def test_programs_are_compared_by_all_their_runs() -> None:
    old = linear().program
    other = replace(old, constants=(b"", np.ones(6, np.float32).tobytes()))
    runs = execute.scenarios(linear())
    assert execute.compare(here(), old, old, runs) == "same"
    assert execute.compare(here(), old, other, runs) == "different"


def test_random_inputs_have_every_type() -> None:
    numbers = np.random.default_rng(0)
    for dtype in DType:
        array = execute.random(dtype, (2, 3), numbers)
        assert array.shape == (2, 3)
        assert array.dtype == dtype.numpy


def test_what_was_found_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = repack(linear(), KNOWN, ("fold",))

    def never(*_: object) -> list[batch.Result]:
        raise AssertionError("nothing needs to run")

    monkeypatch.setattr(Computer, "run", never)
    again = repack(linear(), KNOWN, ("fold",))
    assert again.content == first.content
    assert (again.origins, again.passes) == (first.origins, first.passes)


def test_names_of_passes_are_checked() -> None:
    assert passes.wanted(["fold"]) == ("fold",)
    assert passes.wanted(passes.NAMES, ["fold"]) == passes.NAMES[1:]
    assert passes.wanted(["order", "fold"]) == ("fold", "order")
    with pytest.raises(UsageError, match="there is no pass 'folt'"):
        passes.wanted(["folt"])
    assert set(passes.NAMES) == set(improve.ALL)
