// SPDX-License-Identifier: Apache-2.0
// rfft: the discrete Fourier transforms of real rows, as torch.view_as_real() of
// torch.fft.rfft() has them, float32.
//
//     out[.., k] = sum over j < n of x[.., j] * exp(-2 pi i j k / n)   for k <= n / 2
//
//     x      (.., n)
//     roots  (count, 2)  those of ember_fft() for h = n / 2, then exp(-2 pi i k / n) for k
//            from 1 to h / 2; with an odd n those of ember_fft() for n
//     out    (.., n / 2 + 1, 2)
//
// Two neighbours of a row are one complex number: a row of n takes a transform of n / 2.
// One of odd length takes a transform of n, with scratch for two rows of complex numbers.
#include <string.h>

#include "kernels/signal/fft.h"

enum { X, ROOTS, OUT };

typedef struct rfft {
    const float *x;
    const ember_complex_t *roots;
    ember_complex_t *y;
    ember_complex_t *scratch; // (n / 2,), or (2 n,) for an odd n
    uint32_t rows;
    uint32_t n; // elements of a row
} rfft_t;

// Takes the transform of (h,) pairs apart, in place: y has h + 1 elements then.
static void split(ember_complex_t *y, uint32_t h, const ember_complex_t *roots) {
    const ember_complex_t first = y[0];
    for (uint32_t k = 1; k <= h / 2; k++, roots++) {
        const ember_complex_t a = y[k];
        const ember_complex_t b = ember_complex_conj(y[h - k]);
        const ember_complex_t even = ember_complex_add(a, b);
        const ember_complex_t odd = ember_complex_sub(a, b);
        const ember_complex_t turned = {odd.im, -odd.re};
        const ember_complex_t twisted = ember_complex_mul(turned, *roots);
        y[k] = (ember_complex_t){0.5f * (even.re + twisted.re),
                                 0.5f * (even.im + twisted.im)};
        y[h - k] = (ember_complex_t){0.5f * (even.re - twisted.re),
                                     0.5f * (twisted.im - even.im)};
    }
    y[0] = (ember_complex_t){first.re + first.im, 0.0f};
    y[h] = (ember_complex_t){first.re - first.im, 0.0f};
}

static void even_row(const rfft_t *s, const float *x, ember_complex_t *y) {
    const uint32_t half = s->n / 2;
    const ember_complex_t *pairs = (const ember_complex_t *)(const void *)x;
    split(y, half, ember_fft(pairs, y, s->scratch, half, s->roots));
}

static void odd_row(const rfft_t *s, const float *x, ember_complex_t *y) {
    ember_complex_t *result = s->scratch;
    ember_complex_t *spare = result + s->n;
    ember_complex_t *row = ember_fft_size(s->n).passes % 2 == 0 ? result : spare;
    for (uint32_t i = 0; i < s->n; i++) {
        row[i] = (ember_complex_t){x[i], 0.0f};
    }
    ember_fft(row, result, spare, s->n, s->roots);
    memcpy(y, result, (s->n / 2 + 1) * sizeof(*y));
}

static int32_t run(void *state) {
    const rfft_t *s = state;
    const size_t bins = s->n / 2 + 1;
    for (uint32_t row = 0; row < s->rows; row++) {
        const float *x = s->x + (size_t)s->n * row;
        if (s->n % 2 == 0) {
            even_row(s, x, s->y + bins * row);
        } else {
            odd_row(s, x, s->y + bins * row);
        }
    }
    return EMBER_OK;
}

static ember_status_t check(ember_node_t *node, const ember_tensor_t *x) {
    if (x->dtype != EMBER_F32 || !ember_tensor_is_contiguous(x)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "rfft: not contiguous float32");
    }
    if (x->rank == 0 || x->rank >= EMBER_MAX_RANK || x->sizes[x->rank - 1] < 1 ||
        x->sizes[x->rank - 1] > EMBER_FFT_LONGEST) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "rfft: rows of 1 to 2^24 elements");
    }
    return EMBER_OK;
}

static void output(ember_node_t *node, const ember_tensor_t *x, ember_tensor_t *y) {
    int32_t sizes[EMBER_MAX_RANK];
    memcpy(sizes, x->sizes, x->rank * sizeof(*sizes));
    sizes[x->rank - 1] = x->sizes[x->rank - 1] / 2 + 1;
    sizes[x->rank] = 2;
    ember_node_output(node, OUT, x->rank + 1u, sizes, y);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    rfft_t *s = state;
    ember_tensor_t x;
    ember_tensor_t y;

    ember_node_tensor(node, X, &x);
    if (ember_node_status(node) != EMBER_OK || check(node, &x) != EMBER_OK) {
        return ember_node_status(node);
    }
    output(node, &x, &y);
    const uint32_t n = (uint32_t)x.sizes[x.rank - 1];
    const uint32_t length = n % 2 == 0 ? n / 2 : n; // of the complex transform
    s->roots = ember_fft_roots(node, ROOTS, length, n % 2 == 0 ? length / 2 : 0);
    s->scratch = ember_node_scratch(node, (size_t)length * sizeof(*s->scratch) *
                                              (n % 2 == 0 ? 1 : 2));
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_F32 || !ember_tensor_is_contiguous(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "rfft: not contiguous float32");
    }
    ember_node_work(node, x.numel, ember_fft_size(length).steps);
    s->x = x.data;
    s->y = y.data;
    s->rows = x.numel / n;
    s->n = n;
    return EMBER_OK;
}

EMBER_KERNEL(rfft, rfft_t);
