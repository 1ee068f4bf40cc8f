// SPDX-License-Identifier: Apache-2.0
// im2row: the elements under each window of an image as a row of a matrix, (n, windows,
// taps * channels); outside the image they are a zero point.
#ifndef EMBER_KERNELS_CADENCE_ROWS_H
#define EMBER_KERNELS_CADENCE_ROWS_H

#include "kernels/cadence/window.h"

typedef struct ember_cadence_rows {
    ember_cadence_window_t window;
    const char *x;
    char *y;
    ember_cadence_number_t zero; // maybe one for each image
    uint8_t dtype;
    uint8_t size; // bytes of an element
} ember_cadence_rows_t;

EMBER_MUST_USE ember_status_t ember_cadence_rows(ember_cadence_rows_t *rows,
                                                 ember_node_t *node, bool transposed);
void ember_cadence_rows_run(const ember_cadence_rows_t *rows);

#endif // EMBER_KERNELS_CADENCE_ROWS_H
