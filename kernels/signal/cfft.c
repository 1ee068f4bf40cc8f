// SPDX-License-Identifier: Apache-2.0
// cfft: the discrete Fourier transforms of complex rows, or the inverse without the
// factor 1 / n, float32.
//
//     out[.., k] = sum over j < n of z[.., j] * exp(-2 pi i j k / n)     back: +2 pi i
//
//     z, out  (.., n, 2)
//     roots   (count, 2)  those of ember_fft() for n
#include "kernels/signal/transform.h"

enum { BACK = 2, OUT = 3 };

static void forward(const ember_transform_t *s, const float *z, float *y) {
    ember_fft(ember_complex_in(z), ember_complex_out(y), s->scratch, s->n, s->roots);
}

// The conjugate of the transform of the conjugate.
static void back(const ember_transform_t *s, const float *x, float *out) {
    const ember_complex_t *z = ember_complex_in(x);
    ember_complex_t *y = ember_complex_out(out);
    ember_complex_t *row = ember_fft_place(y, s->scratch, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        row[i] = ember_complex_conj(z[i]);
    }
    ember_fft(row, y, s->scratch, s->n, s->roots);
    for (uint32_t i = 0; i < s->n; i++) {
        y[i].im = -y[i].im;
    }
}

static int32_t run(void *state) {
    const ember_transform_t *s = state;
    ember_transform_run(s, s->back ? back : forward);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_transform_t *s = state;
    ember_tensor_t z;
    if (!ember_transform_input(node, &z, true)) {
        return ember_node_status(node);
    }
    s->n = (uint32_t)z.sizes[z.rank - 2];
    s->fft = s->n;
    s->back = ember_node_bool(node, BACK);
    const ember_transform_form_t form = {
        .x_dims = 2, .out = OUT, .bins = s->n, .pair = true, .scratch = s->n};
    return ember_transform_prepare(s, node, &z, &form);
}

EMBER_KERNEL(cfft, ember_transform_t);
