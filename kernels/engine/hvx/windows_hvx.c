// SPDX-License-Identifier: Apache-2.0
// Products of windows by a panel of filters. Contract: windows_hvx.h.
#include "kernels/engine/hvx/windows_hvx.h"

#include <stddef.h>

enum { TILE = 4 }; // windows at a time

INLINE HVX_Vector load_weights(const HVX_Vector *at, bool aligned) {
    return aligned ? ember_hvx_load(at) : ember_hvx_load_any(at);
}

// sums[p, v] += window p . filters of vector v.
INLINE void multiply(const ember_windows_hvx_t *s, const int8_t *x,
                     const HVX_Vector *weights, bool aligned, HVX_Vector *sums,
                     int windows, int vectors) {
    const int32_t step = s->step;

    for (int32_t n = s->segments; n > 0; n--) {
        const int8_t *at[TILE];
        EMBER_HVX_UNROLL
        for (int p = 0; p < windows; p++) {
            at[p] = x + p * step;
        }
        for (int32_t left = s->segment; left > 0; left -= EMBER_STEP_HVX) {
            EMBER_HVX_UNROLL
            for (int v = 0; v < vectors; v++) {
                const HVX_Vector first = load_weights(weights + v, aligned);
                const HVX_Vector second = load_weights(weights + vectors + v, aligned);
                EMBER_HVX_UNROLL
                for (int p = 0; p < windows; p++) {
                    const int64_t eight = ember_hvx_eight(at[p]);
                    HVX_Vector *sum = &sums[p * vectors + v];
                    *sum = Q6_Vw_vrmpyacc_VwVubRb(*sum, first, (int32_t)eight);
                    *sum = Q6_Vw_vrmpyacc_VwVubRb(*sum, second, (int32_t)(eight >> 32));
                }
            }
            EMBER_HVX_UNROLL
            for (int p = 0; p < windows; p++) {
                at[p] += EMBER_STEP_HVX;
            }
            weights += 2 * vectors;
        }
        x += s->pitch;
    }
}

// Starts are `step` vectors apart.
INLINE void start(const ember_windows_hvx_t *s, const int32_t *firsts,
                  const HVX_Vector *starts, int step, HVX_Vector *sums, int windows,
                  int vectors) {
    EMBER_HVX_UNROLL
    for (int p = 0; p < windows; p++) {
        const HVX_Vector first = Q6_V_vsplat_R(firsts[p * s->firsts_step]);
        EMBER_HVX_UNROLL
        for (int v = 0; v < vectors; v++) {
            sums[p * vectors + v] =
                Q6_Vw_vadd_VwVw(ember_hvx_load(starts + v * step), first);
        }
    }
}

INLINE void store(const ember_results_hvx_t *to, int8_t *y, HVX_Vector bytes, int each,
                  int windows, bool inside) {
    const HVX_Vector low = Q6_Vb_vsplat_R(to->limits.low);
    const HVX_Vector high = Q6_Vb_vsplat_R(to->limits.high);
    const int stores = to->step == each ? 1 : windows;

    bytes = Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, low), high);
    EMBER_HVX_UNROLL
    for (int p = 0; p < windows; p++) {
        if (p < stores && inside) {
            ember_hvx_store_any(y, bytes);
        } else if (p < stores) {
            ember_store_until_hvx(y, to->end, bytes);
        }
        bytes = Q6_V_vror_VR(bytes, each);
        y += to->step;
    }
}

INLINE void store_some(const ember_results_hvx_t *to, int8_t *y, const HVX_Vector *sums,
                       int windows, int vectors, bool inside) {
    const HVX_Vector none = Q6_V_vzero();
    const int each = vectors > 2 ? 1 : vectors == 2 ? 2 : 4; // windows of a vector

    EMBER_HVX_UNROLL
    for (int p = 0; p < windows; p += each) {
        HVX_Vector four[4];
        const int past = (p + each < windows ? p + each : windows) * vectors;
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            four[i] = p * vectors + i < past ? sums[p * vectors + i] : none;
        }
        const HVX_Vector bytes = ember_bytes_hvx(four[0], four[1], four[2], four[3]);
        store(to, y + p * to->step, bytes, 128 / each, windows < each ? windows : each,
              inside);
    }
}

INLINE void store_all(const ember_results_hvx_t *to, int8_t *y, const HVX_Vector *sums,
                      int windows, int vectors) {
    if (to->end - y >= (windows - 1) * (ptrdiff_t)to->step + EMBER_HVX) {
        store_some(to, y, sums, windows, vectors, true);
    } else {
        store_some(to, y, sums, windows, vectors, false);
    }
}

INLINE void tile(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel,
                 const ember_results_hvx_t *to, const int8_t *x, const int32_t *firsts,
                 int8_t *y, int windows, int vectors, bool otherwise) {
    HVX_Vector sums[TILE * EMBER_PANEL_HVX];

    start(s, firsts, panel->numbers + EMBER_BIAS_HVX, EMBER_NUMBERS_HVX, sums, windows,
          vectors);
    multiply(s, x, panel->weights, true, sums, windows, vectors);
    if (otherwise) {
        ember_ended_hvx(to->ending, sums, windows * vectors);
    } else if (to->shifted) {
        ember_scale_shifted_hvx(panel->numbers, Q6_V_vsplat_R(2 * to->zero_point), sums,
                                windows, vectors, false);
    } else {
        ember_scale_any_hvx(panel->numbers, Q6_V_vsplat_R(to->zero_point), sums,
                            windows, vectors);
    }
    store_all(to, y, sums, windows, vectors);
}

