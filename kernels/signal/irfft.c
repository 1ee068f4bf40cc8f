// SPDX-License-Identifier: Apache-2.0
// irfft: real rows from the halves of their transforms, float32, without the factor 1 /
// n, like torch.fft.irfft(.., norm="forward").
//
//     out[.., j] = sum over k < n of z[.., k] * exp(2 pi i j k / n)
//
//     z      (.., n / 2 + 1, 2)  the others are z[n - k] = conj(z[k]); what has itself
//                                for its conjugate counts as real
//     roots  (count, 2)          as rfft has them
//     out    (.., n)
#include "kernels/signal/transform.h"

enum { N = 2, OUT = 3 };

// Two neighbours of a row are a complex number: the conjugates of the numbers whose
// transform gives these, for h = n / 2.
static void join(const ember_complex_t *z, ember_complex_t *y, uint32_t h,
                 const ember_complex_t *roots) {
    y[0] = (ember_complex_t){z[0].re + z[h].re, z[h].re - z[0].re};
    for (uint32_t k = 1; k <= h / 2; k++, roots++) {
        const ember_complex_t a = ember_complex_conj(z[k]);
        const ember_complex_t b = z[h - k];
        const ember_complex_t sum = ember_complex_add(a, b);
        const ember_complex_t turned =
            ember_complex_mul(ember_complex_sub(a, b), *roots);
        y[k] = (ember_complex_t){sum.re + turned.im, sum.im - turned.re};
        y[h - k] = (ember_complex_t){sum.re - turned.im, -sum.im - turned.re};
    }
}

static void even(const ember_transform_t *s, const float *z, float *y) {
    ember_complex_t *pairs = ember_complex_out(y);
    ember_complex_t *row = ember_fft_place(pairs, s->scratch, s->fft);
    const ember_complex_t *split = s->roots + ember_fft_size(s->fft).roots;
    join(ember_complex_in(z), row, s->fft, split);
    ember_fft(row, pairs, s->scratch, s->fft, s->roots);
    for (uint32_t i = 1; i < s->n; i += 2) {
        y[i] = -y[i];
    }
}

static void odd(const ember_transform_t *s, const float *x, float *y) {
    const ember_complex_t *z = ember_complex_in(x);
    ember_complex_t *result = s->scratch;
    ember_complex_t *spare = result + s->n;
    ember_complex_t *row = ember_fft_place(result, spare, s->n);
    row[0] = (ember_complex_t){z[0].re, 0.0f};
    for (uint32_t k = 1; k <= s->n / 2; k++) {
        row[k] = ember_complex_conj(z[k]);
        row[s->n - k] = z[k];
    }
    ember_fft(row, result, spare, s->n, s->roots);
    for (uint32_t i = 0; i < s->n; i++) {
        y[i] = result[i].re;
    }
}

static int32_t run(void *state) {
    const ember_transform_t *s = state;
    ember_transform_run(s, s->n % 2 == 0 ? even : odd);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_transform_t *s = state;
    ember_tensor_t z;
    if (!ember_transform_input(node, &z, true)) {
        return ember_node_status(node);
    }
    const int64_t bins = z.sizes[z.rank - 2];
    const int64_t least = bins > 1 ? 2 * bins - 2 : 1;
    const uint32_t n = (uint32_t)ember_node_int_in(node, N, least, 2 * bins - 1);
    ember_transform_form_t form = {.x_dims = 2, .out = OUT, .bins = n};
    ember_transform_real(s, n, &form);
    return ember_transform_prepare(s, node, &z, &form);
}

EMBER_KERNEL(irfft, ember_transform_t);
