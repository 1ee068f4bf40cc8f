// SPDX-License-Identifier: Apache-2.0
// Products and gates of recurrent layers with Helium. Contract: recurrent.h.
#include "kernels/engine/mve/matmul_s8_mve.h"
#include "kernels/engine/mve/products_mve.h"
#include "kernels/recurrent/numbers.h"

static size_t bytes(int32_t inner) {
    (void)inner;
    return 0;
}

static void clear(int32_t *sums, int32_t count) {
    for (; count > 0; count -= EMBER_LANES_S32) {
        vstrwq_p_s32(sums, vdupq_n_s32(0), vctp32q((uint32_t)count));
        sums += EMBER_LANES_S32;
    }
}

static void sums(const ember_products_s8_t *of, const int8_t *a) {
    const ember_matmul_s8_t matmul = {.inner = of->inner};

    clear(of->sums, of->rows);
    ember_matmul_s8_mve_sums(&matmul, of->sums, a, of->weights, of->rows, of->sums);
}

static void gates(const ember_gates_task_t *task) {
    const int32_t *sums_x = task->sums_x, *sums_h = task->sums_h;
    const int32_t *by_x = task->by_x, *by_h = task->by_h, *bias = task->bias;
    const int32_t shift_x = task->shift_x, shift_h = task->shift_h;
    int16_t *to = task->gates;

    for (int32_t left = task->count; left > 0; left -= EMBER_LANES_S32) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t x = vshlq_r_s32(vldrwq_z_s32(sums_x, lanes), shift_x);
        int32x4_t sum = vrmulhq_s32(x, vldrwq_z_s32(by_x, lanes));
        if (sums_h != NULL) {
            const int32x4_t h = vshlq_r_s32(vldrwq_z_s32(sums_h, lanes), shift_h);
            sum = vaddq_s32(sum, vrmulhq_s32(h, vldrwq_z_s32(by_h, lanes)));
            sums_h += EMBER_LANES_S32;
            by_h += EMBER_LANES_S32;
        }
        sum = vaddq_s32(sum, vldrwq_z_s32(bias, lanes));
        const int16x8_t zeros = vdupq_n_s16(0);
        const int16x8_t gate = vqshrnbq_n_s32(zeros, sum, EMBER_GATE_MORE);
        vstrhq_p_s32(to, vreinterpretq_s32_s16(gate), lanes);
        sums_x += EMBER_LANES_S32;
        by_x += EMBER_LANES_S32;
        bias += EMBER_LANES_S32;
        to += EMBER_LANES_S32;
    }
}

const ember_recurrent_core_t ember_recurrent_core_mve = {bytes, sums, gates};
