// SPDX-License-Identifier: Apache-2.0
// An application to copy: the model reads its input where the application has it and
// writes its output where the application wants it. For a program exported without
// memory for inputs and outputs, here float32[6] and float32[6]:
//
//     ember build model.pte --board mps2-an386 --caller-io
//                           --app examples/firmware/zero_copy.c
#include "ember/model.h"
#include "ember/port.h"

enum { SAMPLES = 6 };

static ember_program_t program;
static ember_method_t method;
static float frames[2][SAMPLES]; // filled in turn, by DMA perhaps
static float result[SAMPLES];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Lends `frame` to every input of the model. Nothing is copied.
static void lend(float *frame) {
    for (uint32_t i = 0; i < method.meta.input_count; i++) {
        ember_value_t input;
        check(ember_method_input(&method, i, &input));
        input.as_tensor.data = frame;
        check(ember_method_set_input(&method, i, &input, NULL));
    }
}

int main(void) {
    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    check(ember_method_set_output(&method, 0, result, sizeof(result), NULL));
    for (uint32_t turn = 0; turn < 4; turn++) {
        float *frame = frames[turn % 2];
        for (uint32_t i = 0; i < SAMPLES; i++) {
            frame[i] = (float)(turn + i);
        }
        lend(frame);
        check(ember_method_execute(&method, NULL));
        ember_port_log(result[SAMPLES - 1] > result[0] ? "rising\n" : "falling\n");
    }
    return 0;
}
