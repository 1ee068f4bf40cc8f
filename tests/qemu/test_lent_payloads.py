"""Scratch in place of payloads, on a board whose image is in RAM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from committed_cases import path_of

from ember import cases
from ember.cases import inputs
from ember.firmware import build
from ember.firmware.jobs import Options
from ember.run import run
from ember.toolchain import emulator

pytestmark = pytest.mark.qemu

# Fills what was lent before each of three runs; then loads again.
MAIN = """
#include "ember/model.h"
#include "ember/port.h"
#include "{name}_plan.h"
#include <string.h>
extern uint8_t ember_temp[];
static ember_program_t program;
static ember_method_t method;
static ember_error_t error;
static uint8_t first[4096];

static bool same(uint32_t round) {{
    ember_value_t input, output;
    if (ember_method_input(&method, 0, &input) != EMBER_OK) {{
        return false;
    }}
    float *x = input.as_tensor.data;
    for (uint32_t i = 0; i < input.as_tensor.numel; i++) {{
        x[i] = (float)(i % 7) - 3.0f;
    }}
    memset(ember_temp, round == 1 ? 0xA5 : 0xFF, EMBER_TEMP_BYTES);
    if (ember_method_execute(&method, &error) != EMBER_OK ||
        ember_method_output(&method, 0, &output) != EMBER_OK) {{
        return false;
    }}
    const size_t bytes = 4 * output.as_tensor.numel;
    if (round == 0) {{
        memcpy(first, output.as_tensor.data, bytes);
    }}
    return memcmp(first, output.as_tensor.data, bytes) == 0;
}}

int main(void) {{
    if (ember_model_open(&program, &error) != EMBER_OK ||
        ember_model_load(&method, &program, NULL, &error) != EMBER_OK) {{
        return 1;
    }}
    for (uint32_t round = 0; round < 3; round++) {{
        if (!same(round)) {{
            return 2;
        }}
    }}
    if (ember_model_load(&method, &program, NULL, &error) == EMBER_OK) {{
        return 3;
    }}
    ember_port_log(error.message);
    return 0;
}}
"""


@pytest.mark.parametrize("name", ["xnnpack_resnet8", "xnnpack_two_delegates"])
def test_outputs_are_right_and_certified(name: str, tmp_path: Path) -> None:
    case = cases.read(cases.Found(name, path_of(name)))
    built = build(path_of(name), "qemu-a64", out=tmp_path / "built")
    reused = built.plan["payloads"]["reused"]
    rows = {row["place"]: row for row in built.certificate["rows"]}
    assert rows["ember_temp"]["linked"] == reused > 0
    rest = rows["ember_temp_rest"]["linked"] if "ember_temp_rest" in rows else 0
    assert reused + rest == built.plan["scratch"]
    first = case.runs[0]
    given = inputs.of_case(path_of(name))
    assert given is not None
    laid = inputs.lay_out(built.methods[0], given.given)
    log = run.run(built, laid, trace=True)  # runs twice
    assert (
        sum(log.used[row] for row in rows if row.startswith("ember_temp"))
        == (built.plan["scratch"])
    )
    for got, want in zip(log.arrays(), first.outputs, strict=True):
        assert isinstance(got, np.ndarray)
        assert isinstance(want, cases.CaseTensor)
        np.testing.assert_allclose(got, want.array, rtol=case.rtol, atol=case.atol)


def test_runs_stay_right_and_a_second_load_is_refused(tmp_path: Path) -> None:
    app = tmp_path / "app.c"
    app.write_text(MAIN.format(name="xnnpack_resnet8"))
    options = Options(app=app, messages=True)
    built = build(
        path_of("xnnpack_resnet8"), "qemu-a64", out=tmp_path / "built", options=options
    )
    said = emulator.run(built.board, built.firmware).check("lending").text
    assert "loaded before; scratch has since overwritten its payloads" in said
