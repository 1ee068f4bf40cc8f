// SPDX-License-Identifier: Apache-2.0
// rfft: the discrete Fourier transforms of real rows, as torch.view_as_real() of
// torch.fft.rfft() has them, float32.
//
//     out[.., k] = sum over j < n of x[.., j] * exp(-2 pi i j k / n)   for k <= n / 2
//
//     x      (.., n)
//     roots  (count, 2)  those of ember_fft() for h = n / 2, then for each k from 1 to
//                        h / 2 exp(-2 pi i k / n); of ember_fft() for n if n is odd
//     out    (.., n / 2 + 1, 2)
//
// Two neighbours of a row are one complex number, so that half the length is
// transformed. A row of odd length is a complex one, which takes scratch for two.
#include <string.h>

#include "kernels/signal/transform.h"

enum { OUT = 2 };

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

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_transform_t *s = state;
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

EMBER_KERNEL(rfft, ember_transform_t);
