// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_int16_mve: one filter per channel, with Helium, eight
// channels at a time, the last eight maybe a second time.
#include "kernels/cortex_m/depthwise_s16.h"
#include "kernels/cortex_m/scale_s16_mve.h"

enum { LANES = EMBER_LANES_S16, THREE = 3, MOST = 1 << 20 }; // channels

// Sums of even channels, and of odd ones.
typedef struct {
    int32x4_t even, odd;
} sums_t;

INLINE sums_t add_tap(sums_t sums, const int16_t *x, const int8_t *w) {
    const int16x8_t a = vldrhq_s16(x), b = vldrbq_s16(w);

    sums.even = vaddq_s32(sums.even, vmullbq_int_s16(a, b));
    sums.odd = vaddq_s32(sums.odd, vmulltq_int_s16(a, b));
    return sums;
}

// The sums of eight channels, from `from` on.
INLINE sums_t sums_of(const ember_pixel_s16_t *pixel, const int32_t *bias,
                      int32_t from) {
    const int16_t *x_row = pixel->x + from;
    const int8_t *w_row = pixel->w + from;
    const int32_t x_step = pixel->x_step, w_step = pixel->w_step;
    sums_t sums = {vdupq_n_s32(0), vdupq_n_s32(0)};

    if (bias != NULL) {
        const int32x4x2_t both = vld2q_s32(bias + from);
        sums = (sums_t){both.val[0], both.val[1]};
    }
    for (int32_t rows = pixel->rows; rows > 0; rows--) {
        const int16_t *x = x_row;
        const int8_t *w = w_row;
        int32_t left = pixel->columns;
        if (left == THREE) {
            sums = add_tap(sums, x, w);
            sums = add_tap(sums, x + x_step, w + w_step);
            sums = add_tap(sums, x + 2 * x_step, w + 2 * w_step);
            left = 0;
        }
        for (; left > 0; left--) {
            sums = add_tap(sums, x, w);
            x += x_step;
            w += w_step;
        }
        x_row += pixel->x_row;
        w_row += pixel->w_row;
    }
    return sums;
}

static void one(const void *state, const ember_pixel_s16_t *pixel) {
    const ember_conv_s16_t *s = state;
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32_t last = s->conv.channels - LANES;
    const int16x8_t least = vdupq_n_s16(s->limits.low);
    const int16x8_t most = vdupq_n_s16(s->limits.high);

    for (int32_t from = 0; from < last + LANES; from += LANES) {
        from = from < last ? from : last;
        const sums_t sums = sums_of(pixel, scales->bias, from);
        const int32x4x2_t by = vld2q_s32(scales->multipliers + from);
        const int32x4x2_t shifts = vld2q_s32(scales->shifts + from);
        const int32x4_t even = ember_scaled_mve(sums.even, by.val[0], shifts.val[0]);
        const int32x4_t odd = ember_scaled_mve(sums.odd, by.val[1], shifts.val[1]);
        const int16x8_t all = vmaxq_s16(ember_narrowed_mve(even, odd), least);
        vstrhq_s16(pixel->y + from, vminq_s16(all, most));
    }
}

static int32_t run(void *state) {
    ember_depthwise_s16_walk(state, one, state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_s16_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_conv_s16_depthwise_args(s, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv->filters != conv->channels || conv->channels < LANES ||
        conv->channels > MOST || conv->rows < EMBER_ROWS_RIGHT) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for Helium");
    }
    return EMBER_OK;
}

EMBER_KERNEL(quantized_depthwise_conv2d_int16_mve, ember_conv_s16_t);
