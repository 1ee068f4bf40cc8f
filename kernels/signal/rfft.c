// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/rfft.h"

#include <string.h>

enum { OUT = 2 };

static inline __attribute__((always_inline)) void
split_one(ember_complex_t *y, uint32_t h, uint32_t k, ember_complex_t root) {
    const ember_complex_t a = y[k];
    const ember_complex_t b = ember_complex_conj(y[h - k]);
    const ember_complex_t even = ember_complex_add(a, b);
    const ember_complex_t odd = ember_complex_sub(a, b);
    const ember_complex_t turned = {odd.im, -odd.re};
    const ember_complex_t twisted = ember_complex_mul(turned, root);
    y[k] =
        (ember_complex_t){0.5f * (even.re + twisted.re), 0.5f * (even.im + twisted.im)};
    y[h - k] =
        (ember_complex_t){0.5f * (even.re - twisted.re), 0.5f * (twisted.im - even.im)};
}

void ember_rfft_split(ember_complex_t *y, uint32_t h, uint32_t k,
                      ember_complex_t root) {
    split_one(y, h, k, root);
}

// Takes the transform of (h,) pairs apart, in place: y has h + 1 elements then.
static void split(ember_complex_t *y, uint32_t h, const ember_complex_t *roots) {
    const ember_complex_t first = y[0];
    for (uint32_t k = 1; k <= h / 2; k++, roots++) {
        split_one(y, h, k, *roots);
    }
    ember_rfft_ends(y, h, first);
}

static void even(const ember_transform_t *s, const float *x, float *out) {
    ember_complex_t *y = ember_complex_out(out);
    split(y, s->fft, ember_fft(ember_complex_in(x), y, s->scratch, s->fft, s->roots));
}

static void odd(const ember_transform_t *s, const float *x, float *y) {
    ember_complex_t *result = s->scratch;
    ember_complex_t *spare = result + s->n;
    ember_complex_t *row = ember_fft_place(result, spare, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        row[i] = (ember_complex_t){x[i], 0.0f};
    }
    ember_fft(row, result, spare, s->n, s->roots);
    memcpy(y, result, (s->n / 2 + 1) * sizeof(*result));
}

static int32_t run(void *state) {
    const ember_transform_t *s = state;
    ember_transform_run(s, s->n % 2 == 0 ? even : odd);
    return EMBER_OK;
}

ember_status_t ember_rfft_prepare(ember_node_t *node, ember_transform_t *s) {
    ember_tensor_t x;
    if (!ember_transform_input(node, &x, false)) {
        return ember_node_status(node);
    }
    const uint32_t n = (uint32_t)x.sizes[x.rank - 1];
    ember_transform_form_t form = {
        .x_dims = 1, .out = OUT, .bins = n / 2 + 1, .pair = true};
    ember_transform_real(s, n, &form);
    return ember_transform_prepare(s, node, &x, &form);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rfft_prepare(node, state);
}

EMBER_KERNEL(rfft, ember_transform_t);
