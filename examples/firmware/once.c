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

// Logs `value` / 1000 with three digits after the point, or `value` without.
static void log_number(int64_t value, int is_thousandths) {
    char text[24];
    char *at = text + sizeof text - 2;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    memcpy(at, "\n", 2);
    for (int digit = 0; rest != 0 || digit == 0 || (is_thousandths && digit < 4);
         digit++) {
        if (is_thousandths && digit == 3) {
            *--at = '.';
        }
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (value < 0) {
        *--at = '-';
    }
    ember_port_log(at);
}

static void log_float(float value) {
    if (value > -1e6f && value < 1e6f) {
        log_number((int64_t)(value * 1000 + (value < 0 ? -0.5f : 0.5f)), 1);
    } else {
        ember_port_log("large, or no number\n");
    }
}

static void log_tensor(const ember_tensor_t *tensor) {
    for (uint32_t i = 0; i < tensor->numel; i++) {
        if (tensor->dtype == EMBER_F32) {
            log_float(((const float *)tensor->data)[i]);
        } else if (tensor->dtype == EMBER_S8) {
            log_number(((const int8_t *)tensor->data)[i], 0);
        } else {
            ember_port_log("neither float32 nor int8\n");
        }
    }
}

// Replace by your sensor.
static void read_inputs(void) {
    ember_value_t value;

    for (uint32_t i = 0; ember_method_input(&method, i, &value) == EMBER_OK; i++) {
        if (value.kind == EMBER_TENSOR && value.as_tensor.data != NULL) {
            memset(value.as_tensor.data, 0, ember_tensor_bytes(&value.as_tensor));
        }
    }
}

int main(void) {
    ember_value_t output;

    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    read_inputs();
    check(ember_method_execute(&method, NULL));
    ember_port_log("executed\n");
    check(ember_method_output(&method, 0, &output));
    if (output.kind == EMBER_TENSOR) {
        log_tensor(&output.as_tensor);
    }
    return 0;
}
