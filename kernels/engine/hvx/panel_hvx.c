// SPDX-License-Identifier: Apache-2.0
// Weights become a panel. Contract: panel_hvx.h.
#include "kernels/engine/hvx/panel_hvx.h"

#include <stddef.h>

enum { LANES = EMBER_LANES_HVX, EIGHT = 8, WORD = 4 };
enum { ONES = 0x01010101 };

static int32_t inner_of(const ember_filters_hvx_t *s) {
    return s->segments * s->segment;
}

// Whether each lane's weights lie side by side as a panel wants them.
static bool is_plain(const ember_filters_hvx_t *s) {
    return s->merged == 1 && s->element == 1 && s->length == s->segment;
}

static bool is_turned(const ember_filters_hvx_t *s) {
    return s->merged == 1 && s->element != 1;
}

int32_t ember_panel_hvx_rows_bytes(const ember_filters_hvx_t *s) {
    const int32_t all = s->filters * s->merged;
    const int32_t most = EMBER_PANEL_HVX * LANES;
    const int32_t lanes = all < most ? all : most;
    return is_plain(s) || is_turned(s) ? 0 : lanes * inner_of(s) + 2 * EMBER_HVX;
}

int32_t ember_panel_hvx_bytes(const ember_filters_hvx_t *s) {
    const int32_t all = (s->filters * s->merged + LANES - 1) / LANES;
    const int32_t vectors = all < EMBER_PANEL_HVX ? all : EMBER_PANEL_HVX;
    return vectors * LANES * inner_of(s);
}

int32_t ember_panel_hvx_vector_bytes(const ember_filters_hvx_t *s) {
    return EMBER_NUMBERS_HVX * EMBER_HVX + LANES * inner_of(s);
}

// --- 32 filters by 32 words ----------------------------------------------------------

// The weights of filters as rows.
typedef struct rows {
    const int8_t *end; // of all
    int32_t step;      // from a row to the next
    int32_t inner;     // elements of each
} rows_t;

// Exchanges words of two vectors whose numbers differ in one bit.
INLINE void exchange(HVX_Vector *low, HVX_Vector *high, int32_t bytes) {
    const HVX_VectorPair both = Q6_W_vshuff_VVR(*high, *low, bytes);
    *low = Q6_V_lo_W(both);
    *high = Q6_V_hi_W(both);
}

// Rows i, i + 8, i + 16 and i + 24 become a vector for each eight words of them, up to
// `chunks`: those of the four rows side by side.
INLINE void put_four(HVX_Vector *x, HVX_Vector *to, int chunks) {
    exchange(&x[0], &x[2], 2 * EIGHT * WORD);
    exchange(&x[1], &x[3], 2 * EIGHT * WORD);
    exchange(&x[0], &x[1], EIGHT * WORD);
    exchange(&x[2], &x[3], EIGHT * WORD);
    EMBER_HVX_UNROLL
    for (int i = 0; i < chunks; i++) {
        ember_hvx_store(to, x[i]);
        to += EIGHT;
    }
}

// Up to 32 rows, of `bytes` each, eight words in a chunk. For a row that is not there
// another one is read: nothing is used of its lane.
INLINE void load_chunks(const rows_t *rows, const int8_t *w, int32_t bytes,
                        int32_t lanes, HVX_Vector *block, int chunks) {
    const ptrdiff_t eight = (ptrdiff_t)EIGHT * rows->step;

    if (lanes == LANES &&
        rows->end - w >= (LANES - 1) * (ptrdiff_t)rows->step + EMBER_HVX) {
        EMBER_HVX_ROLLED
        for (int32_t i = EIGHT; i > 0; i--) {
            HVX_Vector x[4];
            const int8_t *from = w;
            EMBER_HVX_UNROLL
            for (int n = 0; n < 4; n++) {
                x[n] = ember_hvx_load_any(from);
                from = ember_hvx_somewhere(from + eight);
            }
            put_four(x, block, chunks);
            w += rows->step;
            block++;
        }
        return;
    }
    EMBER_HVX_ROLLED
    for (int32_t left = lanes; left > lanes - EIGHT && left > 0; left--) {
        const int8_t *second = left > EIGHT ? w + eight : w;
        const int8_t *third = left > 2 * EIGHT ? w + 2 * eight : w;
        const int8_t *fourth = left > 3 * EIGHT ? w + 3 * eight : w;
        const int8_t *last = fourth > third ? fourth : third > second ? third : second;
        HVX_Vector x[4];
        if (rows->end - last >= EMBER_HVX) {
            x[0] = ember_hvx_load_any(w);
            x[1] = ember_hvx_load_any(second);
            x[2] = ember_hvx_load_any(third);
            x[3] = ember_hvx_load_any(fourth);
        } else {
            x[0] = ember_hvx_load_part(w, bytes);
            x[1] = ember_hvx_load_part(second, bytes);
            x[2] = ember_hvx_load_part(third, bytes);
            x[3] = ember_hvx_load_part(fourth, bytes);
        }
        put_four(x, block, chunks);
        w += rows->step;
        block++;
    }
}

