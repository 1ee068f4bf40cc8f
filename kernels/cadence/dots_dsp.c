// SPDX-License-Identifier: Apache-2.0
// Products of rows with the DSP instructions. Contract: dots.h.
#include "kernels/cadence/dots.h"

#include <arm_dsp_columns.h>
#include <arm_dsp_tiles.h>

#include "kernels/engine/dsp/matmul_s8_dsp.h"
#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, COLUMNS = 3, PAIR = 2 };

static size_t bytes(int32_t inner, int32_t count) {
    (void)count;
    return ember_matmul_s8_dsp_bytes(inner);
}

static void start(const ember_dots_task_t *task) {
    (void)task;
}

static void sums(const ember_dots_task_t *task, const int8_t *a, int32_t from,
                 int32_t count, int32_t *y) {
    const ember_matmul_s8_dsp_t dsp = {
        .matmul = {.inner = task->inner,
                   .a_offset = task->a_offset,
                   .b_offset = task->b_offset},
        .words = (uint32_t *)task->scratch,
    };
    ember_matmul_s8_dsp_sums(&dsp, a, task->b + from * task->inner, count, y);
}

static size_t bytes_three(int32_t inner) {
    return (size_t)inner * COLUMNS * sizeof(int16_t);
}

static void three(const ember_dots_task_t *task, const int8_t *a, int32_t from,
                  int32_t count, const int32_t *bias, int32_t *y) {
    const int32_t inner = task->inner;
    uint32_t *words = (uint32_t *)task->scratch;
    const ember_tile_sums_dsp_t tiles = {
        .w = task->b + from * inner,
        .x = words,
        .pitch = inner,
        .blocks = inner / FOUR,
        .bias = bias,
        .pairs = count / PAIR,
        .sums = {y, y + count, y + 2 * count},
    };
    ember_widen_three(words, a, a + inner, a + 2 * inner, inner / FOUR,
                      ember_both_dsp(task->a_offset));
    ember_tile_sums_dsp(&tiles);
}

const ember_dots_t ember_dots_dsp = {bytes, start, sums, three, bytes_three};
