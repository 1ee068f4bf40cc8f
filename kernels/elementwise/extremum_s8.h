// SPDX-License-Identifier: Apache-2.0
// What kernels for the larger or the smaller of a and b share, int8: row, run and
// prepare.
#ifndef EMBER_KERNELS_ELEMENTWISE_EXTREMUM_S8_H
#define EMBER_KERNELS_ELEMENTWISE_EXTREMUM_S8_H

#include "kernels/engine/int8/pair_s8.h"

// Common to all; `row` is defined before.
#define EMBER_EXTREMUM_S8_RUN(PREPARE)                                                 \
    static int32_t run(void *state) {                                                  \
        ember_pair_s8_run(state, row, state);                                          \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return PREPARE(node, state);                                                   \
    }

// Portable. The operands of the expression are a and b.
#define EMBER_EXTREMUM_S8(EXPRESSION)                                                  \
    static void row(const void *state, const int8_t *pa, const int8_t *pb, int8_t *y,  \
                    uint32_t count) {                                                  \
        const ember_pair_s8_t *s = state;                                              \
        const int32_t a_step = s->a.step;                                              \
        const int32_t b_step = s->b.step;                                              \
        for (const int8_t *past = y + count; y < past; y++) {                          \
            const int8_t a = *pa;                                                      \
            const int8_t b = *pb;                                                      \
            *y = EXPRESSION;                                                           \
            pa += a_step;                                                              \
            pb += b_step;                                                              \
        }                                                                              \
    }                                                                                  \
    EMBER_EXTREMUM_S8_RUN(ember_pair_s8_plain_prepare)

// With the DSP extension, four at a time: WORDS(a, b) of words of four.
#define EMBER_EXTREMUM_S8_DSP(WORDS, EXPRESSION)                                       \
    static void row(const void *state, const int8_t *pa, const int8_t *pb, int8_t *y,  \
                    uint32_t count) {                                                  \
        (void)state;                                                                   \
        for (; count >= 4; count -= 4, pa += 4, pb += 4, y += 4) {                     \
            ember_word_store(y, WORDS(ember_word_load(pa), ember_word_load(pb)));      \
        }                                                                              \
        for (; count > 0; count--) {                                                   \
            const int8_t a = *pa++;                                                    \
            const int8_t b = *pb++;                                                    \
            *y++ = EXPRESSION;                                                         \
        }                                                                              \
    }                                                                                  \
    EMBER_EXTREMUM_S8_RUN(ember_pair_s8_dense_prepare)

// With Helium, 16 at a time: VECTORS(a, b) of vectors.
#define EMBER_EXTREMUM_S8_MVE(VECTORS)                                                 \
    static void row(const void *state, const int8_t *pa, const int8_t *pb, int8_t *y,  \
                    uint32_t count) {                                                  \
        (void)state;                                                                   \
        for (int32_t left = (int32_t)count; left > 0; left -= 16) {                    \
            const mve_pred16_t lanes = vctp8q((uint32_t)left);                         \
            const int8x16_t first = vldrbq_z_s8(pa, lanes);                            \
            vstrbq_p_s8(y, VECTORS(first, vldrbq_z_s8(pb, lanes)), lanes);             \
            pa += 16;                                                                  \
            pb += 16;                                                                  \
            y += 16;                                                                   \
        }                                                                              \
    }                                                                                  \
    EMBER_EXTREMUM_S8_RUN(ember_pair_s8_dense_prepare)

enum { EMBER_EXTREMUM_FEW_HVX = 8 }; // elements of a row; portable C takes fewer

// Rows that are long enough for HVX. One of the operands may be a number for a row.
static inline ember_status_t ember_extremum_hvx_prepare(ember_node_t *node,
                                                        void *state) {
    const ember_pair_s8_t *s = state;
    const ember_status_t status = ember_pair_s8_plain_prepare(node, state);

    if (status == EMBER_OK &&
        (s->count < EMBER_EXTREMUM_FEW_HVX || s->a.step > 1 || s->b.step > 1)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "extremum_hvx: few, or steps");
    }
    return status;
}

// With HVX, 128 at a time: VECTORS(a, b) of vectors.
#define EMBER_EXTREMUM_S8_HVX(VECTORS)                                                 \
    static HVX_Vector some(const int8_t *x, int32_t step, int32_t left) {              \
        return step == 0 ? Q6_Vb_vsplat_R(*x) : ember_load_left_hvx(x, left);          \
    }                                                                                  \
    static void row(const void *state, const int8_t *pa, const int8_t *pb, int8_t *y,  \
                    uint32_t count) {                                                  \
        const ember_pair_s8_t *s = state;                                              \
        for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {             \
            const HVX_Vector first = some(pa, s->a.step, left);                        \
            const HVX_Vector second = some(pb, s->b.step, left);                       \
            ember_store_left_hvx(y, VECTORS(first, second), left);                     \
            pa += EMBER_HVX * s->a.step;                                               \
            pb += EMBER_HVX * s->b.step;                                               \
            y += EMBER_HVX;                                                            \
        }                                                                              \
    }                                                                                  \
    EMBER_EXTREMUM_S8_RUN(ember_extremum_hvx_prepare)

#endif // EMBER_KERNELS_ELEMENTWISE_EXTREMUM_S8_H
