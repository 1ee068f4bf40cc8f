// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SMMLA, which multiplies two rows by two columns, eight products
// each. Rows lie in pairs: eight elements of the one, eight of the other.
#include "panel.h"

#include <arm_neon.h>

enum { UNIT = 8, STEP = UNIT * XNN_PANEL };

static uint32_t pairs_of(uint32_t rows) {
    return rows > 4 ? 4 : rows > 2 ? 2 : 1;
}

static void pack_pair(const int8_t *upper, const int8_t *lower, uint32_t k, int8_t *to,
                      size_t step) {
    for (; k >= 2 * UNIT; k -= 2 * UNIT, to += 2 * step) {
        const int64x2_t x = vreinterpretq_s64_s8(vld1q_s8(upper));
        const int64x2_t y = vreinterpretq_s64_s8(vld1q_s8(lower));
        vst1q_s8(to, vreinterpretq_s8_s64(vzip1q_s64(x, y)));
        vst1q_s8(to + step, vreinterpretq_s8_s64(vzip2q_s64(x, y)));
        upper += 2 * UNIT;
        lower += 2 * UNIT;
    }
    if (k >= UNIT) {
        vst1q_s8(to, vcombine_s8(vld1_s8(upper), vld1_s8(lower)));
        to += step;
        upper += UNIT;
        lower += UNIT;
        k -= UNIT;
    }
    if (k > 0) {
        int8_t rest[2 * UNIT] = {0};
        for (uint32_t i = 0; i < k; i++) {
            rest[i] = upper[i];
            rest[UNIT + i] = lower[i];
        }
        vst1q_s8(to, vld1q_s8(rest));
    }
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const uint32_t pairs = pairs_of(panel->rows);
    const size_t step = (size_t)pairs * 2 * UNIT;
    int8_t *to = (int8_t *)panel->a;
    for (uint32_t i = 0; i < pairs; i++, to += 2 * UNIT) {
        pack_pair(rows[2 * i], rows[2 * i + 1], k, to, step);
    }
}

// Sums of four pairs of rows at most and a block of columns: those of a pair and of two
// columns are a vector.
typedef struct tiles {
    int32x4_t of[4][4];
} tiles_t;

static inline __attribute__((always_inline)) void
multiply(const int8_t *a, const int8_t *w, uint32_t steps, const int32_t *start,
         const uint32_t pairs, tiles_t *tiles) {
    int32x4_t s[4][4];
    for (uint32_t j = 0; j < 4; j++) {
        const int32x2_t two = vld1_s32(start + 2 * j);
        for (uint32_t i = 0; i < pairs; i++) {
            s[i][j] = vcombine_s32(two, two);
        }
    }
#pragma GCC unroll 2
    for (; steps > 0; steps--, a += 2 * UNIT * pairs, w += STEP) {
        const int8x16_t w0 = vld1q_s8(w);
        const int8x16_t w1 = vld1q_s8(w + 16);
        const int8x16_t w2 = vld1q_s8(w + 32);
        const int8x16_t w3 = vld1q_s8(w + 48);
        for (uint32_t i = 0; i < pairs; i++) {
            const int8x16_t x = vld1q_s8(a + 2 * UNIT * i);
            s[i][0] = vmmlaq_s32(s[i][0], x, w0);
            s[i][1] = vmmlaq_s32(s[i][1], x, w1);
            s[i][2] = vmmlaq_s32(s[i][2], x, w2);
            s[i][3] = vmmlaq_s32(s[i][3], x, w3);
        }
    }
    for (uint32_t i = 0; i < pairs; i++) {
        for (uint32_t j = 0; j < 4; j++) {
            tiles->of[i][j] = s[i][j];
        }
    }
}

static inline __attribute__((always_inline)) void
store(const tiles_t *tiles, const uint32_t pairs, int32_t *sums) {
    for (uint32_t i = 0; i < pairs; i++, sums += 2 * XNN_PANEL) {
        for (uint32_t j = 0; j < 2; j++) {
            const int64x2_t x = vreinterpretq_s64_s32(tiles->of[i][2 * j]);
            const int64x2_t y = vreinterpretq_s64_s32(tiles->of[i][2 * j + 1]);
            vst1q_s32(sums + 4 * j, vreinterpretq_s32_s64(vzip1q_s64(x, y)));
            vst1q_s32(sums + XNN_PANEL + 4 * j,
                      vreinterpretq_s32_s64(vzip2q_s64(x, y)));
        }
    }
}

