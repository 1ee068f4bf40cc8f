"""`ember select`: op info, gaps with remedies, pins, and what was asked wrongly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import committed
import numpy as np
import pace
import pytest
from committed_cases import matching, path_of
from small_programs import KNOWN

from ember import boards, cli, model, program
from ember.cases import one_call
from ember.errors import SdkError
from ember.files.tensors import DType
from ember.firmware import project as projects
from ember.kernels import opinfo
from ember.select import resolve, selection
from ember.select.rules import Rules

GRU = path_of("model_gru_small")


def select(*words: object, code: int = 0) -> None:
    assert cli.main(["select", *map(str, words)]) == code


def changed(path: Path, out: Path, **names: str) -> Path:
    """The program with operators called differently."""
    parsed = program.read(path)
    methods = tuple(
        replace(
            method,
            operators=tuple(
                replace(op, name=names.get(op.name.partition("::")[2], op.name))
                for op in method.operators
            ),
        )
        for method in parsed.methods
    )
    out.write_bytes(program.write(replace(parsed, methods=methods)))
    return out


# ---- gaps --------------------------------------------------------------------------


def test_every_gap_of_every_model(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = changed(data / "add.pte", tmp_path / "one.pte", add="aten::ad")
    second = changed(data / "choose.pte", tmp_path / "two.pte", mul="my_ops::mul3")
    out, report = tmp_path / "out.yaml", tmp_path / "report.json"
    select(first, second, "-o", out, "--json", report, code=1)
    assert not out.exists()
    missing = json.loads(report.read_text())["missing"]
    assert [gap["model"] for gap in missing] == ["one", "two"]
    assert missing[0]["op"] == "aten::ad.out"
    assert missing[0]["dtypes"] == ["float32"] * len(missing[0]["dtypes"])
    assert missing[0]["remedy"] == "Ember has aten::add.out: is the name misspelt?"
    assert "write your own kernel for it" in missing[1]["remedy"]
    said = capsys.readouterr().err
    assert "one, method forward, instruction 0: aten::ad.out on (float32[" in said
    assert "two, method forward, instruction" in said


@pytest.mark.parametrize(
    ("op", "remedy"),
    [
        ("aten::add.Tensor_mode", "Ember has aten::add.Scalar_out, aten::add.out"),
        ("aten::mvlgamma.out", "decompose it at export"),
        ("torchao::choose_qparams.out", "pt2e"),
        ("aten::nothing_like_it.out", "change the model or write your own kernel"),
    ],
)
def test_remedies(data: Path, op: str, remedy: str) -> None:
    original = model.read(data / "add.pte")
    name, _, overload = op.partition(".")
    (method,) = original.program.methods
    odd = replace(method, operators=(program.Operator(name, overload),))
    with pytest.raises(SdkError) as error:
        choose(replace(original, program=replace(original.program, methods=(odd,))))
    assert remedy in error.value.what


def choose(parsed: model.Model, rules: Rules | None = None) -> selection.Selection:
    content = program.write(parsed.program)
    methods = parsed.program.methods
    host = boards.load("host")
    return selection.choose(
        parsed.program, content, parsed.data, host, methods, parsed.name, rules
    )


def retyped(parsed: model.Model, dtype: DType) -> model.Model:
    (method,) = parsed.program.methods
    values = tuple(
        replace(value, dtype=dtype) if isinstance(value, program.Tensor) else value
        for value in method.values
    )
    edited = replace(parsed.program, methods=(replace(method, values=values),))
    return replace(parsed, program=edited)


def test_a_refused_dtype_says_what_kernels_take(data: Path) -> None:
    integers = retyped(model.read(path_of("op_leaky_relu")), DType.INT32)
    with pytest.raises(SdkError) as error:
        choose(integers)
    assert "convert int32 to float32: its kernels take float32" in error.value.what


def test_names_of_a_hostile_program_are_made_safe(data: Path) -> None:
    original = model.read(data / "add.pte")
    (method,) = original.program.methods
    odd = replace(method, operators=(program.Operator("my::\x1b[2J\nop", "out"),))
    with pytest.raises(SdkError) as error:
        choose(replace(original, program=replace(original.program, methods=(odd,))))
    assert "my::\ufffd[2J\ufffdop.out" in error.value.what


def test_shapes_that_contradict_each_other(data: Path) -> None:
    original = model.read(data / "add.pte")
    (method,) = original.program.methods
    (index,) = method.outputs
    out = method.values[index]
    assert isinstance(out, program.Tensor)
    values = list(method.values)
    values[index] = replace(out, sizes=(6, 1))
    odd = replace(method, values=tuple(values))
    with pytest.raises(SdkError, match="contradicts itself: export"):
        choose(replace(original, program=replace(original.program, methods=(odd,))))


def bytes_of(*sizes: int) -> np.ndarray:
    return np.zeros(sizes, np.int8)


INTS, LIMITS = np.ones(2, np.int32), (-128, 127)
LACKING: dict[str, tuple[str, Sequence[Any], np.ndarray, str]] = {
    "dilation": (
        "cortex_m::quantized_max_pool2d.out",
        [bytes_of(1, 2, 5, 5), [2, 2], [1, 1], [0, 0], [2, 2], False, 0, 0, *LIMITS],
        bytes_of(1, 2, 3, 3),
        "max_pool2d: dilation is not supported",
    ),
    "rank": (
        "cortex_m::quantized_max_pool2d.out",
        [bytes_of(2, 5, 5), [2, 2], [1, 1], [0, 0], [1, 1], False, 0, 0, *LIMITS],
        bytes_of(2, 4, 4),
        "not of 4 dimensions",
    ),
    "shift": (
        "cortex_m::quantized_mul.out",
        [bytes_of(4), 0, bytes_of(4), 0, 0, 1 << 30, 40],
        bytes_of(4),
        "this multiplier or shift is not supported",
    ),
    "stride": (
        "aten::avg_pool2d.out",
        [
            np.zeros((1, 5, 5), np.float32),
            *([2, 2], [1 << 29, 1], [0, 0], False, True, None),
        ],
        np.zeros((1, 1, 4), np.float32),
        "pool: bad parameter",
    ),
    "layout": (
        "cortex_m::quantized_conv2d.out",
        [
            bytes_of(1, 3, 4, 4),
            one_call.Constant(bytes_of(2, 1, 1, 3)),
            None,
            *([1, 1], [0, 0], [1, 1], 0, 0),
            *(one_call.Constant(INTS) for _ in range(2)),
            *LIMITS,
            one_call.Constant(np.zeros(4, np.uint8)),
        ],
        bytes_of(1, 2, 4, 4),
        "cortex_m: layout",
    ),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_ember_lacks_is_no_contradiction(tmp_path: Path, what: str) -> None:
    """PyTorch and the dialect allow these calls: the message says what is missing."""
    op, arguments, out, said = LACKING[what]
    one_call.write(tmp_path / what, op, KNOWN.operators[op].schema, arguments, [out])
    with pytest.raises(SdkError, match=re.escape(said)) as error:
        choose(model.read(tmp_path / what))
    assert "change the call" in error.value.what
    assert "contradict" not in error.value.what
    assert "convert" not in error.value.what


def test_gaps_are_told_before_a_compiler_starts(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "cache"))
    path = changed(data / "add.pte", tmp_path / "odd.pte", add="my::add")
    with pace.within(2.0):
        assert cli.main(["build", str(path), "--board", "mps2-an386"]) == 1
    assert not (tmp_path / "cache" / "libraries").exists() or not list(
        (tmp_path / "cache" / "libraries").glob("*/build")
    )


def test_nothing_is_written_for_a_model_with_gaps(data: Path, tmp_path: Path) -> None:
    path = changed(data / "add.pte", tmp_path / "odd.pte", add="my::add")
    out = tmp_path / "out"
    words = ["build", str(path), "--board", "host", "--out", str(out)]
    assert cli.main(words) == 1
    assert not out.exists()


@pytest.mark.parametrize("count", [2, 4])  # four: all but the return value
def test_a_call_that_its_schema_does_not_allow(data: Path, count: int) -> None:
    original = model.read(data / "add.pte")
    (method,) = original.program.methods
    call = method.instructions[0]
    assert isinstance(call, program.KernelCall)
    short = replace(call, args=call.args[:count])
    chain = replace(method.chains[0], instructions=(short,))
    odd = replace(method, chains=(chain,))
    with pytest.raises(
        SdkError, match=f"the call has {count} arguments, its kernels take 5"
    ):
        choose(replace(original, program=replace(original.program, methods=(odd,))))


# ---- the choice --------------------------------------------------------------------


def test_explained(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    select(data / "add.pte", "--explain")
    said = " ".join(capsys.readouterr().out.split())
    assert "0 aten::add.out add_f32 " in said
    assert "preferred to add, which also accepts it" in said
    select(path_of("op_add_s32"), "--explain")
    assert "not add_f32: " in " ".join(capsys.readouterr().out.split())


def test_pin_of_an_operator(data: Path) -> None:
    parsed = model.read(data / "add.pte")
    assert choose(parsed).kernels == {"aten::add.out": ("add_f32",)}
    pinned = choose(parsed, Rules(pins={"aten::add.out": "add"}))
    assert pinned.kernels == {"aten::add.out": ("add",)}
    with pytest.raises(
        SdkError, match="pinned to mul, which is not one of its kernels"
    ):
        choose(parsed, Rules(pins={"aten::add.out": "mul"}))
    with pytest.raises(SdkError, match="which Ember does not have") as error:
        choose(parsed, Rules(pins={"aten::ad.out": "add"}))
    assert error.value.hint == "did you mean aten::add.out?"


def test_pin_of_a_call(data: Path) -> None:
    gru = model.read(GRU)
    (needs,) = choose(gru).needs
    names = selection.call_names(gru.program.methods[0])
    adds = [call for call in needs.calls if names[call.instruction] == "aten::add.out"]
    broadcast = next(call for call in adds if call.kernel == "add_f32_broadcast")
    place = (gru.name, "forward", broadcast.instruction)
    same = choose(gru, Rules(calls={place: "add_f32_broadcast"}))
    assert same.kernels == choose(gru).kernels
    with pytest.raises(
        SdkError, match="the pins of model_gru_small contradict each other"
    ):
        choose(gru, Rules(calls={place: "add"}))
    with pytest.raises(SdkError, match="does not accept it"):
        choose(gru, Rules(calls={place: "add_f32"}))
    with pytest.raises(SdkError, match="is pinned, but is not a kernel call"):
        choose(gru, Rules(calls={(gru.name, "forward", 9999): "add"}))
    single = model.read(data / "add.pte")
    (call,) = choose(single, Rules(calls={("add", "forward", 0): "add"})).needs[0].calls
    assert call.kernel == "add"


def test_project_file(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"models: [{data / 'add.pte'}]\nboard: host\npin: {{aten::add.out: add}}\n"
    Path("ember.yaml").write_text(text)
    select("--json", "report.json")
    operators = json.loads(Path("report.json").read_text())["operators"]
    assert operators == {"aten::add.out": ["add"]}
    Path("odd.yaml").write_text("bord: host\npin: {a/b: c}\nmodels: 3\n")
    with pytest.raises(SdkError) as error:
        projects.load(Path("odd.yaml"))
    for problem in (
        "did you mean board?",
        "a/b is neither",
        "models: it must be a list",
    ):
        assert problem in error.value.what


# ---- asked wrongly -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("operators: [", "line 2: "),
        ("operatorz: {}", "not a selected_operators.yaml: it has the field operatorz"),
        ("et_kernel_metadata: {aten::add.out: [v1/x]}", "kernel key 'v1/x'"),
        ("operators: {my::op.out: {}}", "my::op.out; write your own kernel"),
        ("just words", "is not a list of operators"),
        (
            "- {func: 'add.out(Tensor a, Tensor(a!) out) -> Tensor(a!)'}",
            "the schema of aten::add.out has 2 arguments, that of its kernels 4",
        ),
    ],
)
def test_wrong_lists(
    text: str, said: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ops.yaml").write_text(text)
    out = tmp_path / "out.yaml"
    select(data / "add.pte", "--ops-yaml", tmp_path / "ops.yaml", "-o", out, code=1)
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_misspelt_operators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.yaml"
    select("--ops", "ad.out,mm.ot", "-o", out, code=1)
    said = capsys.readouterr().err
    assert "Ember has no operator aten::ad.out: did you mean aten::add.out?" in said
    assert "did you mean aten::mm.out?" in said
    assert not out.exists()


def test_without_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    select(code=2)


def test_ten_models_take_a_second() -> None:
    models = sorted(map(str, matching("model_*")))[:10]
    words = [sys.executable, "-m", "ember", "select", *models]
    path = {"PYTHONPATH": str(Path(cli.__file__).parents[2])}
    content = model.read(GRU).content
    resolve.resolve(content, [], boards.load("host"), [0])  # the tool is built
    with pace.within(1.0):
        subprocess.run(words, check=True, capture_output=True, env=os.environ | path)


def test_inspect_shows_gaps(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = changed(data / "add.pte", tmp_path / "odd.pte", add="my_ops::add")
    report = tmp_path / "report.json"
    assert cli.main(["inspect", str(path), "--json", str(report)]) == 0
    (gap,) = json.loads(report.read_text())["missing"]
    assert gap["op"] == "my_ops::add.out"
    assert "write your own kernel for it" in gap["remedy"]
    assert "my_ops::add.out" in capsys.readouterr().out
    assert cli.main(["inspect", str(data / "add.pte"), "--json", str(report)]) == 0
    assert json.loads(report.read_text())["missing"] == []


def test_op_info_names_the_backends_of_a_program() -> None:
    mlp = committed.program_of("xnnpack_mlp")
    info = opinfo.of_program(mlp, "mlp")
    assert info.backends == {"XnnpackBackend"}
    assert (info | opinfo.OpInfo()).backends == info.backends
