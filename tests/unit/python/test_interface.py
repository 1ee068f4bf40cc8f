"""What applications must know of inputs and outputs: steps, shapes, labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import committed
import pytest

from ember import cli, model, program
from ember.model import describe
from ember.program import Double, Int, Program
from ember.program.types import Chain, Method

CASE = "call_hardtanh_s8"
APP = """
#include "ember/model.h"
#include "ember/port.h"
#include "told_plan.h"
#include <string.h>

static const char *const labels[] = EMBER_TOLD_LABELS;
_Static_assert(sizeof(EMBER_TOLD_INPUT_0_TYPE) == 1, "int8");

int main(void) {
    static ember_program_t program;
    static ember_method_t method;
    static const uint32_t shape[] = EMBER_TOLD_INPUT_0_SHAPE;
    ember_value_t input;
    int right = ember_model_open(&program, NULL) == EMBER_OK;
    right = right && ember_model_load(&method, &program, NULL, NULL) == EMBER_OK;
    right = right && ember_method_input(&method, 0, &input) == EMBER_OK;
    right = right && input.as_tensor.numel == EMBER_TOLD_INPUT_0_ELEMENTS;
    right = right && sizeof shape / sizeof shape[0] == EMBER_TOLD_INPUT_0_DIMS;
    right = right && EMBER_TOLD_INPUT_0_SCALE == 0.5f;
    right = right && EMBER_TOLD_INPUT_0_ZERO_POINT == -3;
    right = right && EMBER_TOLD_OUTPUT_0_SCALE == 2.0f;
    right = right && strcmp(labels[EMBER_TOLD_LABEL_COUNT - 1], "\\"last\\"") == 0;
    return right ? 42 : 1;
}
"""


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def constant(name: str, value: Double | Int) -> Method:
    return Method(name, (value,), (), (0,), (Chain((), (), (0,)),))


def told(prefix: str = "") -> Program:
    """An int8 program with the steps of its edges, as exporters tell them."""
    facts: dict[str, Double | Int] = {
        "input0_scale": Double(0.5),
        "input0_zp": Int(-3),
        "output0_scale": Double(2.0),
        "output0_zp": Int(7),
    }
    methods = [constant(f"{prefix}{name}", value) for name, value in facts.items()]
    before = committed.program_of(CASE)
    return replace(before, methods=(*before.methods, *methods))


@pytest.mark.parametrize("prefix", ["", "forward_"])
def test_steps_of_a_foreign_program(prefix: str) -> None:
    Path("told.pte").write_bytes(program.write(told(prefix)))
    parsed = model.read(Path("told.pte"))
    assert [method.name for method in parsed.methods] == ["forward"]
    first, last = describe.of(parsed.program, parsed.method(None))
    assert (first.kind, first.scale, first.zero_point) == ("input", 0.5, -3)
    assert (last.kind, last.scale, last.zero_point) == ("output", 2.0, 7)
    assert str(first).endswith("scale 0.5, zero point -3")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("input0_scale", Double(float(text))) for text in ("inf", "-inf", "nan")),
        ("input0_zp", Int(-(1 << 31))),
        ("input0_zp", Int(1 << 40)),
    ],
)
def test_what_c_cannot_say_is_no_step(name: str, value: Double | Int) -> None:
    methods = [
        constant(name, value) if method.name == name else method
        for method in told().methods
    ]
    wrong = replace(told(), methods=tuple(methods))
    first, last = describe.of(wrong, wrong.methods[0])
    assert (first.scale, first.zero_point) == (None, None)
    assert last.scale == 2.0


def test_a_program_that_tells_nothing() -> None:
    before = committed.program_of(CASE)
    assert [
        description.scale for description in describe.of(before, before.methods[0])
    ] == [None] * 2


def test_an_application_reads_them_in_the_header() -> None:
    Path("told.pte").write_bytes(program.write(told()))
    classes = committed.program_of(CASE).methods[0].output_tensors[0].sizes[-1]
    names = [f"class {index}" for index in range(classes - 1)]
    Path("classes.txt").write_text("\n".join([*names, '"last"']) + "\n")
    Path("ember.yaml").write_text("models: told.pte\nlabels: classes.txt\n")
    Path("app.c").write_text(APP)
    assert cli.main(["run", "--app", "app.c", "--board", "host"]) == 42


def packed(*words: str) -> tuple[list[str], int]:
    """The methods of the program in a build, and its bytes."""
    assert cli.main(["build", "told.pte", "--board", "host", "--out", "b", *words]) == 0
    file = Path("b/4-package/model.pte")
    return [each.name for each in program.read(file).methods], file.stat().st_size


def test_steps_take_no_bytes_of_firmware_that_does_not_ask_for_them() -> None:
    Path("told.pte").write_bytes(program.write(committed.program_of(CASE)))
    without = packed()
    Path("told.pte").write_bytes(program.write(told()))
    assert packed() == without
    assert "_INPUT_0_SCALE 0.5f" in Path("b/4-package/told_plan.h").read_text()
    asked, _ = packed("--method", "forward", "--method", "output0_zp")
    assert asked == ["forward", "output0_zp"]
    Path("app.c").write_text('int main(void) { return !"output0_zp"[0]; }\n')
    of_app, _ = packed(
        "--app", "app.c", "--method", "forward", "--method", "output0_zp"
    )
    assert of_app == ["forward", "output0_zp"]
    assert packed("--app", "app.c") == without


def test_constants_that_tell_no_step_stay() -> None:
    more = constant("get_vocab_size", Int(8))
    both = told()
    Path("told.pte").write_bytes(
        program.write(replace(both, methods=(*both.methods, more)))
    )
    assert packed()[0] == ["forward", "get_vocab_size"]


def test_labels_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    Path("told.pte").write_bytes(program.write(told()))
    Path("classes.txt").write_text("only one\n")
    Path("ember.yaml").write_text("labels: {told: classes.txt}\n")
    assert cli.main(["build", "told.pte", "--board", "host"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "told has 1 labels, but the last dimension of its output 0 is" in said
    Path("ember.yaml").write_text("labels: {other: classes.txt}\n")
    assert cli.main(["build", "told.pte", "--board", "host"]) == 1
    assert "labels: other is none of the models told" in capsys.readouterr().err
