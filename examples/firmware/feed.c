// SPDX-License-Identifier: Apache-2.0
// An application to copy: an image comes row by row, as a camera delivers it, and is
// never in memory as a whole. For a model with one image of int8 as its input:
//
//     ember run model.pte --board mps2-an386 --rows fed --app examples/firmware/feed.c
#include "ember/feed.h"
#include "ember/model.h"
#include "ember/port.h"

enum { ROW_BYTES = 96 }; // of the largest row here: 3 channels of 32 pixels

static ember_program_t program;
static ember_method_t method;
static int8_t row[ROW_BYTES];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Stands for the camera: row `number` of frame `frame`.
static void camera_row(uint32_t frame, uint32_t number) {
    for (uint32_t i = 0; i < ROW_BYTES; i++) {
        row[i] = (int8_t)(i * 7 + number * (3 + frame));
    }
}

// Which output is largest, as a letter.
static char letter(const ember_tensor_t *output) {
    const int8_t *numbers = output->data;
    uint32_t best = 0;
    for (uint32_t i = 1; i < output->numel; i++) {
        best = numbers[i] > numbers[best] ? i : best;
    }
    return (char)('a' + best);
}

int main(void) {
    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    for (uint32_t frame = 0; frame < 3; frame++) {
        uint32_t missing = 1;
        for (uint32_t number = 0; missing > 0; number++) {
            camera_row(frame, number);
            check(ember_method_feed(&method, row, 1, &missing, NULL));
        }
        ember_value_t output;
        check(ember_method_output(&method, 0, &output));
        const char text[] = {letter(&output.as_tensor), '\n', 0};
        ember_port_log(text);
    }
    return 0;
}