INLINE HVX_Vector load_row(const rows_t *rows, const int8_t *w, int32_t bytes) {
    return rows->end - w >= EMBER_HVX ? ember_hvx_load_any(w)
                                      : ember_hvx_load_part(w, bytes);
}

// The same of up to 16 rows.
static void load_few(const rows_t *rows, const int8_t *w, int32_t bytes, int32_t lanes,
                     HVX_Vector *block) {
    const ptrdiff_t eight = (ptrdiff_t)EIGHT * rows->step;

    for (int32_t left = lanes; left > lanes - EIGHT && left > 0; left--) {
        HVX_Vector low = load_row(rows, w, bytes), high = low;
        if (left > EIGHT) {
            high = load_row(rows, w + eight, bytes);
        }
        exchange(&low, &high, EIGHT * WORD);
        ember_hvx_store(block, low);
        ember_hvx_store(block + EIGHT, high);
        ember_hvx_store(block + 2 * EIGHT, Q6_V_vror_VR(low, 2 * EIGHT * WORD));
        ember_hvx_store(block + 3 * EIGHT, Q6_V_vror_VR(high, 2 * EIGHT * WORD));
        w += rows->step;
        block++;
    }
}

// Eight words of 32 lanes, the first `count` of them, to the panel, whose vectors are
// `step` apart; adds them up.
static HVX_Vector store_chunk(const HVX_Vector *block, HVX_Vector *to, int32_t step,
                              int32_t count, HVX_Vector sum) {
    const HVX_Vector flip = Q6_Vb_vsplat_R(INT8_MIN);
    HVX_Vector x[EIGHT];

    EMBER_HVX_UNROLL
    for (int i = 0; i < EIGHT; i++) {
        x[i] = Q6_V_vxor_VV(ember_hvx_load(block + i), flip);
    }
    EMBER_HVX_UNROLL
    for (int bit = 1; bit < EIGHT; bit *= 2) {
        EMBER_HVX_UNROLL
        for (int i = 0; i < EIGHT; i++) {
            if ((i & bit) == 0) {
                exchange(&x[i], &x[i + bit], bit * WORD);
            }
        }
    }
    EMBER_HVX_UNROLL
    for (int i = 0; i < EIGHT; i += 2) { // rows are multiples of EMBER_STEP_HVX
        if (i < count) {
            ember_hvx_store(to, x[i]);
            ember_hvx_store(to + step, x[i + 1]);
            sum = Q6_Vw_vrmpyacc_VwVubRb(sum, x[i], ONES);
            sum = Q6_Vw_vrmpyacc_VwVubRb(sum, x[i + 1], ONES);
            to += 2 * step;
        }
    }
    return sum;
}

// Packs up to 32 lanes. Returns the sums of what is in the panel.
static HVX_Vector pack_lanes(const rows_t *rows, const int8_t *w, int32_t lanes,
                             HVX_Vector *block, HVX_Vector *to, int32_t vectors) {
    HVX_Vector sum = Q6_V_vzero();

    for (int32_t left = rows->inner; left > 0; left -= EMBER_HVX) {
        const int32_t bytes = left < EMBER_HVX ? left : EMBER_HVX;
        if (lanes <= 2 * EIGHT) {
            load_few(rows, w, bytes, lanes, block);
        } else if (bytes <= EIGHT * WORD) {
            load_chunks(rows, w, bytes, lanes, block, 1);
        } else if (bytes <= 2 * EIGHT * WORD) {
            load_chunks(rows, w, bytes, lanes, block, 2);
        } else {
            load_chunks(rows, w, bytes, lanes, block, 4);
        }
        for (int32_t at = 0; at < bytes / WORD; at += EIGHT) {
            sum = store_chunk(block + at, to, vectors, bytes / WORD - at, sum);
            to += EIGHT * vectors;
        }
        to -= (-(bytes / WORD) & (EIGHT - 1)) * vectors;
        w += EMBER_HVX;
    }
    return sum;
}

