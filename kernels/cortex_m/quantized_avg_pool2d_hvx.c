// SPDX-License-Identifier: Apache-2.0
// quantized_avg_pool2d with HVX, 128 channels at a time. Contract and formula:
// quantized_avg_pool2d.h.
//
// A window's mean, as twice its value plus half a step, is the quotient of two
// integers: it is estimated with the inverse of the divisor and corrected by the
// remainder.
#include "kernels/cortex_m/pool_ties_hvx.h"
#include "kernels/engine/hvx/pools_hvx.h"

// Four vectors of sums of up to 128 channels.
static void sum_of(const ember_image_s8_t *image, ember_window_s8_t window,
                   int32_t left, HVX_Vector *sums) {
    const HVX_Vector zero = Q6_V_vzero();
    HVX_Vector low = zero, high = zero; // of halves: SHORT_MAX elements fit

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            const HVX_VectorPair halves =
                Q6_Wh_vunpack_Vb(ember_load_left_hvx(x, left));
            low = Q6_Vh_vadd_VhVh(low, Q6_V_lo_W(halves));
            high = Q6_Vh_vadd_VhVh(high, Q6_V_hi_W(halves));
            x += image->column;
        }
        window.x += image->row;
    }
    const HVX_VectorPair first = Q6_Ww_vunpack_Vh(low);
    const HVX_VectorPair second = Q6_Ww_vunpack_Vh(high);
    sums[0] = Q6_V_lo_W(first);
    sums[1] = Q6_V_hi_W(first);
    sums[2] = Q6_V_lo_W(second);
    sums[3] = Q6_V_hi_W(second);
}

// The divisor of a window's sums.
typedef struct division {
    HVX_Vector first; // added to twice the sum
    HVX_Vector parts;
    HVX_Vector inverse; // in 31 bits
    HVX_Vector zero;
    HVX_Vector doubt;
    HVX_Vector doubt_above; // in doubt with a remainder above this
} division_t;

static division_t division_of(const ember_avg_pool_s8_t *s, ember_window_s8_t window) {
    const int32_t count = window.rows * window.columns;
    return (division_t){
        Q6_V_vsplat_R(count - 2 * s->zero * count),
        Q6_V_vsplat_R(2 * count),
        Q6_V_vsplat_R((int32_t)((UINT32_C(1) << 31) / (uint32_t)(2 * count))),
        Q6_V_vsplat_R(s->zero),
        Q6_V_vsplat_R(s->doubt + 1),
        Q6_V_vsplat_R(2 * count - s->doubt - 1),
    };
}

// The quotient is at most one too large. Lanes of `doubts` are not 0 if the rounding of
// the reference decides.
INLINE HVX_Vector mean_of(const division_t *by, HVX_Vector sum, HVX_Vector *doubts) {
    const HVX_Vector twice = Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(sum, sum), by->first);
    const HVX_Vector low = Q6_Vw_vmpye_VwVuh(twice, by->inverse);
    const HVX_Vector near =
        Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(low, twice, by->inverse);
    const HVX_Vector product = Q6_Vw_vmpyie_VwVuh(near, by->parts);
    const HVX_Vector over = Q6_Vw_vsub_VwVw(twice, product);
    const HVX_Vector less = Q6_Vw_vasr_VwR(over, 31);
    const HVX_Vector left = Q6_Vw_vadd_VwVw(over, Q6_V_vand_VV(less, by->parts));
    const HVX_Vector below = Q6_Vw_vsub_VwVw(left, by->doubt);
    const HVX_Vector above = Q6_Vw_vsub_VwVw(by->doubt_above, left);
    *doubts = Q6_Vw_vasr_VwR(Q6_V_vor_VV(below, above), 31);
    return Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(near, less), by->zero);
}

// Binary places of `count`, the elements of small windows, a power of two; 0 for
// others.
static int32_t places_of(int32_t count) {
    const bool power = (count & (count - 1)) == 0;
    return power && count <= EMBER_TIES_HVX ? __builtin_ctz((uint32_t)count) : 0;
}

