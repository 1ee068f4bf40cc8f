# SPDX-License-Identifier: Apache-2.0
"""Cursors of images that come row by row: what is written over them does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from row_networks import resnet_like

from ember import boards
from ember.firmware import Options, build, jobs
from ember.firmware.pipeline import Pipeline
from ember.model import Model
from ember.plan.rows import row_regions
from ember.program import KernelCall, types
from ember.toolchain import emulator

HOSTILE = """
#include "ember/feed.h"
#include "ember/model.h"
#include "ember/port.h"
#include <string.h>
static ember_program_t program;
static ember_method_t method;
static int8_t rows[32 * 96];
static uint32_t state = 1;
static void say(int is_right) { ember_port_log(is_right ? "y" : "n"); }
static uint32_t next(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}
static int whole_image(int8_t *result) {
    uint32_t missing = 1;
    ember_value_t output;
    if (ember_method_feed_anew(&method, NULL) != EMBER_OK ||
        ember_method_feed(&method, rows, 32, &missing, NULL) != EMBER_OK ||
        missing != 0 || ember_method_output(&method, 0, &output) != EMBER_OK) {
        return 0;
    }
    memcpy(result, output.as_tensor.data, 32);
    return 1;
}
int main(void) {
    ember_value_t input;
    int8_t first[32], last[32];
    uint32_t fine = 0, out_of_range = 0, refused = 0, other = 0;
    for (uint32_t i = 0; i < sizeof(rows); i++) {
        rows[i] = (int8_t)(i * i / 7);
    }
    say(ember_model_open(&program, NULL) == EMBER_OK);
    say(ember_model_load(&method, &program, NULL, NULL) == EMBER_OK);
    say(ember_method_input(&method, 0, &input) == EMBER_OK);
    say(whole_image(first));
    uint8_t *cursor = (uint8_t *)input.as_tensor.data + (APART);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t what = next(16);
        uint32_t missing;
        ember_status_t status = EMBER_OK;
        if (what == 0) {
            status = ember_method_feed_anew(&method, NULL);
        } else if (what < 4) {
            const uint32_t word = next(4) == 0 ? state : next(1024);
            memcpy(cursor + 4 * next(WORDS), &word, 4);
        } else if (what < 6) {
            status = ember_method_execute(&method, NULL);
        } else {
            const uint32_t count = next(7);
            status = ember_method_feed(&method, rows + next(20) * 96, count, &missing,
                                       NULL);
        }
        fine += status == EMBER_OK;
        out_of_range += status == EMBER_DATA_RANGE;
        refused += status == EMBER_BAD_ARGUMENT;
        other += status != EMBER_OK && status != EMBER_DATA_RANGE &&
                 status != EMBER_BAD_ARGUMENT;
    }
    say(fine > 20 && out_of_range > 20 && refused > 20 && other == 0);
    say(whole_image(last) && memcmp(first, last, 32) == 0);
    return 0;
}
"""


def cursor_of(model: Model, board: str) -> tuple[int, int]:
    """Bytes from the input to the cursor, and the cursor's words."""
    options = jobs.Options(rows="fed")
    (chosen,) = Pipeline(jobs.make([model], boards.load(board), options, None)).chosen
    (method,) = chosen.model.program.methods
    call = method.instructions[row_regions.regions(method)[0].rows]
    assert isinstance(call, KernelCall)
    ends = (method.inputs[0], call.args[row_regions.CURSOR])
    row, cursor = (method.values[value] for value in ends)
    assert isinstance(row, types.Tensor)
    assert isinstance(cursor, types.Tensor)
    assert row.allocation is not None
    assert cursor.allocation is not None
    return cursor.allocation.offset - row.allocation.offset, cursor.numel


@pytest.mark.slow
def test_no_cursor_harms_the_next_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of the cursor are overwritten, and calls come in any order: the sanitizers
    end an application that leaves its memory, and a new image has its bits again."""
    monkeypatch.chdir(tmp_path)
    model = resnet_like()
    apart, words = cursor_of(model, "host-asan")
    app, file = tmp_path / "app.c", tmp_path / "model.pte"
    app.write_text(HOSTILE.replace("APART", str(apart)).replace("WORDS", str(words)))
    file.write_bytes(model.content)
    built = build(file, "host-asan", options=Options(app=app, rows="fed"))
    said = emulator.run(built.board, built.firmware).check("app").text
    assert said == "yyyyyy"
