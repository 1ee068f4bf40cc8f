// SPDX-License-Identifier: Apache-2.0
// An application that talks over the console: a line of numbers fills the input, as far
// as it reaches, and the class with the largest output is the answer. An empty line
// ends it. For a model with one input and one output in float32:
//     ember run digits.pte --board mps2-an386 --app examples/firmware/talk.c
#include "ember/model.h"
#include "ember/port.h"
#include "log.h"

static ember_program_t program;
static ember_method_t method;
static char line[1024];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// The next number of a text, such as -1.25; moves `at` behind it and one space.
static float next_number(const char **at) {
    const float sign = **at == '-' ? -1.0f : 1.0f;
    float digits = 0.0f, scale = 1.0f;
    for (bool point = false; **at != '\0' && **at != ' '; (*at)++) {
        point = point || **at == '.';
        if (**at >= '0' && **at <= '9') {
            digits = digits * 10.0f + (float)(**at - '0');
            scale *= point ? 10.0f : 1.0f;
        }
    }
    *at += **at == ' ';
    return sign * digits / scale;
}

static uint32_t classify(const char *numbers) {
    ember_value_t input, output;
    check(ember_method_input(&method, 0, &input));
    float *values = input.as_tensor.data;
    for (uint32_t i = 0; i < input.as_tensor.numel; i++) {
        values[i] = *numbers != '\0' ? next_number(&numbers) : 0.0f;
    }
    check(ember_method_execute(&method, NULL));
    check(ember_method_output(&method, 0, &output));
    const float *scores = output.as_tensor.data;
    uint32_t best = 0;
    for (uint32_t i = 1; i < output.as_tensor.numel; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}

int main(void) {
    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    for (ember_port_log("numbers? "); ember_port_read_line(line, sizeof line) > 0;) {
        log_number((int32_t)classify(line));
        ember_port_log("\nnumbers? ");
    }
    return 0;
}
