// SPDX-License-Identifier: Apache-2.0
// Bytes of the console become lines, on every port. Weak, because weak.c needs it.
#include <stdbool.h>

#include "ember/port.h"

// A CR ends a line at once; an LF after it belongs to the same line end.
static int32_t next_of_line(void) {
    static bool after_return;
    const bool skips_newline = after_return;
    int32_t byte = ember_port_read_char();

    if (byte == '\n' && skips_newline) {
        byte = ember_port_read_char();
    }
    after_return = byte == '\r';
    return byte;
}

__attribute__((weak)) int32_t ember_port_read_line(char *line, size_t capacity) {
    size_t length = 0;
    int32_t byte = next_of_line();
    const bool is_ended = byte < 0;

    for (; byte >= 0 && byte != '\r' && byte != '\n'; byte = next_of_line()) {
        if (length + 1 < capacity) {
            line[length++] = (char)byte;
        }
    }
    if (capacity > 0) {
        line[length] = '\0';
    }
    return is_ended ? -1 : (int32_t)length;
}
