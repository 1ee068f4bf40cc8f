// SPDX-License-Identifier: Apache-2.0
// Looks up an operator in the generated table.
#include "method_state.h"

// Compares the bytes of `string` with as many of `*text`, and advances it past them if
// they are equal.
static int compare_part(ember_vector_t string, const char **text) {
    const uint8_t *item = vector_items(string);
    const uint8_t *end = item + vector_count(string);
    const uint8_t *at = (const uint8_t *)*text;
    while (item != end) {
        const int order = *item++ - *at;
        if (order != 0) {
            return order;
        }
        if (*at++ == '\0') {
            return 1; // a NUL in the program's string ends our text
        }
    }
    *text = (const char *)at;
    return 0;
}

// Compares "name.overload" (just "name" if there is no overload) with `text`.
static int compare(const ember_field_t *names, const char *text) {
    const ember_vector_t overload = names[OPERATOR_OVERLOAD].at;
    int order = compare_part(names[OPERATOR_NAME].at, &text);
    if (order == 0 && vector_count(overload) > 0) {
        order = '.' - *text;
        text += order == 0;
        order = order != 0 ? order : compare_part(overload, &text);
    }
    return order != 0 ? order : -*text;
}

const ember_operator_t *ember_operators_find(const ember_operators_t *operators,
                                             const ember_field_t *names,
                                             uint32_t first) {
    uint32_t low = 0;
    uint32_t high = operators->count;
    uint32_t middle = first < high ? first : 0;
    for (; low < high; middle = (low + high) / 2) {
        const int order = compare(names, operators->items[middle].name);
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
