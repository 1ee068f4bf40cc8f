// SPDX-License-Identifier: Apache-2.0
// Products of rows with Helium. Contract: dots.h.
#include "kernels/cadence/dots.h"
#include "kernels/engine/mve/matmul_s8_mve.h"

static size_t bytes(int32_t inner, int32_t count) {
    (void)inner;
    return (size_t)count * sizeof(int32_t);
}

static ember_matmul_s8_t matmul_of(const ember_dots_task_t *task) {
    return (ember_matmul_s8_t){
        .inner = task->inner, .a_offset = task->a_offset, .b_offset = task->b_offset};
}

static void start(const ember_dots_task_t *task) {
    const ember_matmul_s8_t matmul = matmul_of(task);
    ember_matmul_s8_mve_first(&matmul, task->b, task->count, task->scratch);
}

static void sums(const ember_dots_task_t *task, const int8_t *a, int32_t from,
                 int32_t count, int32_t *y) {
    const ember_matmul_s8_t matmul = matmul_of(task);
    ember_matmul_s8_mve_sums(&matmul, task->scratch + from, a,
                             task->b + from * task->inner, count, y);
}

const ember_dots_t ember_dots_mve = {bytes, start, sums, NULL, NULL};
