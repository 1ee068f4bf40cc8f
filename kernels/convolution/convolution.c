// SPDX-License-Identifier: Apache-2.0
// convolution: every dtype, layout, and number of dimensions; transposed or not.
#include "kernels/convolution/conv.h"

#include <string.h>

#include "kernels/engine/element.h"

enum { CHUNK = 16 };

// Adds the products along the input channels of one tap.
static void add_tap(const ember_conv_t *conv, ember_number_t *sum, const char *x,
                    const char *w) {
    const ember_class_t class = ember_class_of(conv->dtype);
    int64_t a[CHUNK], b[CHUNK];

    for (int32_t c = 0; c < conv->channels; c += CHUNK) {
        const int32_t left = conv->channels - c;
        const uint32_t count = (uint32_t)(left < CHUNK ? left : CHUNK);
        ember_elements_load(class, a, conv->dtype, x + (ptrdiff_t)c * conv->x.inner,
                            conv->x.inner, count);
        ember_elements_load(class, b, conv->dtype, w + (ptrdiff_t)c * conv->w.inner,
                            conv->w.inner, count);
        for (uint32_t i = 0; i < count; i++) {
            if (class == EMBER_CLASS_F32) {
                sum->f32 +=
                    ((const float *)(void *)a)[i] * ((const float *)(void *)b)[i];
            } else if (class == EMBER_CLASS_F64) {
                sum->f64 +=
                    ((const double *)(void *)a)[i] * ((const double *)(void *)b)[i];
            } else {
                const uint64_t product = (uint64_t)a[i] * (uint64_t)b[i];
                sum->s64 = (int64_t)((uint64_t)sum->s64 + product);
            }
        }
    }
}

// Sums over a row of taps: fixed depth and height of input and kernel.
static void add_row(const ember_conv_t *conv, ember_number_t *sum, const char *x,
                    const char *w, int32_t out) {
    for (int32_t k = 0; k < conv->kernel[2]; k++) {
        const int32_t at = ember_conv_source(conv, 2, out, k);
        if (at >= 0) {
            add_tap(conv, sum, x + (ptrdiff_t)at * conv->x.space[2],
                    w + (ptrdiff_t)k * conv->w.space[2]);
        }
    }
}

// One output; x and w at their first channel of the group, w at the filter.
static ember_number_t sum_of(const ember_conv_t *conv, const char *x, const char *w,
                             const int32_t out[EMBER_CONV_DIMS]) {
    ember_number_t sum;

    memset(&sum, 0, sizeof(sum));
    for (int32_t kd = 0; kd < conv->kernel[0]; kd++) {
        const int32_t d = ember_conv_source(conv, 0, out[0], kd);
        for (int32_t kh = 0; d >= 0 && kh < conv->kernel[1]; kh++) {
            const int32_t h = ember_conv_source(conv, 1, out[1], kh);
            if (h >= 0) {
                add_row(conv, &sum,
                        x + (ptrdiff_t)d * conv->x.space[0] +
                            (ptrdiff_t)h * conv->x.space[1],
                        w + (ptrdiff_t)kd * conv->w.space[0] +
                            (ptrdiff_t)kh * conv->w.space[1],
                        out[2]);
            }
        }
    }
    return sum;
}

static void store(const ember_conv_t *conv, ember_number_t *sum, int32_t channel,
                  char *y) {
    const ember_class_t class = ember_class_of(conv->dtype);
    ember_number_t bias;

    if (conv->bias != NULL) {
        const ptrdiff_t size = (ptrdiff_t)ember_dtype_size(conv->bias_dtype);
        ember_elements_load(class, &bias, conv->bias_dtype, conv->bias + channel * size,
                            0, 1);
        if (class == EMBER_CLASS_F32) {
            sum->f32 += bias.f32;
        } else if (class == EMBER_CLASS_F64) {
            sum->f64 += bias.f64;
        } else {
            sum->s64 = (int64_t)((uint64_t)sum->s64 + (uint64_t)bias.s64);
        }
    }
    ember_elements_store(class, sum, conv->dtype, y, 0, 1);
}

// All positions of one channel of the output.
static void run_channel(const ember_conv_t *conv, const char *x, const char *w, char *y,
                        int32_t channel) {
    int32_t out[EMBER_CONV_DIMS];

    for (out[0] = 0; out[0] < conv->out[0]; out[0]++) {
        for (out[1] = 0; out[1] < conv->out[1]; out[1]++) {
            for (out[2] = 0; out[2] < conv->out[2]; out[2]++) {
                ember_number_t sum = sum_of(conv, x, w, out);
                store(conv, &sum, channel,
                      y + (ptrdiff_t)out[0] * conv->y.space[0] +
                          (ptrdiff_t)out[1] * conv->y.space[1] +
                          (ptrdiff_t)out[2] * conv->y.space[2]);
            }
        }
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_conv_t *conv = state;
    const ember_status_t status = ember_conv_args(state, node);

    if (status == EMBER_OK && conv->dtype == EMBER_B1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "convolution: bool is not supported");
    }
    return status;
}

static int32_t run(void *state) {
    const ember_conv_t *conv = state;

    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t c = 0; c < conv->groups * conv->filters; c++) {
            const int32_t group = c / conv->filters;
            const int32_t filter = c % conv->filters;
            run_channel(conv,
                        conv->x.data + (ptrdiff_t)n * conv->x.outer +
                            (ptrdiff_t)group * conv->channels * conv->x.inner,
                        conv->w.data + (ptrdiff_t)group * conv->w_group +
                            (ptrdiff_t)filter * conv->w.outer,
                        conv->y.data + (ptrdiff_t)n * conv->y.outer +
                            (ptrdiff_t)c * conv->y.inner,
                        c);
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(convolution, ember_conv_t);
