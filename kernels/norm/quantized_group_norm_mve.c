// SPDX-License-Identifier: Apache-2.0
// quantized_group_norm with Helium. Contract: group_norm_s8.h.
#include "kernels/engine/mve/limited_mve.h"
#include "kernels/norm/group_norm_s8.h"

enum { FOUR = 4, EIGHT = 8, MOST = 255 }; // MOST: pixels whose sums are int16

static void plane(int8_t *y, const int8_t *x, uint32_t count, ember_channel_s8_t by,
                  uint32_t shift) {
    const int32x4_t slope = vdupq_n_s32(by.slope);

    for (int32_t left = (int32_t)count; left > 0; left -= FOUR) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t line = vmlasq_n_s32(vldrbq_z_s32(x, lanes), slope, by.start);
        ember_store_limited_mve(y, vshlq_r_s32(line, -(int32_t)shift), lanes);
        x += FOUR;
        y += FOUR;
    }
}

// The sums of eight channels or fewer.
static void some_channels(ember_channel_s8_t *to, const int8_t *x, uint32_t step,
                          uint32_t pixels, uint32_t count) {
    const mve_pred16_t lanes = vctp16q(count);
    int32x4_t even = vdupq_n_s32(0), odd = even, even_squares = even,
              odd_squares = even;
    int32_t sums[EIGHT], squares[EIGHT]; // of even channels, then of odd ones

    for (uint32_t left = pixels; left > 0;) {
        const uint32_t part = left < MOST ? left : MOST;
        int16x8_t some = vdupq_n_s16(0);
        for (uint32_t p = part; p > 0; p--) {
            const int16x8_t q = vldrbq_z_s16(x, lanes);
            some = vaddq_s16(some, q);
            even_squares = vaddq_s32(even_squares, vmullbq_int_s16(q, q));
            odd_squares = vaddq_s32(odd_squares, vmulltq_int_s16(q, q));
            x += step;
        }
        even = vaddq_s32(even, vmovlbq_s16(some));
        odd = vaddq_s32(odd, vmovltq_s16(some));
        left -= part;
    }
    vstrwq_s32(sums, even);
    vstrwq_s32(sums + FOUR, odd);
    vstrwq_s32(squares, even_squares);
    vstrwq_s32(squares + FOUR, odd_squares);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = i / 2 + FOUR * (i % 2);
        to[i] = (ember_channel_s8_t){.sum = sums[at], .squares = (uint32_t)squares[at]};
    }
}

static void channels(const ember_group_norm_s8_t *s, const int8_t *x) {
    for (uint32_t c = 0; c < s->channels; c += EIGHT) {
        const uint32_t left = s->channels - c;
        some_channels(s->working + c, x + c, s->channels, s->pixels,
                      left < EIGHT ? left : EIGHT);
    }
}

// Four channels or fewer.
static void some_pixels(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x,
                        const ember_channel_s8_t *by, uint32_t count) {
    const mve_pred16_t lanes = vctp32q(count);
    const uint32_t channels = s->channels, pixels = s->pixels; // y may be anything
    const int32_t left = -(int32_t)s->shift;
    int32_t slopes[FOUR] = {0}, starts[FOUR] = {0};

    for (uint32_t i = 0; i < count && i < FOUR; i++) {
        slopes[i] = by[i].slope;
        starts[i] = by[i].start;
    }
    const int32x4_t slope = vldrwq_s32(slopes), start = vldrwq_s32(starts);
    for (uint32_t p = pixels; p > 0; p--) {
        const int32x4_t product = vmulq_s32(vldrbq_z_s32(x, lanes), slope);
        const int32x4_t line = vaddq_s32(product, start);
        ember_store_limited_mve(y, vshlq_r_s32(line, left), lanes);
        x += channels;
        y += channels;
    }
}

static void pixels(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x) {
    for (uint32_t c = 0; c < s->channels; c += FOUR) {
        some_pixels(s, y + c, x + c, s->working + c, s->channels - c);
    }
}

static const ember_group_norm_core_t core = {ember_norm_sums_s8_mve, plane, channels,
                                             pixels};
EMBER_GROUP_NORM_S8_KERNEL(quantized_group_norm_mve, core);
