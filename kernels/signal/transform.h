// SPDX-License-Identifier: Apache-2.0
// What rfft, irfft and cfft share: rows of numbers, each transformed by itself, from
// one contiguous float32 tensor to another.
#ifndef EMBER_KERNELS_SIGNAL_TRANSFORM_H
#define EMBER_KERNELS_SIGNAL_TRANSFORM_H

#include "kernels/signal/fft.h"

typedef struct ember_transform {
    const float *x;
    float *y;
    const ember_complex_t *roots;
    ember_complex_t *scratch;
    uint32_t rows;
    uint32_t x_row; // floats of a row
    uint32_t y_row;
    uint32_t n;   // numbers of a transform, of reals or complex ones
    uint32_t fft; // complex numbers of the transform that computes it
    bool back;
} ember_transform_t;

// A row of x to one of y.
typedef void (*ember_transform_fn)(const ember_transform_t *transform, const float *x,
                                   float *y);

// Reads argument 0 into `x`: contiguous float32, with a last dimension of 2 if it
// consists of `pair`s. False if the node has failed.
bool ember_transform_input(ember_node_t *node, ember_tensor_t *x, bool pair);

// The arguments of a kernel besides x: the roots are argument 1.
typedef struct ember_transform_form {
    uint32_t x_dims;  // dimensions of x that are a row
    uint32_t out;     // argument: x's other dimensions, then (bins) or (bins, 2)
    uint32_t bins;    // numbers of a row of `out`
    bool pair;        // they are complex
    uint32_t roots;   // complex numbers behind those of ember_fft()
    uint32_t scratch; // complex numbers
} ember_transform_form_t;

// Real rows of n numbers: an even row is computed as one of n / 2 complex numbers, an
// odd one takes scratch for two rows. Sets n and fft, and roots and scratch of the
// form.
static inline void ember_transform_real(ember_transform_t *transform, uint32_t n,
                                        ember_transform_form_t *form) {
    const bool halved = n % 2 == 0;
    transform->n = n;
    transform->fft = halved ? n / 2 : n;
    form->roots = halved ? n / 4 : 0;
    form->scratch = halved ? n / 2 : 2 * n;
}

// Checks roots and output, and fills `transform`, whose n and fft are set.
EMBER_MUST_USE ember_status_t
ember_transform_prepare(ember_transform_t *transform, ember_node_t *node,
                        const ember_tensor_t *x, const ember_transform_form_t *form);

void ember_transform_run(const ember_transform_t *transform, ember_transform_fn row);

// A row as complex numbers.
static inline const ember_complex_t *ember_complex_in(const float *row) {
    return (const ember_complex_t *)(const void *)row;
}

static inline ember_complex_t *ember_complex_out(float *row) {
    return (ember_complex_t *)(void *)row;
}

#endif // EMBER_KERNELS_SIGNAL_TRANSFORM_H
