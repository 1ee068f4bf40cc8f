// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SMMLA, which multiplies two rows by two columns, eight products
// each. Rows lie in pairs: eight elements of the one, eight of the other.
#include "panel.h"

#include <arm_neon.h>

enum { UNIT = 8, STEP = UNIT * XNN_PANEL };

static uint32_t pairs_of(uint32_t rows) {
    return rows > 4 ? 4 : rows > 2 ? 2 : 1;
}

static void store_pair(const int8_t *upper, const int8_t *lower, bool both, int8_t *to,
                       size_t step) {
    const int64x2_t x = vreinterpretq_s64_s8(vld1q_s8(upper));
    const int64x2_t y = vreinterpretq_s64_s8(vld1q_s8(lower));
    vst1q_s8(to, vreinterpretq_s8_s64(vzip1q_s64(x, y)));
    if (both) {
        vst1q_s8(to + step, vreinterpretq_s8_s64(vzip2q_s64(x, y)));
    }
}

static void pack_pair(const int8_t *upper, const int8_t *lower, uint32_t k, int8_t *to,
                      size_t step) {
    for (; k >= 2 * UNIT; k -= 2 * UNIT, to += 2 * step) {
        store_pair(upper, lower, true, to, step);
        upper += 2 * UNIT;
        lower += 2 * UNIT;
    }
    if (k > 0) {
        int8_t rest[2][2 * UNIT] = {{0}};
        memcpy(rest[0], upper, k);
        memcpy(rest[1], lower, k);
        store_pair(rest[0], rest[1], k > UNIT, to, step);
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

// Sums of `pairs` of rows and a block of columns, begun with `start`.
static inline __attribute__((always_inline)) void
multiply(const int8_t *a, const int8_t *w, uint32_t steps, const int32_t *start,
         const uint32_t pairs, int32_t *sums) {
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
    for (uint32_t i = 0; i < pairs; i++, sums += 2 * XNN_PANEL) {
        for (uint32_t j = 0; j < 2; j++) {
            const int64x2_t x = vreinterpretq_s64_s32(s[i][2 * j]);
            const int64x2_t y = vreinterpretq_s64_s32(s[i][2 * j + 1]);
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
    if (pairs == 4) {
        multiply(a, w, panel->steps, start, 4, sums);
    } else if (pairs == 2) {
        multiply(a, w, panel->steps, start, 2, sums);
    } else {
        multiply(a, w, panel->steps, start, 1, sums);
    }
}

const ember_xnn_form_t ember_xnn_form_qs8_i8mm = {
    .layout = &ember_xnn_columns_s8,
    .check = ember_xnn_panel_check_qs8,
    .unit = UNIT,
    .size = 1,
    .wide = 1,
    .begin = ember_xnn_panel_begin_qs8,
    .pack = pack,
    .run = run,
    .put = ember_xnn_panel_put_qs8,
};
