// SPDX-License-Identifier: Apache-2.0
// An application to copy: classifies what a sensor sees, with all memory placed by the
// SDK. For a model with one float32 input and one score per class:
//
//     ember_add_model(classify digits.pte BOARD mps2-an386)
#include "ember/model.h"
#include "ember/port.h"

static ember_program_t program;
static ember_method_t method;

// Replace by your sensor. Here: a ramp from 0 to 1.
static void read_sensor(float *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (float)i / (float)count;
    }
}

static uint32_t largest(const float *scores, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

int main(void) {
    ember_value_t input;
    ember_value_t output;

    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    check(ember_method_input(&method, 0, &input));
    read_sensor(input.as_tensor.data, input.as_tensor.numel);
    check(ember_method_execute(&method, NULL));
    check(ember_method_output(&method, 0, &output));

    const uint32_t best = largest(output.as_tensor.data, output.as_tensor.numel);
    const char digit[] = {'c',  'l', 'a', 's', 's', ' ', (char)('0' + best % 10),
                          '\n', 0};
    ember_port_log(digit);
    return 0;
}
