// SPDX-License-Identifier: Apache-2.0
// An application to start from: executes any model once, on zeros, and logs the first
// output, one element a line. `ember new` copies it.
#include "ember/model.h"
#include "ember/port.h"
#include <string.h>

static ember_program_t program;
static ember_method_t method;

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Logs `value` / 1000, with three digits after the point.
static void log_thousandths(int32_t value) {
    char text[16], *at = text + sizeof text - 2;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    memcpy(at, "\n", 2);
    for (int digit = 0; digit < 4 || rest != 0; digit++, rest /= 10) {
        if (digit == 3) {
            *--at = '.';
        }
        *--at = (char)('0' + rest % 10);
    }
    ember_port_log(value < 0 ? "-" : "");
    ember_port_log(at);
}

static void log_element(const ember_tensor_t *tensor, uint32_t i) {
    const float number = tensor->dtype == EMBER_F32  ? ((const float *)tensor->data)[i]
                         : tensor->dtype == EMBER_S8 ? ((const int8_t *)tensor->data)[i]
                                                     : 1e9f;
    if (number > -2e6f && number < 2e6f) {
        log_thousandths((int32_t)(number * 1000 + (number < 0 ? -0.5f : 0.5f)));
    } else {
        ember_port_log("large, no number, or neither float32 nor int8\n");
    }
}

int main(void) {
    ember_value_t input, output;
    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    for (uint32_t i = 0; ember_method_input(&method, i, &input) == EMBER_OK; i++) {
        if (input.kind == EMBER_TENSOR && input.as_tensor.data != NULL) { // your sensor
            memset(input.as_tensor.data, 0, ember_tensor_bytes(&input.as_tensor));
        }
    }
    check(ember_method_execute(&method, NULL));
    ember_port_log("executed\n");
    check(ember_method_output(&method, 0, &output));
    for (uint32_t i = 0; output.kind == EMBER_TENSOR && i < output.as_tensor.numel;
         i++) {
        log_element(&output.as_tensor, i);
    }
    return 0;
}
