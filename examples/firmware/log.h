// SPDX-License-Identifier: Apache-2.0
// Numbers as text on the board's log.
#ifndef EXAMPLES_FIRMWARE_LOG_H
#define EXAMPLES_FIRMWARE_LOG_H

#include "ember/port.h"

#include <stdint.h>

static inline void log_number(int32_t value) {
    char text[12] = {0};
    char *at = text + sizeof(text) - 1;
    uint32_t left = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (value < 0) {
        *--at = '-';
    }
    ember_port_log(at);
}

// In thousandths, rounded half away from zero.
static inline void log_thousandths(float value) {
    const float milli = value * 1000.0f;
    log_number((int32_t)(milli < 0.0f ? milli - 0.5f : milli + 0.5f));
}

#endif
