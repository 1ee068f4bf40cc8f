// SPDX-License-Identifier: Apache-2.0
// A function of one int16, from its values at every 128th argument and lines between
// them, rounded to nearest, ties up.
#ifndef EMBER_KERNELS_ENGINE_TABLE_S16_H
#define EMBER_KERNELS_ENGINE_TABLE_S16_H

#include <stdint.h>

enum {
    EMBER_TABLE_PLACES_S16 = 7, // bits between two values
    EMBER_TABLE_MIDDLE_S16 = 1 << (15 - EMBER_TABLE_PLACES_S16), // the value at 0
    EMBER_TABLE_ITEMS_S16 = 2 * EMBER_TABLE_MIDDLE_S16 + 1,
};

// `table` has EMBER_TABLE_ITEMS_S16 values; `x` is within int16.
static inline int32_t ember_table_s16(const int16_t *table, int32_t x) {
    const int16_t *at = table + EMBER_TABLE_MIDDLE_S16 + (x >> EMBER_TABLE_PLACES_S16);
    const int32_t share = x & ((1 << EMBER_TABLE_PLACES_S16) - 1);
    const int32_t line = (at[1] - at[0]) * share + (1 << (EMBER_TABLE_PLACES_S16 - 1));

    return at[0] + (line >> EMBER_TABLE_PLACES_S16);
}

#endif // EMBER_KERNELS_ENGINE_TABLE_S16_H
