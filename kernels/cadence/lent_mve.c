// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with Helium. Contract: lent_mve.h.
#include "kernels/cadence/lent_mve.h"

#include <arm_mve_tiles.h>

#include "kernels/cadence/real_mve.h"
#include "kernels/engine/mve/depthwise_sums_mve.h"

enum { TILE = EMBER_MVE_TILE };

// Three columns of eights, then of fours.
static void end_three(const ember_columns_mve_t *s, const int32_t *tile, int32_t from,
                      int32_t count, int8_t *const *y) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const ember_real_mve_t by = {scales->scale, scales->inverse, scales->zero_point};

    for (int32_t n = 0; n < EMBER_COLUMNS_MVE; n++) {
        ember_real_store_mve(&by, tile + n * TILE, count, y[n] + from);
    }
}

static void end_one(const ember_columns_mve_t *s, const int32_t *tile, int32_t from,
                    int32_t count, int8_t *y) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const ember_real_mve_t by = {scales->scale, scales->inverse, scales->zero_point};

    ember_real_store_mve(&by, tile, count, y + from);
}

static const ember_ending_mve_t ending = {end_three, end_one};

static int32x4_t scaled_real(const block_t *block, const sums_t *sums, int32_t n) {
    return ember_real_mve(sums->v[n], block->scales->scale, block->scales->inverse);
}

// Three neighbouring taps of a row.
INLINE void add_three(sums_t *sums, const int8_t *x, int32_t step, const int8_t *w) {
    add_two_taps(sums, x, x + step, w);
    add_tap(sums, x + 2 * step, w + 2 * EMBER_DEPTHWISE_LANES_MVE);
}

// `count` groups of outputs with 3 x 3 taps, whose products may be added as int16.
static __attribute__((noinline)) void run_nine(const block_t *block, const line_t *line,
                                               int32_t from, int32_t count) {
    const int32_t step = line->step, row = 3 * EMBER_DEPTHWISE_LANES_MVE;
    const int32_t second = line->slot + line->down, third = second + line->down;
    const common_t common = common_of(block, line);
    const int8_t *a = row_of(line, line->slot) + from * line->x_step;
    const int8_t *b = row_of(line, second) + from * line->x_step;
    const int8_t *c = row_of(line, third) + from * line->x_step;
    const int8_t *w = block->weights;
    int8_t *y = line->y + from * line->y_step;

    for (; count > 0; count--) {
        sums_t sums = starting(block);
        add_three(&sums, a, step, w);
        add_three(&sums, b, step, w + row);
        add_three(&sums, c, step, w + 2 * row);
        finish(block, &sums, common, scaled_real, y);
        a += line->x_step;
        b += line->x_step;
        c += line->x_step;
        y += line->y_step;
    }
}

static void run_depthwise(const block_t *block, const line_t *line, int32_t from,
                          int32_t count) {
    if (block->rows == 3 && block->columns == 3 && block->paired) {
        run_nine(block, line, from, count);
    } else {
        run_scaled(block, line, from, count, scaled_real);
    }
}

ember_status_t ember_lent_mve_prepare(ember_lent_mve_t *s, const ember_conv_s8_t *conv,
                                      ember_node_t *node) {
    s->conv = *conv;
    return s->lent.depthwise
               ? ember_depthwise_s8_mve_prepare(&s->depthwise, node)
               : ember_columns_mve_prepare(&s->columns, node, ember_conv_s8_taps(conv),
                                           EMBER_WEIGHTS_PLAIN);
}

void ember_lent_mve_run(const ember_lent_mve_t *s) {
    if (s->lent.depthwise) {
        ember_depthwise_s8_mve_run(&s->depthwise, run_depthwise);
    } else {
        ember_columns_mve_run(&s->columns, ember_conv_s8_steps(&s->conv), &ending);
    }
}
