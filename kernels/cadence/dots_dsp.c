// SPDX-License-Identifier: Apache-2.0
// Products of rows with the DSP instructions. Contract: dots.h.
#include "kernels/cadence/dots.h"
#include "kernels/cortex_m/matmul_s8_dsp.h"

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

const ember_dots_t ember_dots_dsp = {bytes, start, sums};
