// SPDX-License-Identifier: Apache-2.0
// Outputs of a depthwise convolution with Helium. Contract: depthwise_mve.h.
#include "kernels/engine/mve/depthwise_mve.h"

#include <arm_mve_tiles.h>

#include "kernels/engine/mve/depthwise_sums_mve.h"

INLINE int32x4_t scaled(const block_t *block, const sums_t *sums, int32_t n) {
    const int32x4_t by = vldrwq_s32(block->multipliers[n]);
    return ember_scaled_mve(sums->v[n], by, vldrwq_s32(block->shifts[n]));
}

// `count` > 0 groups of outputs, the first of which is group `from` of its row.
static __attribute__((noinline)) void run_nine(const block_t *block, const line_t *line,
                                               int32_t from, int32_t count) {
    const common_t common = common_of(block, line);
    const int32_t at = from * line->x_step;
    int8_t *y = line->y + from * line->y_step;
    const ember_mve_nine_t nine = {
        .rows = {row_of(line, line->slot) + at, row_of(line, line->slot + 1) + at,
                 row_of(line, line->slot + 2) + at},
        .step = line->step,
        .rest = line->x_step - 2 * line->step,
        .y = y,
        .y_step = line->y_step,
        .zero_point = block->zero_point,
        .count = count,
        .lanes = line->lanes,
        .weights = block->weights,
        .scales = block->first[0],
    };

    ember_mve_run_nine(&nine);
    for (; common.limited && count > 0; count--) {
        const int8x16_t all = vldrbq_z_s8(y, common.lanes);
        vstrbq_p_s8(y, limited(block, all), common.lanes);
        y += line->y_step;
    }
}

static __attribute__((noinline)) void run_any(const block_t *block, const line_t *line,
                                              int32_t from, int32_t count) {
    run_scaled(block, line, from, count, scaled);
}

void ember_depthwise_mve(const block_t *block, const line_t *line, int32_t from,
                         int32_t count) {
    if (count > 0 && block->rows == 3 && block->columns == 3 && line->down == 1 &&
        block->paired && block->shifted) {
        run_nine(block, line, from, count);
    } else {
        run_any(block, line, from, count);
    }
}
