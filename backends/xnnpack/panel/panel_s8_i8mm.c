// SPDX-License-Identifier: Apache-2.0
// Panels of dynamically quantised int8, by SMMLA.
#include "panel_i8mm.h"

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

void ember_xnn_panel_pack_i8mm(const ember_xnn_panel_t *panel, const void *const *rows,
                               uint32_t k) {
    const uint32_t pairs = xnn_panel_pairs(panel->rows);
    const size_t step = (size_t)pairs * 2 * UNIT;
    int8_t *to = (int8_t *)panel->a;
    for (uint32_t i = 0; i < pairs; i++, to += 2 * UNIT) {
        pack_pair(rows[2 * i], rows[2 * i + 1], k, to, step);
    }
}

// --- whole columns -------------------------------------------------------------------

static const int32_t zeros[XNN_PANEL];

static void block_qc8(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    tiles_t tiles;
    multiply_some(load_s8, panel, w + HEAD, zeros, &tiles);
    store(&tiles, xnn_panel_pairs(panel->rows), sums);
    ember_xnn_panel_put_qc8(panel, sums, (const void *)w, start, scales, column);
}

static void block_qc4(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    tiles_t tiles;
    multiply_some(load_s4, panel, w + HEAD, zeros, &tiles);
    store(&tiles, xnn_panel_pairs(panel->rows), sums);
    ember_xnn_panel_put_qc4(panel, sums, (const void *)w, start, scales, column);
}

// --- groups of elements --------------------------------------------------------------

// The sums over groups, in the order of tiles.
typedef struct numbers {
    float32x4_t of[4][4];
} numbers_t;

// Adds the sums of a group, times its scales, to those of the groups before.
XNN_INLINE void add_group(const int8_t *a, const uint8_t *w, uint32_t steps,
                          const uint32_t pairs, numbers_t *numbers) {
    const int32_t *own = (const int32_t *)(const void *)w;
    const float *scales = (const float *)(const void *)(w + HEAD);
    tiles_t tiles;
    for (uint32_t j = 0; j < 4; j++) {
        const int32x2_t two = vld1_s32(own + 2 * j);
        const int32x4_t start = vshlq_n_s32(vcombine_s32(two, two), 7); // times 128
        for (uint32_t i = 0; i < pairs; i++) {
            tiles.of[i][j] = start;
        }
    }
    add_products(load_s4, a, w + 2 * HEAD, steps, pairs, &tiles);
    for (uint32_t j = 0; j < 4; j++) {
        const float32x2_t two = vld1_f32(scales + 2 * j);
        for (uint32_t i = 0; i < pairs; i++) {
            const float32x4_t x = vcvtq_n_f32_s32(tiles.of[i][j], 4);
            numbers->of[i][j] = vfmaq_f32(numbers->of[i][j], x, vcombine_f32(two, two));
        }
    }
}

XNN_INLINE void add_groups(const ember_xnn_panel_t *panel, const uint8_t *w,
                           const uint32_t pairs, int32_t *sums) {
    const int8_t *a = (const int8_t *)panel->a;
    const uint32_t block = panel->block;
    const size_t bytes = 2 * HEAD + (size_t)block * UNIT * XNN_PANEL / 2;
    const float *starts = (const float *)(const void *)w;
    numbers_t numbers;
    for (uint32_t i = 0; i < pairs; i++) {
        const uint32_t last = panel->rows - 1;
        const uint32_t lower = 2 * i + 1 < last ? 2 * i + 1 : last;
        const uint32_t upper = 2 * i < last ? 2 * i : last;
        const float32x4_t zero = vcombine_f32(
            vdup_n_f32(xnn_group_zero(xnn_panel_row(panel, upper), false)),
            vdup_n_f32(xnn_group_zero(xnn_panel_row(panel, lower), false)));
        for (uint32_t j = 0; j < 4; j++) {
            const float32x2_t two = vld1_f32(starts + 2 * j);
            numbers.of[i][j] = vmulq_f32(zero, vcombine_f32(two, two));
        }
    }
    w += HEAD;
    for (uint32_t k = 0; k < panel->steps; k += block, w += bytes) {
        add_group(a, w, block, pairs, &numbers);
        a += (size_t)block * 2 * UNIT * pairs;
    }
    tiles_t tiles;
    memcpy(&tiles, &numbers, sizeof(tiles));
    store(&tiles, pairs, sums);
}

static void block_qb4(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    const uint32_t pairs = xnn_panel_pairs(panel->rows);
    int32_t sums[XNN_PANEL * XNN_PANEL];
    float numbers[XNN_PANEL * XNN_PANEL];
    (void)scales;
    if (pairs == 4) {
        add_groups(panel, w, 4, sums);
    } else if (pairs == 2) {
        add_groups(panel, w, 2, sums);
    } else {
        add_groups(panel, w, 1, sums);
    }
    memcpy(numbers, sums, sizeof(numbers));
    ember_xnn_panel_put_qb4(panel, numbers, start, column);
}

const ember_xnn_form_t ember_xnn_form_qd8_qc8_i8mm = XNN_FORM_INT8(
    ember_xnn_columns_s8, ember_xnn_type_qd8, UNIT, ember_xnn_panel_begin_qd8,
    ember_xnn_panel_pack_i8mm, block_qc8, NULL, NULL);
const ember_xnn_form_t ember_xnn_form_qd8_qc4_i8mm = XNN_FORM_INT8(
    ember_xnn_columns_qc4, ember_xnn_type_qd8_qc4, UNIT, ember_xnn_panel_begin_qd8,
    ember_xnn_panel_pack_i8mm, block_qc4, NULL, NULL);
const ember_xnn_form_t ember_xnn_form_qd8_qb4_i8mm = XNN_FORM_INT8(
    ember_xnn_columns_qb4, ember_xnn_type_qd8_qb4, UNIT, ember_xnn_panel_begin_qd8,
    ember_xnn_panel_pack_i8mm, block_qb4, NULL, NULL);
