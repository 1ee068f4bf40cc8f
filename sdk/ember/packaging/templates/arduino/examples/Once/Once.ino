// SPDX-License-Identifier: Apache-2.0
// Executes the model of the library once, on zeros, and prints the first output.
#include <Ember.h>

static ember_program_t program;
static ember_method_t method;

void ember_port_log(const char *text) {
    Serial.print(text);
}

static bool failed(const char *what, ember_status_t status) {
    if (status != EMBER_OK) {
        Serial.print(what);
        Serial.print(": ");
        Serial.println(ember_status_text(status));
    }
    return status != EMBER_OK;
}

static void print_output(const ember_tensor_t *tensor) {
    for (uint32_t i = 0; i < tensor->numel; i++) {
        if (tensor->dtype == EMBER_F32) {
            Serial.println(static_cast<const float *>(tensor->data)[i]);
        } else if (tensor->dtype == EMBER_S8) {
            Serial.println(static_cast<const int8_t *>(tensor->data)[i]);
        }
    }
}

void setup() {
    ember_value_t value;

    Serial.begin(115200);
    if (failed("open", ember_model_open(&program, NULL)) ||
        failed("load", ember_model_load(&method, &program, NULL, NULL))) {
        return;
    }
    if (ember_method_input(&method, 0, &value) == EMBER_OK) {
        memset(value.as_tensor.data, 0, ember_tensor_bytes(&value.as_tensor));
    }
    if (!failed("execute", ember_method_execute(&method, NULL)) &&
        !failed("output", ember_method_output(&method, 0, &value))) {
        print_output(&value.as_tensor);
    }
}

void loop() {
}
