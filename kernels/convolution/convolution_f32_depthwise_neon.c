// SPDX-License-Identifier: Apache-2.0
// convolution_f32_depthwise_neon: one input channel per group, contiguous planes, with
// NEON: bands of rows (bands.h), eight outputs at a time. Tolerance: products are fused
// with the sums.
#include "kernels/convolution/bands.h"
#include "kernels/convolution/lines_neon.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4, TAPS = 3 }; // most kernels have three in a row

// Sums of eight neighbours.
typedef struct {
    float32x4_t low, high;
} sums_t;

// Stores the first `count` sums, at most all of them.
INLINE void store(sums_t sums, float *y, int32_t count) {
    float rest[EMBER_BAND_STEP];

    if (count >= EMBER_BAND_STEP) {
        vst1q_f32(y, sums.low);
        vst1q_f32(y + LANES, sums.high);
        return;
    }
    vst1q_f32(rest, sums.low);
    vst1q_f32(rest + LANES, sums.high);
    for (int32_t i = 0; i < count; i++) {
        y[i] = rest[i];
    }
}

// Four elements, `stride` apart. Pairs are read whole.
INLINE float32x4_t load(const float *x, ptrdiff_t stride) {
    return stride == 1   ? vld1q_f32(x)
           : stride == 2 ? vld2q_f32(x).val[0]
                         : (float32x4_t){x[0], x[stride], x[2 * stride], x[3 * stride]};
}

// One row of outputs; `from` is its first element in the band. The last three are
// constants for common values, so that loops unroll. Each of three taps in a row has
// its own sums, so that none waits for the product before it.
INLINE void sum_row(const ember_conv_bands_t *s, const float *from, const float *filter,
                    float bias, float *y, int32_t stride, int32_t taps,
                    int32_t dilation) {
    const ptrdiff_t line = (ptrdiff_t)s->height.dilation * s->pitch;

    for (int32_t left = s->width.out; left > 0; left -= EMBER_BAND_STEP) {
        sums_t sums[TAPS] = {{vdupq_n_f32(bias), vdupq_n_f32(bias)}};
        const float *row = from;
        const float *w = filter;
        for (int32_t ky = s->height.kernel; ky > 0; ky--) {
            const float *x = row;
            for (int32_t kx = 0; kx < taps; kx++) {
                const float *next = x + (ptrdiff_t)LANES * stride;
                sums_t *part = &sums[taps == TAPS ? kx : 0];
                part->low = vfmaq_n_f32(part->low, load(x, stride), *w);
                part->high = vfmaq_n_f32(part->high, load(next, stride), *w);
                x += dilation;
                w++;
            }
            row += line;
        }
        for (int part = 1; taps == TAPS && part < TAPS; part++) {
            sums[0].low = vaddq_f32(sums[0].low, sums[part].low);
            sums[0].high = vaddq_f32(sums[0].high, sums[part].high);
        }
        store(sums[0], y, left);
        from += (ptrdiff_t)EMBER_BAND_STEP * stride;
        y += EMBER_BAND_STEP;
    }
}

INLINE void run_row(const ember_conv_bands_t *s, const float *from, const float *filter,
                    float bias, float *y) {
    const int32_t stride = s->width.stride;
    const int32_t taps = s->width.kernel;
    const bool three = taps == TAPS && s->width.dilation == 1;

    if (three && stride == 1) {
        sum_row(s, from, filter, bias, y, 1, TAPS, 1);
    } else if (three && stride == 2) {
        sum_row(s, from, filter, bias, y, 2, TAPS, 1);
    } else if (stride == 1) {
        sum_row(s, from, filter, bias, y, 1, taps, s->width.dilation);
    } else {
        sum_row(s, from, filter, bias, y, stride, taps, s->width.dilation);
    }
}

INLINE void run_rows(const ember_conv_bands_t *s, ember_bands_work_t work) {
    ember_bands_each_row(s, work, run_row);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_bands_prepare(state, node, NULL);
}

static int32_t run(void *state) {
    const ember_bands_parts_t parts = {run_rows, ember_line_copy, ember_line_zeros};
    ember_conv_bands_run(state, &parts);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_depthwise_neon, ember_conv_bands_t);
