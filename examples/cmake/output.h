// SPDX-License-Identifier: Apache-2.0
// What both applications of this project end with.
#ifndef OUTPUT_H
#define OUTPUT_H

#include "ember/method.h"
#include "ember/port.h"

static inline void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Fills the first input with ones, executes, and logs the first element of the first
// output in thousandths.
static inline void execute(ember_method_t *method) {
    char text[] = "output 0000\n";
    ember_value_t value;

    check(ember_method_input(method, 0, &value));
    for (uint32_t i = 0; i < value.as_tensor.numel; i++) {
        ((float *)value.as_tensor.data)[i] = 1.0f;
    }
    check(ember_method_execute(method, NULL));
    check(ember_method_output(method, 0, &value));
    uint32_t milli = (uint32_t)(*(const float *)value.as_tensor.data * 1000.0f);
    for (char *at = text + 10; at > text + 6; at--) {
        *at = (char)('0' + milli % 10);
        milli /= 10;
    }
    ember_port_log(text);
}

#endif // OUTPUT_H
