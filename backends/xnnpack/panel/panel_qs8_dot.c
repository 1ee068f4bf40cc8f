// SPDX-License-Identifier: Apache-2.0
// Panels of static int8 by SDOT.
#include "panel_dot.h"

// Sums of `lines` rows, of which `rows` exist, become results: sixteen at a time, of
// two rows or of two blocks of a row.
XNN_INLINE void put_lines(const sums_t *sums, const xnn_neon_round_t *round,
                          const uint32_t lines, const uint32_t blocks, uint32_t rows,
                          int8_t *y, size_t y_step) {
    const uint32_t count = lines * blocks;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < count; i += 2) {
        const uint32_t j = count > 1 ? i + 1 : i;
        const int16x8_t x =
            xnn_neon_rounded(sums->of[i][0], sums->of[i][1], &round[i % blocks]);
        const int16x8_t z =
            xnn_neon_rounded(sums->of[j][0], sums->of[j][1], &round[j % blocks]);
        int8x16_t out = vqmovn_high_s16(vqmovn_s16(x), z);
        out = vminq_s8(vmaxq_s8(out, round->low), round->high);
        if (blocks > 1) {
            vst1q_s8(y + i / blocks * y_step + i % blocks * XNN_PANEL, out);
            continue;
        }
        vst1_s8(y + i * y_step, vget_low_s8(out));
        if (i + 1 < rows) {
            vst1_s8(y + j * y_step, vget_high_s8(out));
        }
        if (i + 2 >= rows) {
            return;
        }
    }
}

// How a panel's columns are written.
typedef struct walk {
    const ember_xnn_panel_t *panel;
    const int32_t *start; // of the group
    const float *scales;
    uint32_t first; // rows [first, end)
    uint32_t end;
} walk_t;

// Columns of `blocks` blocks from `column` on, as long as there are that many: rows are
// taken `lines` at a time, or at most `lines` of which the last may not exist. Returns
// the first column left.
XNN_INLINE uint32_t put_blocks(const walk_t *walk, uint32_t column,
                               const uint32_t lines, const uint32_t blocks,
                               const bool full) {
    const ember_xnn_panel_t *panel = walk->panel;
    const uint32_t end = walk->end;
    const size_t y_step = panel->y_step;
    const ember_xnn_range_t range = panel->range;
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y + walk->first * y_step;
    weights_t w = {panel->w + HEAD, panel->block_bytes, 8};
    w.at += column / XNN_PANEL * w.block_bytes;
    for (; column + blocks * XNN_PANEL <= panel->n; column += blocks * XNN_PANEL) {
        xnn_neon_round_t round[XNN_ROW_BLOCKS];
        for (uint32_t i = 0; i < blocks; i++) {
            round[i] = xnn_neon_round(walk->scales + column + i * XNN_PANEL, &range);
        }
        int8_t *to = y + column;
        for (uint32_t i = walk->first; i < end; i += lines, to += lines * y_step) {
            const rows_t rows = rows_of(panel, i, lines);
            const sums_t sums =
                multiply_lines(panel, &rows, w, walk->start + column, lines, blocks);
            put_lines(&sums, round, lines, blocks, full ? lines : end - i, to, y_step);
        }
        w.at += blocks * w.block_bytes;
    }
    return column;
}

// Rows [first, end) of the columns from `column` on.
static void put_rest(walk_t *walk, uint32_t first, uint32_t end, uint32_t column) {
    walk->first = first;
    walk->end = end;
    if (end - first == 1) {
        column = put_blocks(walk, column, 1, XNN_ROW_BLOCKS, true);
        (void)put_blocks(walk, column, 1, 1, true);
    } else if (end > first) {
        (void)put_blocks(walk, column, 4, 1, false);
    }
}

// Four rows by sixteen columns; for the remaining columns, eight rows by eight.
static uint32_t whole(const ember_xnn_panel_t *panel, uint32_t at) {
    const uint32_t fours = panel->rows & ~3u, eights = panel->rows & ~7u;
    walk_t walk = {.panel = panel,
                   .start = (const int32_t *)(const void *)panel->start + at,
                   .scales = panel->scales + at,
                   .end = fours};
    uint32_t column = 0;
    if (fours > 0 && panel->n >= 2 * XNN_PANEL) {
        column = put_blocks(&walk, 0, 4, 2, true);
    }
    if (fours > 0 && column + XNN_PANEL <= panel->n) {
        walk.end = eights;
        (void)put_blocks(&walk, column, 8, 1, true);
        put_rest(&walk, eights, fours, column);
    }
    put_rest(&walk, fours, panel->rows, 0);
    return panel->n & ~(uint32_t)(XNN_PANEL - 1);
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(panel, w + HEAD, 8, start, sums);
    ember_xnn_panel_put_qs8(panel, sums, scales, column);
}

const ember_xnn_form_t ember_xnn_form_qs8_dot =
    XNN_FORM_INT8(ember_xnn_columns_s8, ember_xnn_panel_qs8, UNIT,
                  ember_xnn_panel_begin_qs8, NULL, block, whole, NULL);
