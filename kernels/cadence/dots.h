// SPDX-License-Identifier: Apache-2.0
// Products of int8 with the instructions of a core, for the dialect's layers: the loops
// are those of the cortex_m dialect, whose sums are scaled otherwise there.
#ifndef EMBER_KERNELS_CADENCE_DOTS_H
#define EMBER_KERNELS_CADENCE_DOTS_H

#include "kernels/cadence/conv.h"
#include "kernels/cadence/products.h"

// A row times rows of a matrix:
//
//     sums[j] = sum over k of (a[k] + a_offset) * (b[j, k] + b_offset)
typedef struct ember_dots_task {
    const int8_t *b; // (count, inner)
    int32_t count;
    int32_t inner;
    int16_t a_offset; // -127 .. 128
    int16_t b_offset;
    int32_t *scratch; // of `bytes`
} ember_dots_task_t;

// How a core does it.
typedef struct ember_dots {
    size_t (*bytes)(int32_t inner, int32_t count); // of scratch, a multiple of four
    void (*start)(const ember_dots_task_t *task);  // before the first row of a
    void (*sums)(const ember_dots_task_t *task, const int8_t *a, int32_t from,
                 int32_t count, int32_t *sums); // with rows [from, from + count) of b
    // The same of three rows of a: sums[n, j], which begin with bias[j]. NULL, or for
    // inner in fours, count in twos and a b_offset of 0, with scratch of `bytes_three`.
    void (*three)(const ember_dots_task_t *task, const int8_t *a, int32_t from,
                  int32_t count, const int32_t *bias, int32_t *sums);
    size_t (*bytes_three)(int32_t inner);
} ember_dots_t;

typedef struct ember_cadence_products_dots {
    ember_cadence_products_t products;
    int32_t *sums; // (columns,) scratch; behind it that of the dots
} ember_cadence_products_dots_t;

// Takes `s->products`, which is read already. UNSUPPORTED unless its rows are of int8.
EMBER_MUST_USE ember_status_t ember_products_dots_prepare(
    ember_cadence_products_dots_t *s, ember_node_t *node, const ember_dots_t *dots);
void ember_products_dots_run(const ember_cadence_products_dots_t *s,
                             const ember_dots_t *dots);

typedef struct ember_cadence_conv_dots {
    ember_cadence_conv_t conv;
    int32_t *sums;    // (columns, filters) scratch; behind it that of the dots
    int32_t *working; // of the dots
    int8_t *patch;    // (columns, inner)
    int32_t columns;  // outputs at once: 1 or 3
} ember_cadence_conv_dots_t;

// Takes `s->conv`, which is read already. UNSUPPORTED unless it is of int8 with whole
// sums and no depthwise one.
EMBER_MUST_USE ember_status_t ember_conv_dots_prepare(ember_cadence_conv_dots_t *s,
                                                      ember_node_t *node,
                                                      const ember_dots_t *dots);
void ember_conv_dots_run(const ember_cadence_conv_dots_t *s, const ember_dots_t *dots);

// A whole variant: READ reads a call into PART of the state of KIND.
#define EMBER_DOTS_KERNEL(NAME, KIND, PART, READ, DOTS)                                \
    static int32_t run(void *state) {                                                  \
        ember_##KIND##_dots_run(state, &(DOTS));                                       \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        ember_cadence_##KIND##_dots_t *s = state;                                      \
        const ember_status_t status = READ;                                            \
        return status != EMBER_OK ? status                                             \
                                  : ember_##KIND##_dots_prepare(s, node, &(DOTS));     \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_cadence_##KIND##_dots_t)

extern const ember_dots_t ember_dots_dsp;
extern const ember_dots_t ember_dots_mve;

#endif // EMBER_KERNELS_CADENCE_DOTS_H
