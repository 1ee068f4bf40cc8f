// SPDX-License-Identifier: Apache-2.0
// Inputs of every kind; values.h.
#include "values.h"

#include "ember/port.h"

#include <string.h>

ember_status_t ember_values_resize(ember_method_t *method, uint32_t index,
                                   uint32_t rank, const int32_t *sizes,
                                   ember_error_t *err) {
    return ember_method_resize_input(method, index, rank, sizes, err);
}

static bool read_exactly(int32_t file, void *to, size_t size) {
    return ember_port_read(file, to, size) == (int64_t)size;
}

static ember_status_t broken(ember_error_t *err) {
    return ember_fail(err, EMBER_IO, "values: the file is broken or ends early");
}

// A string is baked into the program at export: the input must equal it.
static ember_status_t read_string(int32_t file, const ember_values_head_t *head,
                                  ember_method_t *method, uint32_t index,
                                  ember_error_t *err) {
    ember_value_t value;
    const ember_status_t status = ember_method_input(method, index, &value);
    bool same = status == EMBER_OK && value.kind == EMBER_STRING &&
                value.as_string.length == head->bytes;
    for (uint32_t i = 0; i < head->bytes; i++) {
        char letter;
        if (!read_exactly(file, &letter, 1)) {
            return broken(err);
        }
        same = same && letter == value.as_string.text[i];
    }
    if (!same) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "input: the program was exported for another string");
    }
    const uint32_t padding = (0u - head->bytes) & 3u;
    uint8_t skipped[4];
    return read_exactly(file, skipped, padding) ? EMBER_OK : broken(err);
}

ember_status_t ember_values_read_other(int32_t file, const ember_values_head_t *head,
                                       ember_method_t *method, uint32_t index,
                                       ember_error_t *err) {
    int64_t bits = 0;
    if (head->kind == EMBER_STRING) {
        return read_string(file, head, method, index, err);
    }
    if (head->bytes > sizeof(bits) || !read_exactly(file, &bits, head->bytes)) {
        return broken(err);
    }
    ember_value_t value = {.kind = (ember_kind_t)head->kind};
    if (value.kind == EMBER_BOOL) {
        value.as_bool = bits != 0;
    } else {
        memcpy(&value.as_int, &bits, sizeof(bits)); // the bits of a double
    }
    return ember_method_set_input(method, index, &value, err);
}
