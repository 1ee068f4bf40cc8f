// SPDX-License-Identifier: Apache-2.0
// band_mm: the product of rows and a matrix in which only one range of each column is
// nonzero, such as a bank of triangular filters; float32.
//
//     out[.., j] = sum over i < length(j) of x[.., first(j) + i] * weights[at(j) + i]
//
//     x        (.., n)
//     bands    (m, 2)    int32: first(j) and length(j); at(j) is what lies before
//     weights  (count,)  the ranges, one after the other
//     out      (.., m)
//
// Bands are read from data: DATA_RANGE if one exceeds x or the weights.
#include <string.h>

#include "ember/node.h"
#include "kernels/engine/element.h"

enum { X, BANDS, WEIGHTS, OUT };

typedef struct band_mm {
    const float *x;
    const int32_t *bands;
    const float *weights;
    float *y;
    uint32_t rows;
    uint32_t n;
    uint32_t m;
    uint32_t count; // of weights
} band_mm_t;

static float dot(const float *x, const float *w, uint32_t length) {
    float sum = 0.0f;
    for (uint32_t i = 0; i < length; i++) {
        sum += x[i] * w[i];
    }
    return sum;
}

static int32_t run(void *state) {
    const band_mm_t *s = state;
    uint32_t at = 0;
    for (uint32_t j = 0; j < s->m; j++) {
        const uint32_t first = (uint32_t)s->bands[2 * j];
        const uint32_t length = (uint32_t)s->bands[2 * j + 1];
        if (first > s->n || length > s->n - first || length > s->count - at) {
            return EMBER_DATA_RANGE;
        }
        for (uint32_t row = 0; row < s->rows; row++) {
            s->y[(size_t)row * s->m + j] =
                dot(s->x + (size_t)row * s->n + first, s->weights + at, length);
        }
        at += length;
    }
    return EMBER_OK;
}

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_tensor_t bands;
    ember_tensor_t weights;
    ember_tensor_t y;
    int32_t sizes[EMBER_MAX_RANK] = {0};
    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, BANDS, &bands);
    ember_node_tensor(node, WEIGHTS, &weights);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank == 0 || bands.rank != 2 || bands.sizes[1] != 2 || weights.rank != 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "band_mm: bad shapes");
    }
    memcpy(sizes, x.sizes, x.rank * sizeof(*sizes));
    sizes[x.rank - 1] = bands.sizes[0];
    ember_node_output(node, OUT, x.rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&x, EMBER_F32) || !is_plain(&bands, EMBER_S32) ||
        !is_plain(&weights, EMBER_F32) || !is_plain(&y, EMBER_F32)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "band_mm: not contiguous float32 and int32");
    }
    const uint32_t n = (uint32_t)x.sizes[x.rank - 1];
    const uint32_t m = (uint32_t)bands.sizes[0];
    const uint32_t rows = m == 0 ? 0 : y.numel / m;
    ember_node_work(node, rows, weights.numel);
    ember_node_work(node, y.numel, EMBER_STEPS_ANY); // of bands without weights, too
    *(band_mm_t *)state = (band_mm_t){x.data, bands.data, weights.data, y.data, rows,
                                      n,      m,          weights.numel};
    return EMBER_OK;
}

EMBER_KERNEL(band_mm, band_mm_t);