// A row of windows. What is left of it is done with the three windows before, unless it
// is one.
INLINE void row(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel,
                const ember_results_hvx_t *to, const int8_t *x, const int32_t *firsts,
                int8_t *y, int vectors, bool otherwise) {
    int32_t at = 0;

    while (s->columns - at >= 2 && s->columns >= TILE) {
        at = at < s->columns - TILE ? at : s->columns - TILE;
        tile(s, panel, to, x + at * s->step, firsts + at * s->firsts_step,
             y + at * to->step, TILE, vectors, otherwise);
        at += TILE;
    }
    for (; at < s->columns; at++) {
        tile(s, panel, to, x + at * s->step, firsts + at * s->firsts_step,
             y + at * to->step, 1, vectors, otherwise);
    }
}

#define ROWS(NAME, OTHERWISE)                                                          \
    static void NAME##_1(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel, \
                         const ember_results_hvx_t *to) {                              \
        rows(s, panel, to, 1, OTHERWISE);                                              \
    }                                                                                  \
    static void NAME##_2(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel, \
                         const ember_results_hvx_t *to) {                              \
        rows(s, panel, to, 2, OTHERWISE);                                              \
    }                                                                                  \
    static void NAME##_3(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel, \
                         const ember_results_hvx_t *to) {                              \
        rows(s, panel, to, 3, OTHERWISE);                                              \
    }                                                                                  \
    static void NAME##_4(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel, \
                         const ember_results_hvx_t *to) {                              \
        rows(s, panel, to, 4, OTHERWISE);                                              \
    }                                                                                  \
    static void NAME(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel,     \
                     const ember_results_hvx_t *to) {                                  \
        switch (panel->vectors) {                                                      \
        case 1:                                                                        \
            NAME##_1(s, panel, to);                                                    \
            break;                                                                     \
        case 2:                                                                        \
            NAME##_2(s, panel, to);                                                    \
            break;                                                                     \
        case 3:                                                                        \
            NAME##_3(s, panel, to);                                                    \
            break;                                                                     \
        default:                                                                       \
            NAME##_4(s, panel, to);                                                    \
            break;                                                                     \
        }                                                                              \
    }

INLINE void rows(const ember_windows_hvx_t *s, const ember_panel_hvx_t *panel,
                 const ember_results_hvx_t *to, int vectors, bool otherwise) {
    const ember_windows_hvx_t own = *s; // no store changes it
    const ember_results_hvx_t own_to = *to;

    for (int32_t i = 0; i < own.rows; i++) {
        row(&own, panel, &own_to, own.x + i * own.row, own.firsts + i * own.firsts_row,
            own_to.y + i * own_to.row, vectors, otherwise);
    }
}

ROWS(run_rows, false)
ROWS(run_otherwise, true)

void ember_windows_hvx_run(const ember_windows_hvx_t *windows,
                           const ember_panel_hvx_t *panel,
                           const ember_results_hvx_t *results) {
    if (results->ending == NULL) {
        run_rows(windows, panel, results);
    } else {
        run_otherwise(windows, panel, results);
    }
}

// --- sums only -----------------------------------------------------------------------

INLINE void sum_tile(const ember_windows_hvx_t *s, const HVX_Vector *weights,
                     const HVX_Vector *starts, const int8_t *x, const int32_t *firsts,
                     HVX_Vector *to, int windows, int vectors) {
    HVX_Vector sums[TILE * EMBER_PANEL_HVX];

    start(s, firsts, starts, 1, sums, windows, vectors);
    multiply(s, x, weights, false, sums, windows, vectors);
    EMBER_HVX_UNROLL
    for (int i = 0; i < windows * vectors; i++) {
        ember_hvx_store(to + i, sums[i]);
    }
}

INLINE void sum_row(const ember_windows_hvx_t *s, const HVX_Vector *weights,
                    const HVX_Vector *starts, const int8_t *x, const int32_t *firsts,
                    HVX_Vector *to, int vectors) {
    int32_t at = 0;

    while (s->columns - at >= 2 && s->columns >= TILE) {
        at = at < s->columns - TILE ? at : s->columns - TILE;
        sum_tile(s, weights, starts, x + at * s->step, firsts + at * s->firsts_step,
                 to + at * vectors, TILE, vectors);
        at += TILE;
    }
    for (; at < s->columns; at++) {
        sum_tile(s, weights, starts, x + at * s->step, firsts + at * s->firsts_step,
                 to + at * vectors, 1, vectors);
    }
}

#define SUMS(VECTORS)                                                                  \
    static void sums_##VECTORS(const ember_windows_hvx_t *s,                           \
                               const HVX_Vector *weights, const HVX_Vector *starts,    \
                               HVX_Vector *to) {                                       \
        for (int32_t i = 0; i < s->rows; i++) {                                        \
            sum_row(s, weights, starts, s->x + i * s->row,                             \
                    s->firsts + i * s->firsts_row, to, VECTORS);                       \
            to += s->columns * (VECTORS);                                              \
        }                                                                              \
    }

SUMS(1)
SUMS(2)
SUMS(3)
SUMS(4)

void ember_windows_hvx_sum(const ember_windows_hvx_t *windows,
                           const HVX_Vector *weights, const HVX_Vector *starts,
                           int32_t vectors, HVX_Vector *sums) {
    switch (vectors) {
    case 1:
        sums_1(windows, weights, starts, sums);
        break;
    case 2:
        sums_2(windows, weights, starts, sums);
        break;
    case 3:
        sums_3(windows, weights, starts, sums);
        break;
    default:
        sums_4(windows, weights, starts, sums);
        break;
    }
}