// The means of small windows, of which those in doubt are in the middle between two
// integers.
static void settle_small(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                         int32_t left, const HVX_Vector *doubts, HVX_Vector *means) {
    const ember_ties_hvx_t by = ember_ties_hvx(s->scale);
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_Vector point = Q6_V_vsplat_R(s->zero);
    const HVX_Vector offset = Q6_Vh_vsplat_R(s->zero);
    HVX_Vector sums[4] = {zero, zero, zero, zero};
    HVX_Vector errors[4] = {zero, zero, zero, zero};

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            HVX_Vector words[4];
            ember_words_hvx(ember_load_left_hvx(x, left), offset, words);
            EMBER_HVX_UNROLL
            for (int v = 0; v < 4; v++) {
                sums[v] = Q6_Vw_vadd_VwVw(sums[v], words[v]);
                errors[v] = Q6_Vw_vadd_VwVw(
                    errors[v], ember_ties_rounding_hvx(&by, words[v], zero));
                errors[v] = Q6_Vw_vadd_VwVw(
                    errors[v], ember_ties_rounding_hvx(&by, sums[v], errors[v]));
            }
            x += s->pool.in.column;
        }
        window.x += s->pool.in.row;
    }
    EMBER_HVX_UNROLL
    for (int v = 0; v < 4; v++) {
        const HVX_Vector ties = ember_ties_means_hvx(
            &by, sums[v], errors[v], places_of(window.rows * window.columns));
        const HVX_VectorPred clear = Q6_Q_vcmp_eq_VwVw(doubts[v], zero);
        means[v] = Q6_V_vmux_QVV(clear, means[v], Q6_Vw_vadd_VwVw(ties, point));
    }
}

// Computes those of `count` means that are in doubt again, like the reference.
static void settle(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                   const HVX_Vector *sums, HVX_Vector doubts, int8_t *y,
                   int32_t count) {
    HVX_Vector bytes;
    const int8_t *in_doubt = (const int8_t *)&bytes;
    const int32_t *sum = (const int32_t *)(const void *)sums;

    ember_hvx_store(&bytes, doubts);
    for (int32_t c = 0; c < count; c++) {
        if (c % 8 == 0 && ember_hvx_eight(in_doubt + c) == 0) {
            c += 7;
        } else if (in_doubt[c] != 0) {
            y[c] = ember_avg_pool_s8_mean(s, window, window.x + c, sum[c]);
        }
    }
}

static void one(const void *state, ember_window_s8_t window, int32_t channels,
                int8_t *y) {
    const ember_avg_pool_s8_t *s = state;
    const division_t by = division_of(s, window);
    const int32_t places = places_of(window.rows * window.columns);

    for (int32_t left = channels; left > 0; left -= EMBER_HVX) {
        HVX_Vector sums[4], means[4], doubts[4];
        sum_of(&s->pool.in, window, left, sums);
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            means[i] = mean_of(&by, sums[i], &doubts[i]);
        }
        if (places != 0) {
            settle_small(s, window, left, doubts, means);
        }
        ember_store_left_hvx(y, ember_bytes_hvx(means[0], means[1], means[2], means[3]),
                             left);
        if (places == 0) {
            settle(s, window, sums,
                   ember_bytes_hvx(doubts[0], doubts[1], doubts[2], doubts[3]), y,
                   left < EMBER_HVX ? left : EMBER_HVX);
        }
        window.x += EMBER_HVX;
        y += EMBER_HVX;
    }
}

// What lies between windows may be computed for nothing, unless many means of it were
// in doubt, and computed again.
static bool gaps_of(const ember_avg_pool_s8_t *s) {
    const int32_t count = s->pool.kernel[0] * s->pool.kernel[1];
    return count % 2 != 0 || places_of(count) != 0;
}

// The packets that a vector takes, and an element in portable C.
static bool pays(const ember_avg_pool_s8_t *s) {
    const int64_t taps = ember_pools_hvx_taps(&s->pool);
    const int64_t of_tap = places_of((int32_t)taps) != 0 ? 110 : 10;
    return ember_pools_hvx_pays(&s->pool, gaps_of(s), 200 + of_tap * taps,
                                45 + 2 * taps);
}

static int32_t run(void *state) {
    const ember_avg_pool_s8_t *s = state;
    ember_pools_hvx_run(&s->pool, gaps_of(s), one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_avg_pool_s8_prepare_last(node, state);

    if (status == EMBER_OK && !pays(state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "avg_pool2d_hvx: few channels");
    }
    return status;
}

EMBER_KERNEL(quantized_avg_pool2d_hvx, ember_avg_pool_s8_t);
