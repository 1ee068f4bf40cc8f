// SPDX-License-Identifier: Apache-2.0
// Panels of bfloat16 by BFMMLA, which multiplies two rows by two columns, four products
// each. It rounds sums its own way, so that a result may differ from product_bf16.c in
// the last place. Rows are interleaved in pairs: four elements of one, four of the
// other.
#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

enum { UNIT = 4, PAIR = 2 * UNIT };

static bfloat16x8_t load(const uint16_t *from) {
    return vreinterpretq_bf16_u16(vld1q_u16(from));
}

// Up to four elements of a row, followed by zeros.
static uint16x4_t load_some(const uint16_t *from, uint32_t count) {
    uint16_t room[UNIT] = {0};
    memcpy(room, from, sizeof(uint16_t) * (count < UNIT ? count : UNIT));
    return vld1_u16(room);
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const uint32_t pairs = xnn_panel_pairs(panel->rows);
    for (uint32_t i = 0; i < pairs; i++) {
        const uint16_t *x = rows[2 * i], *y = rows[2 * i + 1];
        uint16_t *to = (uint16_t *)(void *)panel->a + (size_t)i * PAIR;
        uint32_t at = 0;
        for (; at + UNIT <= k; at += UNIT, to += (size_t)PAIR * pairs) {
            vst1q_u16(to, vcombine_u16(vld1_u16(x + at), vld1_u16(y + at)));
        }
        if (at < k) {
            vst1q_u16(
                to, vcombine_u16(load_some(x + at, k - at), load_some(y + at, k - at)));
        }
    }
}

// Sums of pairs of rows by pairs of columns.
typedef struct tiles {
    float32x4_t of[4][4];
} tiles_t;

// Separates the sums of pairs into rows: (rows, XNN_PANEL).
XNN_INLINE void store(const tiles_t *tiles, const uint32_t pairs, float *sums) {
    for (uint32_t i = 0; i < pairs; i++, sums += 2 * XNN_PANEL) {
        for (uint32_t j = 0; j < 2; j++) {
            const int64x2_t x = vreinterpretq_s64_f32(tiles->of[i][2 * j]);
            const int64x2_t y = vreinterpretq_s64_f32(tiles->of[i][2 * j + 1]);
            vst1q_f32(sums + 4 * j, vreinterpretq_f32_s64(vzip1q_s64(x, y)));
            vst1q_f32(sums + XNN_PANEL + 4 * j,
                      vreinterpretq_f32_s64(vzip2q_s64(x, y)));
        }
    }
}

XNN_INLINE void multiply_pairs(const ember_xnn_panel_t *panel, const uint16_t *w,
                               const float *start, const uint32_t pairs, float *sums) {
    const uint16_t *a = (const uint16_t *)(const void *)panel->a;
    tiles_t s;
    for (uint32_t j = 0; j < 4; j++) {
        const float32x2_t two = vld1_f32(start + 2 * (size_t)j);
        for (uint32_t i = 0; i < pairs; i++) {
            s.of[i][j] = vcombine_f32(two, two);
        }
    }
#pragma GCC unroll 2
    for (uint32_t k = panel->steps; k > 0; k--, w += UNIT * XNN_PANEL) {
        bfloat16x8_t columns[4];
        for (uint32_t j = 0; j < 4; j++) {
            columns[j] = load(w + (size_t)PAIR * j);
        }
        for (uint32_t i = 0; i < pairs; i++, a += PAIR) {
            const bfloat16x8_t x = load(a);
            for (uint32_t j = 0; j < 4; j++) {
                s.of[i][j] = vbfmmlaq_f32(s.of[i][j], x, columns[j]);
            }
        }
    }
    store(&s, pairs, sums);
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    const uint16_t *columns = (const uint16_t *)(const void *)w;
    const uint32_t pairs = xnn_panel_pairs(panel->rows);
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    if (pairs == 4) {
        multiply_pairs(panel, columns, start, 4, sums);
    } else if (pairs == 2) {
        multiply_pairs(panel, columns, start, 2, sums);
    } else {
        multiply_pairs(panel, columns, start, 1, sums);
    }
    ember_xnn_panel_put_float(panel, sums, column);
}

const ember_xnn_form_t ember_xnn_form_bf16_bf16mm = {
    .layout = &ember_xnn_columns_bf16,
    .type = &ember_xnn_type_bf16,
    .unit = UNIT,
    .size = 2,
    .wide = 2,
    .begin = ember_xnn_panel_begin_float,
    .pack = pack,
    .block = block,
};
