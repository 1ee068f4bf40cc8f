// SPDX-License-Identifier: Apache-2.0
// Finding an operator in the generated table.
#include "method_state.h"

// Compares "name.overload" (only "name" without overload) with the string `text`.
static int compare(ember_vector_t name, ember_vector_t overload, const char *text) {
    uint32_t i = 0;
    for (; i < name.count; i++, text++) {
        if (name.items[i] != (uint8_t)*text) {
            return name.items[i] < (uint8_t)*text ? -1 : 1;
        }
    }
    if (overload.count == 0) {
        return *text == '\0' ? 0 : -1;
    }
    if (*text++ != '.') {
        return text[-1] > '.' ? -1 : 1;
    }
    for (i = 0; i < overload.count; i++, text++) {
        if (overload.items[i] != (uint8_t)*text) {
            return overload.items[i] < (uint8_t)*text ? -1 : 1;
        }
    }
    return *text == '\0' ? 0 : -1;
}

const ember_operator_t *ember_operators_find(const ember_operators_t *operators,
                                             const uint8_t *table) {
    const ember_vector_t name = ember_flat_vector(table, OPERATOR_NAME);
    const ember_vector_t overload = ember_flat_vector(table, OPERATOR_OVERLOAD);
    uint32_t low = 0;
    uint32_t high = operators->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const int order = compare(name, overload, operators->items[middle].name);
        if (order == 0) {
            return &operators->items[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}