// --- filters that are merged, moved or filled up -------------------------------------

// Copies a run of weights, and zeros behind them, up to a vector.
static void copy_run(int8_t *to, const int8_t *from, int32_t count, int32_t step) {
    int32_t at = 0;

    if (step != 1) {
        for (int32_t i = 0; i < count; i++) {
            to[i] = from[i * step];
        }
        return;
    }
    for (; at + EMBER_HVX <= count; at += EMBER_HVX) {
        ember_hvx_store_any(to + at, ember_hvx_load_any(from + at));
    }
    if (at < count) {
        const HVX_Vector last = ember_hvx_load_part(from + at, count - at);
        ember_hvx_store_any(to + at, Q6_V_vand_QV(Q6_Q_vsetq_R(count - at), last));
    }
}

// The weights of lanes [first, first + lanes) of merged windows as rows. What is stored
// behind a segment belongs to the next.
static void make_rows(const ember_filters_hvx_t *s, int8_t *rows, int32_t first,
                      int32_t lanes) {
    for (int32_t lane = first; lane < first + lanes; lane++) {
        const int32_t output = lane / s->filters;
        const int8_t *w = s->w + (ptrdiff_t)(lane - output * s->filters) * s->filter;
        for (int32_t i = 0; i < s->segments; i++) {
            for (int32_t at = 0; at < s->segment; at += EMBER_HVX) {
                ember_hvx_store_any(rows + at, Q6_V_vzero());
            }
            copy_run(rows + output * s->shift, w, s->length, s->element);
            rows += s->segment;
            w += (ptrdiff_t)s->length * s->element;
        }
    }
}

// --- filters whose weights of an element lie side by side ----------------------------

// The weights of an element.
typedef struct element {
    const int8_t *w;
    const int8_t *end; // of all weights
    int32_t left;      // channels of its tap from this one on
} element_t;

// Channel by channel, tap by tap.
INLINE void advance(const ember_filters_hvx_t *s, element_t *at) {
    at->w += s->channel;
    if (--at->left == 0) {
        at->left = s->depth;
        at->w += s->element - (ptrdiff_t)s->depth * s->channel;
    }
}

// Four weights of up to 128 filters; 0 for elements without one.
static void load_elements(const ember_filters_hvx_t *s, element_t *at, int32_t left,
                          int32_t lanes, HVX_Vector *x) {
    EMBER_HVX_UNROLL
    for (int i = 0; i < EMBER_GROUP_HVX; i++) {
        x[i] = Q6_V_vzero();
        if (i < left) {
            x[i] = at->end - at->w >= EMBER_HVX ? ember_hvx_load_any(at->w)
                                                : ember_hvx_load_part(at->w, lanes);
            advance(s, at);
        }
    }
}

// Packs the filters from `first` on; `sums` become those of what is in the panel.
static void pack_turned(const ember_filters_hvx_t *s, HVX_Vector *to, int32_t vectors,
                        int32_t first, int32_t lanes, HVX_Vector *sums) {
    const HVX_Vector flip = Q6_Vb_vsplat_R(INT8_MIN);
    const int8_t *end = s->w + (ptrdiff_t)s->segments * s->length * s->filters;
    element_t element = {s->w + first, end, s->depth};

    for (int32_t i = 0; i < s->segments; i++) {
        for (int32_t at = 0; at < s->segment; at += EMBER_GROUP_HVX) {
            HVX_Vector x[EMBER_GROUP_HVX];
            load_elements(s, &element, s->length - at, lanes, x);
            const HVX_VectorPair a = Q6_W_vshuff_VVR(x[1], x[0], -1);
            const HVX_VectorPair b = Q6_W_vshuff_VVR(x[3], x[2], -1);
            const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(b), Q6_V_lo_W(a), -2);
            const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(b), Q6_V_hi_W(a), -2);
            const HVX_Vector words[] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high),
                                        Q6_V_hi_W(high)};
            for (int32_t v = 0; v < vectors; v++) {
                const HVX_Vector word = Q6_V_vxor_VV(words[v], flip);
                ember_hvx_store(to++, word);
                sums[v] = Q6_Vw_vrmpyacc_VwVubRb(sums[v], word, ONES);
            }
        }
    }
}

