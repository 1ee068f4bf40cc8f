// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SDOT, which adds four products to each of four sums. A step is four
// elements of each row behind each other: of eight rows, of four, or of one.
#include "panel.h"

#include <arm_neon.h>

enum { UNIT = 4, STEP = UNIT * XNN_PANEL };

static uint32_t lines_of(uint32_t rows) {
    return rows > 4 ? 8 : rows > 1 ? 4 : 1;
}

// Four elements of each of four rows at a time, or what is left of them.
static void store_four(const int8_t *const from[4], int8_t *to, size_t step,
                       uint32_t steps) {
    const int32x4_t r0 = vreinterpretq_s32_s8(vld1q_s8(from[0]));
    const int32x4_t r1 = vreinterpretq_s32_s8(vld1q_s8(from[1]));
    const int32x4_t r2 = vreinterpretq_s32_s8(vld1q_s8(from[2]));
    const int32x4_t r3 = vreinterpretq_s32_s8(vld1q_s8(from[3]));
    const int32x4_t even0 = vtrn1q_s32(r0, r1);
    const int32x4_t even1 = vtrn1q_s32(r2, r3);
    const int32x4_t odd0 = vtrn2q_s32(r0, r1);
    const int32x4_t odd1 = vtrn2q_s32(r2, r3);
    const int64x2_t turned[] = {
        vzip1q_s64(vreinterpretq_s64_s32(even0), vreinterpretq_s64_s32(even1)),
        vzip1q_s64(vreinterpretq_s64_s32(odd0), vreinterpretq_s64_s32(odd1)),
        vzip2q_s64(vreinterpretq_s64_s32(even0), vreinterpretq_s64_s32(even1)),
        vzip2q_s64(vreinterpretq_s64_s32(odd0), vreinterpretq_s64_s32(odd1)),
    };
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++, to += step) {
        if (i < steps) {
            vst1q_s8(to, vreinterpretq_s8_s64(turned[i]));
        }
    }
}

static void pack_four(const void *const *rows, uint32_t k, int8_t *to, size_t step) {
    const int8_t *from[4] = {rows[0], rows[1], rows[2], rows[3]};
    for (; k >= 4 * UNIT; k -= 4 * UNIT, to += 4 * step) {
        store_four(from, to, step, 4);
        for (uint32_t i = 0; i < 4; i++) {
            from[i] += 4 * UNIT;
        }
    }
    if (k > 0) {
        int8_t rest[4][4 * UNIT] = {{0}};
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(rest[i], from[i], k);
            from[i] = rest[i];
        }
        store_four(from, to, step, (k + UNIT - 1) / UNIT);
    }
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const uint32_t lines = lines_of(panel->rows);
    int8_t *to = (int8_t *)panel->a;
    if (lines == 1) {
        memset(to + (k & ~3u), 0, (size_t)panel->steps * UNIT - (k & ~3u));
        memcpy(to, rows[0], k);
        return;
    }
    for (uint32_t i = 0; i < lines; i += 4, to += 4 * UNIT) {
        pack_four(rows + i, k, to, (size_t)lines * UNIT);
    }
}

// Sums of `fours` times four rows and a block of columns, begun with `start`.
static inline __attribute__((always_inline)) void
multiply(const int8_t *a, const int8_t *w, uint32_t steps, const int32_t *start,
         const uint32_t fours, int32_t *sums) {
    int32x4_t s[8][2];
    for (uint32_t i = 0; i < 4 * fours; i++) {
        s[i][0] = vld1q_s32(start);
        s[i][1] = vld1q_s32(start + 4);
    }
#pragma GCC unroll 2
    for (; steps > 0; steps--, a += 4 * UNIT * fours, w += STEP) {
        const int8x16_t w0 = vld1q_s8(w);
        const int8x16_t w1 = vld1q_s8(w + 16);
        for (uint32_t i = 0; i < fours; i++) {
            const int8x16_t x = vld1q_s8(a + 4 * UNIT * i);
            s[4 * i][0] = vdotq_laneq_s32(s[4 * i][0], w0, x, 0);
            s[4 * i][1] = vdotq_laneq_s32(s[4 * i][1], w1, x, 0);
            s[4 * i + 1][0] = vdotq_laneq_s32(s[4 * i + 1][0], w0, x, 1);
            s[4 * i + 1][1] = vdotq_laneq_s32(s[4 * i + 1][1], w1, x, 1);
            s[4 * i + 2][0] = vdotq_laneq_s32(s[4 * i + 2][0], w0, x, 2);
            s[4 * i + 2][1] = vdotq_laneq_s32(s[4 * i + 2][1], w1, x, 2);
            s[4 * i + 3][0] = vdotq_laneq_s32(s[4 * i + 3][0], w0, x, 3);
            s[4 * i + 3][1] = vdotq_laneq_s32(s[4 * i + 3][1], w1, x, 3);
        }
    }
    for (uint32_t i = 0; i < 4 * fours; i++, sums += XNN_PANEL) {
        vst1q_s32(sums, s[i][0]);
        vst1q_s32(sums + 4, s[i][1]);
    }
}

// The same of one row, whose elements lie as they were.
static void multiply_one(const int8_t *a, const int8_t *w, uint32_t steps,
                         const int32_t *start, int32_t *sums) {
    int32x4_t s0 = vld1q_s32(start);
    int32x4_t s1 = vld1q_s32(start + 4);
#pragma GCC unroll 4
    for (; steps > 0; steps--, a += UNIT, w += STEP) {
        const int32x4_t four = vld1q_dup_s32((const int32_t *)(const void *)a);
        const int8x16_t x = vreinterpretq_s8_s32(four);
        s0 = vdotq_s32(s0, vld1q_s8(w), x);
        s1 = vdotq_s32(s1, vld1q_s8(w + 16), x);
    }
    vst1q_s32(sums, s0);
    vst1q_s32(sums + 4, s1);
}

static void run(const ember_xnn_panel_t *panel, const uint8_t *block, const void *start,
                void *sums) {
    const int8_t *a = (const int8_t *)panel->a;
    const int8_t *w = (const int8_t *)block + 4 * XNN_PANEL;
    const uint32_t lines = lines_of(panel->rows);
    if (lines == 8) {
        multiply(a, w, panel->steps, start, 2, sums);
    } else if (lines == 4) {
        multiply(a, w, panel->steps, start, 1, sums);
    } else {
        multiply_one(a, w, panel->steps, start, sums);
    }
}

const ember_xnn_form_t ember_xnn_form_qs8_dot = {
    .layout = &ember_xnn_columns_s8,
    .type = &ember_xnn_panel_qs8,
    .unit = UNIT,
    .size = 1,
    .wide = 1,
    .begin = ember_xnn_panel_begin_qs8,
    .pack = pack,
    .run = run,
    .put = ember_xnn_panel_put_qs8,
};
