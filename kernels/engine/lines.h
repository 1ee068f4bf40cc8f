// SPDX-License-Identifier: Apache-2.0
// Lines along one dimension of an input and an output of one shape, whatever the
// dim orders and dtypes: for generic kernels such as softmax.
#ifndef EMBER_KERNELS_ENGINE_LINES_H
#define EMBER_KERNELS_ENGINE_LINES_H

#include "ember/node.h"
#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"

typedef struct ember_lines {
    char *x;
    char *y;
    uint32_t count; // elements of a line
    int32_t x_step; // bytes
    int32_t y_step;
    uint8_t x_dtype;
    uint8_t y_dtype;
    uint8_t dims;                       // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(2)]; // {size, y step, x step}
} ember_lines_t;

// Computes one line.
typedef void (*ember_line_fn)(const ember_lines_t *lines, const char *x, char *y);

// Argument 0 to output `out` along dimension `dim`.
EMBER_MUST_USE ember_status_t ember_lines_prepare(ember_node_t *node,
                                                  ember_lines_t *lines, uint32_t dim,
                                                  uint32_t out);
void ember_lines_run(const ember_lines_t *lines, ember_line_fn line);

// Element `i` of a line as a double.
double ember_line_get(const ember_lines_t *lines, const char *x, uint32_t i);
void ember_line_set(const ember_lines_t *lines, char *y, uint32_t i, double number);

// The sum of exp(element - *top); `*top` becomes the largest element.
double ember_line_exp_sum(const ember_lines_t *lines, const char *x, double *top);

#endif // EMBER_KERNELS_ENGINE_LINES_H