// --- numbers -------------------------------------------------------------------------

// Numbers of lanes [first, first + lanes); those of merged windows repeat.
static HVX_Vector numbers_of(const int32_t *all, int32_t filters, int32_t first,
                             int32_t lanes, HVX_Vector *room) {
    int32_t *to = (int32_t *)(void *)room;

    if (first + lanes <= filters) {
        return ember_hvx_load_part(all + first, lanes * WORD);
    }
    int32_t at = first % filters;
    for (int32_t i = 0; i < lanes; i++) {
        to[i] = all[at];
        at = at + 1 < filters ? at + 1 : 0;
    }
    return ember_hvx_load(room);
}

// `sums` are of weights to which 128 was added.
static void set_numbers(const ember_filters_hvx_t *s, const ember_terms_hvx_t *terms,
                        int32_t first, int32_t lanes, HVX_Vector sums,
                        HVX_Vector *numbers) {
    const int32_t added = 128 * inner_of(s);
    const uint32_t offset = (uint16_t)terms->x_offset;
    HVX_Vector bias = Q6_Vw_vsub_VwVw(sums, Q6_V_vsplat_R(added));

    bias = Q6_Vw_vmpyi_VwRh(bias, (int32_t)(offset << 16 | offset));
    bias = Q6_Vw_vadd_VwVw(bias, Q6_V_vsplat_R(terms->constant));
    if (terms->bias != NULL) {
        bias = Q6_Vw_vadd_VwVw(
            bias, numbers_of(terms->bias, s->filters, first, lanes, numbers));
    }
    const int32_t filters = terms->one ? 1 : s->filters;
    const int32_t at = terms->one ? filters : first;
    const HVX_Vector multipliers =
        numbers_of(terms->multipliers, filters, at, lanes, numbers);
    const HVX_Vector shifts = numbers_of(terms->shifts, filters, at, lanes, numbers);
    const ember_factors_hvx_t by = ember_factors_hvx(multipliers, shifts);
    ember_hvx_store(numbers + EMBER_BIAS_HVX, bias);
    ember_hvx_store(numbers + EMBER_MULTIPLIERS_HVX, by.multipliers);
    ember_hvx_store(numbers + EMBER_SHIFTS_HVX, by.shifts);
    ember_hvx_store(numbers + EMBER_HALVES_HVX, by.halves);
    ember_hvx_store(numbers + EMBER_WHOLE_HVX, by.whole);
}

ember_panel_hvx_t ember_panel_hvx_pack(const ember_filters_hvx_t *s,
                                       const ember_terms_hvx_t *terms, int32_t first,
                                       const ember_panel_memory_hvx_t *memory) {
    const int32_t left = s->filters * s->merged - first;
    const int32_t most = EMBER_PANEL_HVX * LANES;
    const int32_t lanes = left < most ? left : most;
    const int32_t vectors = (lanes + LANES - 1) / LANES;
    const bool plain = is_plain(s);
    const bool turned = is_turned(s);
    const int32_t inner = inner_of(s);
    const int32_t filter = plain ? s->filter : inner;
    HVX_Vector sums[EMBER_PANEL_HVX] = {Q6_V_vzero(), Q6_V_vzero(), Q6_V_vzero(),
                                        Q6_V_vzero()};
    const int8_t *w = plain ? s->w + (ptrdiff_t)first * filter : memory->rows;
    const rows_t rows = {
        .end = plain ? s->w + (ptrdiff_t)s->filters * filter
                     : w + (ptrdiff_t)lanes * inner + EMBER_HVX,
        .step = filter,
        .inner = inner,
    };

    if (turned) {
        pack_turned(s, memory->weights, vectors, first, lanes, sums);
    } else if (!plain) {
        make_rows(s, memory->rows, first, lanes);
    }
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t some = lanes - v * LANES < LANES ? lanes - v * LANES : LANES;
        if (!turned) {
            sums[v] =
                pack_lanes(&rows, w, some, memory->block, memory->weights + v, vectors);
        }
        set_numbers(s, terms, first + v * LANES, some, sums[v],
                    memory->numbers + v * EMBER_NUMBERS_HVX);
        w += (ptrdiff_t)LANES * filter;
    }
    return (ember_panel_hvx_t){memory->weights, memory->numbers, vectors};
}
