// SPDX-License-Identifier: Apache-2.0
// embedding_byte, embedding_4bit, embedding_2bit: rows of a quantised table, picked by
// a tensor of indices and dequantised.
//
//     y[i, j] = (w[index[i], j] - zero_point) * scale
//
// Scales and zero points are (rows,) or (rows, groups): all groups of a row have the
// same number of elements. Each step is rounded to the dtype of the scales. A byte
// holds two 4-bit numbers, the first in its high half, or four of 2 bits, the first in
// its lowest.
#ifndef EMBER_KERNELS_QUANTIZED_TABLE_H
#define EMBER_KERNELS_QUANTIZED_TABLE_H

#include "ember/node.h"

typedef struct ember_table {
    const uint8_t *weight; // (rows, columns * bits / 8)
    const char *scales;
    const char *zeros; // NULL: 0
    const char *indices;
    char *y;
    uint32_t count; // indices
    int32_t rows;
    uint32_t columns; // numbers of a row
    uint32_t group;   // numbers that share a scale
    uint8_t bits;     // of a number
    uint8_t weight_dtype;
    uint8_t scale_dtype; // of the zero points, too
    uint8_t index_dtype;
    uint8_t y_dtype;
} ember_table_t;

EMBER_MUST_USE ember_status_t ember_table_prepare(ember_table_t *table,
                                                  ember_node_t *node, uint32_t bits);

// Writes row `index` of the table to y.
typedef void (*ember_table_fn)(const ember_table_t *table, uint32_t index, char *y);
void ember_table_write_row(const ember_table_t *table, uint32_t index, char *y);

// Returns EMBER_OK or EMBER_DATA_RANGE.
int32_t ember_table_run(const ember_table_t *table, ember_table_fn write_row);

#define EMBER_TABLE_KERNEL(NAME, BITS)                                                 \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_table_prepare(state, node, (BITS));                               \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        return ember_table_run(state, ember_table_write_row);                          \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_table_t)

#endif // EMBER_KERNELS_QUANTIZED_TABLE_H
