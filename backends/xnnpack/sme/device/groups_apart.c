// SPDX-License-Identifier: Apache-2.0
// Columns that are summed apart, block by block: a few columns of each block, whose
// sums are likely to be rounded, are collected in a block of their own. They replace
// the results of the other blocks.
#include "groups.h"

// The next column of the list; past the end the last one again.
static uint32_t column_at(const groups_t *groups,
                          uint32_t i) __arm_streaming __arm_preserves("za") {
    return groups->list[i < groups->listed ? i : groups->listed - 1];
}

// Packed columns consist of whole blocks.
static const uint32_t *packed_at(const groups_t *groups,
                                 uint32_t i) __arm_streaming __arm_preserves("za") {
    const uint32_t most = groups->most;
    const uint32_t column = column_at(groups, i);
    return (const uint32_t *)groups->gemm->w +
           column / most * most * sme_group_column(groups) + column % most;
}

static void gather(const groups_t *groups,
                   uint32_t first) __arm_streaming __arm_preserves("za") {
    const uint32_t most = groups->most;
    const size_t words = sme_group_column(groups) * most;
    for (uint32_t i = 0; i < most; i += 4) {
        const uint32_t *from0 = packed_at(groups, first + i);
        const uint32_t *from1 = packed_at(groups, first + i + 1);
        const uint32_t *from2 = packed_at(groups, first + i + 2);
        const uint32_t *from3 = packed_at(groups, first + i + 3);
        uint32_t *to = groups->panel + i;
        for (size_t k = 0; k < words; k += most) {
            to[k] = from0[k];
            to[k + 1] = from1[k];
            to[k + 2] = from2[k];
            to[k + 3] = from3[k];
        }
    }
}

static void gather_bias(const groups_t *groups, uint32_t first,
                        uint32_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    for (uint32_t i = 0; i < groups->most && gemm->real.bias != NULL; i++) {
        const uint32_t column = column_at(groups, first + i);
        if (gemm->real.half_bias) {
            ((uint16_t *)(void *)to)[i] = ((const uint16_t *)gemm->real.bias)[column];
        } else {
            to[i] = ((const uint32_t *)gemm->real.bias)[column];
        }
    }
}

// Stores rows of the block where their columns belong.
static void scatter(const groups_t *groups, uint32_t first, uint32_t row,
                    uint32_t rows) __arm_streaming __arm_preserves("za") {
    const uint32_t n = groups->gemm->n;
    const uint32_t most = groups->most;
    const uint32_t left = groups->listed - first;
    for (uint32_t j = 0; j < (left < most ? left : most); j++) {
        float *to =
            (float *)groups->gemm->y + (size_t)row * n + groups->list[first + j];
        const float *from = groups->numbers + j;
#pragma clang loop unroll_count(4)
        for (uint32_t i = 0; i < rows; i++, to += n, from += most) {
            *to = *from;
        }
    }
}

// A block of rows, as if they were all.
static void run_rows(const groups_t *groups, const ember_xnn_sme_t *gemm, uint32_t row,
                     uint32_t rows) __arm_streaming __arm_inout("za") {
    ember_xnn_sme_t part = *gemm;
    part.dynamic.rows += row;
    part.a = (const int8_t *)gemm->a + (size_t)row * gemm->k;
    groups_t block = *groups;
    block.gemm = &part;
    block.a += 2 * (size_t)row * gemm->k;
    block.zeros += row;
    block.rows = rows;
    xnn_sme_groups_block(&block);
}

void xnn_sme_groups_apart(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const size_t words =
        xnn_sme_group_words(groups->gemm->k, groups->gemm->dynamic.block);
    const uint32_t most = groups->most;
    uint32_t *bias = groups->panel + sme_group_column(groups) * most;
    ember_xnn_sme_t gemm = *groups->gemm;
    gemm.n = most;
    gemm.real.bias = gemm.real.bias != NULL ? bias : NULL;
    gemm.y = groups->numbers;
    groups_t panel = *groups;
    panel.gemm = &gemm;
    panel.from = (const uint8_t *)groups->panel;
    panel.extra = (const float *)(const void *)(groups->panel + words * most);
    panel.columns = most;
    panel.column = panel.row = panel.looks = 0;
    for (uint32_t first = 0; first < groups->listed; first += most) {
        gather(groups, first);
        gather_bias(groups, first, bias);
        xnn_sme_groups_columns(&panel);
        for (uint32_t row = 0, rows; row < gemm.m; row += rows) {
            rows = gemm.m - row < most ? gemm.m - row : most;
            run_rows(&panel, &gemm, row, rows);
            scatter(groups, first, row, rows);
        }
    }
}