static void run(const ember_xnn_panel_t *panel, const uint8_t *block, const void *start,
                void *sums) {
    const int8_t *a = (const int8_t *)panel->a;
    const int8_t *w = (const int8_t *)block + 4 * XNN_PANEL;
    const uint32_t pairs = pairs_of(panel->rows);
    tiles_t tiles;
    if (pairs == 4) {
        multiply(a, w, panel->steps, start, 4, &tiles);
        store(&tiles, 4, sums);
    } else if (pairs == 2) {
        multiply(a, w, panel->steps, start, 2, &tiles);
        store(&tiles, 2, sums);
    } else {
        multiply(a, w, panel->steps, start, 1, &tiles);
        store(&tiles, 1, sums);
    }
}

// --- static int8, whole blocks
// --------------------------------------------------------

// A pair's sums become the numbers of its upper row, then those of its lower row.
static inline int8x16_t round_pair(const int32x4_t *s, const float32x4_t *scales,
                                   int16x8_t zero) {
    int16x4_t x[4];
    for (uint32_t j = 0; j < 4; j++) {
        x[j] = vqmovn_s32(vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(s[j]), scales[j])));
    }
    const int16x8_t left = vqaddq_s16(vcombine_s16(x[0], x[1]), zero);
    const int16x8_t right = vqaddq_s16(vcombine_s16(x[2], x[3]), zero);
    const int16x8_t mixed =
        vreinterpretq_s16_s8(vqmovn_high_s16(vqmovn_s16(left), right));
    return vreinterpretq_s8_s16(vcombine_s16(vget_low_s16(vuzp1q_s16(mixed, mixed)),
                                             vget_low_s16(vuzp2q_s16(mixed, mixed))));
}

static inline __attribute__((always_inline)) void
finish(const ember_xnn_panel_t *panel, const tiles_t *tiles, const float *from,
       const uint32_t pairs, int8_t *y) {
    const ember_xnn_range_t *range = &panel->range;
    const int16x8_t zero = vdupq_n_s16((int16_t)range->zero);
    const int8x16_t low = vdupq_n_s8((int8_t)((int32_t)range->low + range->zero));
    const int8x16_t high = vdupq_n_s8((int8_t)((int32_t)range->high + range->zero));
    float32x4_t scales[4];
    for (uint32_t j = 0; j < 4; j++) {
        const float32x2_t two = vld1_f32(from + 2 * j);
        scales[j] = vcombine_f32(two, two);
    }
    uint32_t rows = panel->rows;
    for (uint32_t i = 0; i < pairs; i++, y += 2 * panel->y_step) {
        int8x16_t out = round_pair(tiles->of[i], scales, zero);
        out = vminq_s8(vmaxq_s8(out, low), high);
        vst1_s8(y, vget_low_s8(out));
        if (2 * i + 1 < rows) {
            vst1_s8(y + panel->y_step, vget_high_s8(out));
        }
    }
}

// Rows are 8, 4, 3, 2 or 1 here, or 5 to 7 in four pairs.
static void whole_qs8(const ember_xnn_panel_t *panel, const uint8_t *block,
                      const void *start, const float *scales, uint32_t column) {
    const int8_t *a = (const int8_t *)panel->a;
    const int8_t *w = (const int8_t *)block + 4 * XNN_PANEL;
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y + column;
    tiles_t tiles;
    if (panel->rows == 8) {
        multiply(a, w, panel->steps, start, 4, &tiles);
        finish(panel, &tiles, scales, 4, y);
    } else if (panel->rows == 3 || panel->rows == 4) {
        multiply(a, w, panel->steps, start, 2, &tiles);
        finish(panel, &tiles, scales, 2, y);
    } else if (panel->rows <= 2) {
        multiply(a, w, panel->steps, start, 1, &tiles);
        finish(panel, &tiles, scales, 1, y);
    } else {
        uint32_t sums[XNN_PANEL * XNN_PANEL];
        multiply(a, w, panel->steps, start, 4, &tiles);
        store(&tiles, 4, (int32_t *)sums);
        ember_xnn_panel_put_qs8(panel, sums, scales, column);
    }
}

const ember_xnn_form_t ember_xnn_form_qs8_i8mm = {
    .layout = &ember_xnn_columns_s8,
    .type = &ember_xnn_panel_qs8,
    .unit = UNIT,
    .size = 1,
    .wide = 1,
    .begin = ember_xnn_panel_begin_qs8,
    .pack = pack,
    .run = run,
    .put = ember_xnn_panel_put_qs8,
    .whole = whole_qs8,
};
