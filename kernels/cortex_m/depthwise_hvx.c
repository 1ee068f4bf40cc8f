// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with Hexagon's vectors. Contract: depthwise_hvx.h.
#include "kernels/cortex_m/depthwise_hvx.h"

#include "kernels/cortex_m/padded_hvx.h"
#include "kernels/cortex_m/worth_hvx.h"

#include <stddef.h>

enum { WORD = 4, FOUR = 4, WORDS = FOUR * EMBER_HVX }; // bytes of 128 words
enum { BYTES_MAX = 1 << 28, MOST = 1 << 20, TWO = 2 };
enum { ONES = 0x01010101 };
enum { ELEMENTS_FOR_WEIGHT = 16 }; // that make a second set worth it
enum { AT_ONCE = 32 };             // blocks, before doubts about results are settled

static int64_t vectors(int64_t bytes) {
    return (bytes + EMBER_HVX - 1) / EMBER_HVX * EMBER_HVX;
}

// --- the plan ------------------------------------------------------------------------

// Bytes from the first aligned one of scratch to its parts.
typedef struct places {
    int64_t offsets; // of taps in `words`
    int64_t weights; // (sharing, groups, columns of taps, period) words
    int64_t numbers; // (period / 128, FOUR, EMBER_NUMBERS_HVX) vectors
    int64_t line;    // numbers of one kind, or weights of a row of taps
    int64_t nearest; // AT_ONCE vectors, of an ending
    int64_t words;   // (groups, row) words
    int64_t image;
    int64_t all;
} places_t;

static places_t places_of(const ember_depthwise_hvx_t *s) {
    const int64_t taps = (int64_t)s->groups * s->conv.width.kernel;
    const int64_t line = s->period * (int64_t)WORD;
    places_t at = {.offsets = 0};

    at.weights = vectors(taps * WORD);
    at.numbers = at.weights + s->sharing * taps * line;
    at.line = at.numbers + line * EMBER_NUMBERS_HVX;
    at.nearest = at.line + (s->packed != NULL ? 0 : FOUR * line + EMBER_HVX);
    at.words = at.nearest + (s->conv.rows == EMBER_ROWS_REAL ? AT_ONCE * EMBER_HVX : 0);
    at.image = at.words + (int64_t)s->groups * s->pitch * WORD + 2 * WORDS;
    at.all = at.image + (int64_t)s->rows * s->pitch + 3 * EMBER_HVX;
    return at;
}

// How many weights of a tap are there: all channels as often as it takes until 128
// outputs start with the first one again, but no more than a row of outputs has.
static int32_t period_of(const ember_conv_s8_t *conv) {
    const int32_t even = conv->channels & -conv->channels;
    const int64_t times = even < EMBER_HVX ? EMBER_HVX / even : 1;
    const int64_t row = vectors((int64_t)conv->width.out * conv->channels);
    const int64_t period = times * conv->channels;
    return (int32_t)(period < row ? period : row);
}

// Whether two rows of outputs may have the same words, and are so long that it pays to
// make weights for both.
static bool is_worth_sharing(const ember_depthwise_hvx_t *s, int64_t columns) {
    const ember_conv_s8_axis_t *h = &s->conv.height;
    const int64_t weights = (int64_t)s->period * s->conv.width.kernel;

    return h->kernel < FOUR && h->stride == 1 && h->dilation == 1 &&
           h->out * columns * s->conv.channels > ELEMENTS_FOR_WEIGHT * weights;
}

static bool plan(ember_depthwise_hvx_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *h = &conv->height, *w = &conv->width;
    const int64_t rows =
        (int64_t)(h->out - 1) * h->stride + (int64_t)(h->kernel - 1) * h->dilation + 1;
    const int64_t reach = (int64_t)(w->kernel - 1) * w->dilation;
    const int64_t columns = w->out + reach / w->stride;

    if (conv->channels > MOST || ember_conv_s8_taps(conv) > MOST || rows > MOST ||
        columns > MOST || w->stride > MOST || h->out < 1 || w->out < 1 ||
        columns * w->stride * conv->channels > BYTES_MAX) {
        return false;
    }
    s->groups = (h->kernel + FOUR - 1) / FOUR;
    if (s->packed == NULL) {
        s->period = period_of(conv);
        s->sharing = is_worth_sharing(s, columns) ? 2 : 1;
    }
    s->columns = (int32_t)columns;
    s->rows = w->stride == 1 ? 1 : (int32_t)rows + s->sharing - 1;
    s->pitch = (int32_t)vectors(columns * w->stride * conv->channels);
    return (int64_t)s->rows * s->pitch < BYTES_MAX && places_of(s).all < BYTES_MAX;
}

// Whether there are enough outputs for what weights and rows take.
static bool pays(const ember_depthwise_hvx_t *s) {
    const int64_t weights = (int64_t)s->groups * s->conv.width.kernel * s->period;
    const int64_t rows = (int64_t)s->groups * s->conv.batches * s->conv.height.out;
    const int64_t packets = 1400 + 400 * weights / EMBER_HVX + 300 * rows;
    return ember_packets_of_depthwise(&s->conv) >= packets;
}

static ember_status_t prepare(ember_depthwise_hvx_t *s, ember_node_t *node,
                              int64_t room) {
    const ember_conv_s8_t *conv = &s->conv;

    if (conv->filters != conv->channels || conv->x_offset == INT8_MIN ||
        conv->rows < EMBER_ROWS_RIGHT || conv->over || !plan(s) ||
        (s->packed == NULL && !pays(s))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: sizes");
    }
    const int64_t bytes = places_of(s).all + EMBER_HVX;
    s->scratch = ember_node_scratch(node, (size_t)(bytes + room));
    s->room = s->scratch == NULL ? NULL : s->scratch + bytes;
    return ember_node_status(node);
}

ember_status_t ember_depthwise_hvx_prepare(ember_depthwise_hvx_t *s, ember_node_t *node,
                                           int64_t room) {
    s->packed = NULL;
    return prepare(s, node, room);
}

ember_status_t ember_depthwise_hvx_prepare_packed(ember_depthwise_hvx_t *s,
                                                  ember_node_t *node,
                                                  const int8_t *packed) {
    s->packed = packed;
    return prepare(s, node, 0);
}

// --- four rows side by side ----------------------------------------------------------

// Words of elements i of a, b, c and d, in order.
INLINE void interleave(HVX_Vector a, HVX_Vector b, HVX_Vector c, HVX_Vector d,
                       int8_t *words) {
    const HVX_VectorPair first = Q6_W_vshuff_VVR(b, a, -1);
    const HVX_VectorPair second = Q6_W_vshuff_VVR(d, c, -1);
    const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(second), Q6_V_lo_W(first), -2);
    const HVX_VectorPair high =
        Q6_W_vshuff_VVR(Q6_V_hi_W(second), Q6_V_hi_W(first), -2);
    ember_hvx_store_any(words, Q6_V_lo_W(low));
    ember_hvx_store_any(words + EMBER_HVX, Q6_V_hi_W(low));
    ember_hvx_store_any(words + 2 * EMBER_HVX, Q6_V_lo_W(high));
    ember_hvx_store_any(words + 3 * EMBER_HVX, Q6_V_hi_W(high));
}

// Up to a vector of words behind the last is clobbered.
static void interleave_rows(const int8_t *const *rows, int32_t count, int8_t *words) {
    const int8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    const int32_t rest = count % EMBER_HVX;

    for (int32_t i = count / EMBER_HVX; i > 0; i--) {
        interleave(ember_hvx_load_any(a), ember_hvx_load_any(b), ember_hvx_load_any(c),
                   ember_hvx_load_any(d), words);
        a += EMBER_HVX;
        b += EMBER_HVX;
        c += EMBER_HVX;
        d += EMBER_HVX;
        words += WORDS;
    }
    if (rest > 0) {
        interleave(ember_hvx_load_part(a, rest), ember_hvx_load_part(b, rest),
                   ember_hvx_load_part(c, rest), ember_hvx_load_part(d, rest), words);
    }
}

// --- weights and numbers -------------------------------------------------------------

// Copies `count` bytes to the start of a line of `most`, which they then fill: what is
// there is copied behind itself. Up to a vector behind the line is clobbered.
static void repeat(int8_t *to, const int8_t *from, int32_t count, int32_t most) {
    (void)ember_copy_hvx(to, from, count < most ? count : most);
    for (int32_t made = count; made < most; made *= 2) {
        const int32_t past = made < most - made ? made : most - made;
        for (int32_t at = 0; at < past; at += EMBER_HVX) {
            ember_hvx_store_any(to + made + at, ember_hvx_load_any(to + at));
        }
    }
}

// Weights of column `x` of four rows of taps from `first` on; 0 where there is none.
static void set_weights(const ember_depthwise_hvx_t *s, int32_t first, int32_t x,
                        int8_t *line, HVX_Vector *to) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *rows[FOUR];

    for (int32_t i = 0; i < FOUR; i++) {
        const int32_t y = first + i;
        int8_t *row = line + i * s->period;
        rows[i] = row;
        if (y >= 0 && y < conv->height.kernel) {
            const ptrdiff_t tap = (ptrdiff_t)y * conv->width.kernel + x;
            const int8_t *w = conv->w + tap * conv->channels;
            if (s->period == conv->channels) {
                rows[i] = w;
            } else {
                repeat(row, w, conv->channels, s->period);
            }
        } else {
            (void)ember_fill_hvx(row, Q6_V_vzero(), s->period);
        }
    }
    interleave_rows(rows, s->period, (int8_t *)to);
}

// Numbers of a kind, one for each weight of a tap, to every EMBER_NUMBERS_HVX-th
// vector.
static void set_numbers(const ember_depthwise_hvx_t *s, const int32_t *from,
                        int8_t *line, HVX_Vector *to) {
    repeat(line, (const int8_t *)from, s->conv.channels * WORD, s->period * WORD);
    for (int32_t at = 0; at < s->period * WORD; at += EMBER_HVX) {
        ember_hvx_store(to, ember_hvx_load(line + at));
        to += EMBER_NUMBERS_HVX;
    }
}

// The bias, and the offset of the image times the sum of the weights.
static void finish_numbers(const ember_depthwise_hvx_t *s, const HVX_Vector *weights,
                           HVX_Vector *numbers) {
    const int32_t taps = s->groups * s->conv.width.kernel;
    const int32_t count = s->period / 32;
    const uint32_t offset = (uint16_t)s->conv.x_offset;
    const HVX_Vector ones = Q6_V_vsplat_R(ONES);

    for (int32_t i = 0; i < count; i++) {
        HVX_Vector *own = numbers + i * EMBER_NUMBERS_HVX;
        HVX_Vector sum = Q6_V_vzero();
        for (int32_t tap = 0; tap < taps; tap++) {
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, ember_hvx_load(weights + tap * count + i),
                                        ones);
        }
        sum = Q6_Vw_vmpyi_VwRh(sum, (int32_t)(offset << 16 | offset));
        if (s->conv.scales.bias != NULL) {
            sum = Q6_Vw_vadd_VwVw(sum, ember_hvx_load(own + EMBER_BIAS_HVX));
        }
        const ember_factors_hvx_t by =
            ember_factors_hvx(ember_hvx_load(own + EMBER_MULTIPLIERS_HVX),
                              ember_hvx_load(own + EMBER_SHIFTS_HVX));
        ember_hvx_store(own + EMBER_BIAS_HVX, sum);
        ember_hvx_store(own + EMBER_HALVES_HVX, by.halves);
        ember_hvx_store(own + EMBER_WHOLE_HVX, by.whole);
    }
}

static void set_filters(const ember_depthwise_hvx_t *s, int8_t *scratch, places_t at) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    HVX_Vector *weights = (HVX_Vector *)(void *)(scratch + at.weights);
    HVX_Vector *numbers = (HVX_Vector *)(void *)(scratch + at.numbers);
    HVX_Vector *to = weights;
    int8_t *line = scratch + at.line;

    for (int32_t group = 0; group < s->groups; group++) {
        for (int32_t x = 0; x < s->conv.width.kernel; x++) {
            set_weights(s, group * FOUR, x, line, to);
            to += s->period / 32;
        }
    }
    for (int32_t x = 0; s->sharing > 1 && x < s->conv.width.kernel; x++) {
        set_weights(s, -1, x, line, to); // a row further down
        to += s->period / 32;
    }
    if (scales->bias != NULL) {
        set_numbers(s, scales->bias, line, numbers + EMBER_BIAS_HVX);
    }
    if (s->conv.rows != EMBER_ROWS_REAL) {
        set_numbers(s, scales->multipliers, line, numbers + EMBER_MULTIPLIERS_HVX);
        set_numbers(s, scales->shifts, line, numbers + EMBER_SHIFTS_HVX);
    }
    finish_numbers(s, weights, numbers);
}

// The weights, numbers behind them, where vectors can read them.
static const int8_t *filters_of(const ember_depthwise_hvx_t *s, int8_t *scratch,
                                places_t at) {
    if (s->packed == NULL) {
        set_filters(s, scratch, at);
    } else if ((uintptr_t)s->packed % EMBER_HVX != 0) {
        (void)ember_copy_hvx(scratch + at.weights, s->packed, at.line - at.weights);
    } else {
        return s->packed;
    }
    return scratch + at.weights;
}

// --- the image -----------------------------------------------------------------------

// `count` pixels of the image that are `step` bytes apart, side by side. Bytes behind
// the last, up to a vector, are clobbered.
static int8_t *copy(int8_t *to, const int8_t *x, int32_t pixel, int32_t step,
                    int32_t count, const int8_t *end) {
    const ptrdiff_t all = (ptrdiff_t)count * step;
    const ptrdiff_t near = end - x - (EMBER_HVX - 1); // whole vectors start before it
    const ptrdiff_t whole = pixel > EMBER_HVX ? 0 : near < all ? near : all;
    ptrdiff_t at = 0;

    for (; at < whole; at += step) {
        ember_hvx_store_any(to, ember_hvx_load_any(x + at));
        to += pixel;
    }
    for (; at < all; at += step) {
        for (int32_t i = 0; i < pixel; i += EMBER_HVX) {
            const ptrdiff_t left = end - x - at - i;
            const HVX_Vector some = ember_load_left_hvx(
                x + at + i, left < EMBER_HVX ? (int32_t)left : EMBER_HVX);
            ember_hvx_store_any(to + i, some);
        }
        to += pixel;
    }
    return to;
}

// The same of every second pixel, where pixels are a power of two up to half a vector.
static int8_t *copy_second(int8_t *to, const int8_t *x, int32_t pixel, int32_t count,
                           const int8_t *end) {
    const int32_t bytes = count * pixel;

    for (int32_t at = 0; at < bytes; at += EMBER_HVX) {
        const ptrdiff_t left = end - x;
        const int32_t some = left < TWO * EMBER_HVX ? (int32_t)left : TWO * EMBER_HVX;
        const HVX_Vector low = ember_load_left_hvx(x, some);
        const HVX_Vector high =
            some > EMBER_HVX ? ember_load_left_hvx(x + EMBER_HVX, some - EMBER_HVX)
                             : low;
        ember_hvx_store_any(to + at, Q6_V_lo_W(Q6_W_vdeal_VVR(high, low, -pixel)));
        x += TWO * EMBER_HVX;
    }
    return to + bytes;
}

// Columns before one of an axis that each part has: `count`, and one less from part
// `part` on.
typedef struct columns_before {
    int32_t count;
    int32_t part;
} columns_before_t;

static columns_before_t columns_before(int32_t column, int32_t stride) {
    const int32_t count = (column + stride - 1) / stride;
    return (columns_before_t){count, column - (count - 1) * stride};
}

// What is the same in all rows of the image.
typedef struct sides {
    columns_before_t image; // before the image
    columns_before_t end;   // and its end
    HVX_Vector padding;
} sides_t;

static int32_t limited(int32_t value, int32_t most) {
    value = value < 0 ? 0 : value;
    return value > most ? most : value;
}

static int32_t columns_of(columns_before_t before, int32_t part, int32_t most) {
    return limited(before.count - (part >= before.part ? 1 : 0), most);
}

// A row of the image to the parts of a row: of each `stride`-th column, from `first`
// on, with padding before and behind.
static int8_t *set_part(const ember_depthwise_hvx_t *s, const sides_t *sides,
                        const int8_t *x, int32_t first, int8_t *to) {
    const ember_conv_s8_axis_t *w = &s->conv.width;
    const int32_t channels = s->conv.channels;
    const int32_t stride = w->stride;
    const int8_t *end = x + (ptrdiff_t)w->in * channels;
    // Columns of the part are at first - padding + i * stride in the image.
    const int32_t before = columns_of(sides->image, first, s->columns);
    const int32_t past = columns_of(sides->end, first, s->columns);
    const int32_t count = past > before ? past - before : 0;
    const int32_t at = before * stride + first - w->padding;
    const bool is_even = stride == TWO && TWO * channels <= EMBER_HVX &&
                         (channels & (channels - 1)) == 0;

    to = ember_fill_hvx(to, sides->padding, before * channels);
    x += (ptrdiff_t)at * channels;
    to = is_even ? copy_second(to, x, channels, count, end)
                 : copy(to, x, channels, stride * channels, count, end);
    return ember_fill_hvx(to, sides->padding, (s->columns - before - count) * channels);
}

static void set_row(const ember_depthwise_hvx_t *s, const sides_t *sides,
                    const int8_t *x, int8_t *to) {
    if (x == NULL) {
        (void)ember_fill_hvx(to, sides->padding, s->pitch);
        return;
    }
    for (int32_t first = 0; first < s->conv.width.stride; first++) {
        to = set_part(s, sides, x, first, to);
    }
}

// The rows of an image; with a stride of 1, which reads them where they are, only one
// of what stands around it.
static void set_image(const ember_depthwise_hvx_t *s, const sides_t *sides,
                      const int8_t *x, int8_t *to) {
    const ember_conv_s8_axis_t *h = &s->conv.height;
    const ptrdiff_t pitch = (ptrdiff_t)s->conv.width.in * s->conv.channels;

    if (s->conv.width.stride == 1) {
        set_row(s, sides, NULL, to);
        return;
    }
    for (int32_t i = 0; i < s->rows; i++) {
        const int32_t y = i - h->padding;
        set_row(s, sides, y < 0 || y >= h->in ? NULL : x + y * pitch, to);
        to += s->pitch;
    }
}

// --- products ------------------------------------------------------------------------

// What the outputs of a row have in common.
typedef struct row {
    const int8_t *words;
    const int32_t *offsets; // bytes, of each tap
    int32_t taps;
    int32_t next;    // bytes from the weights of a tap to the next's
    int32_t periods; // whole ones of blocks
    int32_t more;    // blocks
    bool shifted;    // by all filters: none of their shifts is 0
    HVX_Vector zero_point;
    HVX_Vector zeros; // twice the zero point
    HVX_Vector low;
    HVX_Vector high;
    const int8_t *end;                // of y
    const ember_ending_hvx_t *ending; // NULL: the factors among the numbers
    HVX_Vector *nearest; // of each of up to AT_ONCE blocks, to its next results
} row_t;

// Stores the sums of `blocks` times 128 outputs, scaled, or as results of an ending.
// `inside`: none is beyond the end.
INLINE void store_blocks(const row_t *row, const HVX_Vector *words, int8_t *y,
                         int32_t step, int blocks, bool results, bool inside) {
    HVX_Vector bytes[4];

    EMBER_HVX_UNROLL
    for (int n = 0; n < blocks; n++) {
        const HVX_Vector *own = words + n * FOUR;
        if (results) {
            bytes[n] =
                ember_result_bytes_hvx(row->ending, own[0], own[1], own[2], own[3]);
            continue;
        }
        const HVX_Vector all = ember_bytes_hvx(own[0], own[1], own[2], own[3]);
        bytes[n] = Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(all, row->low), row->high);
    }
    if (inside || row->end - (y + (blocks - 1) * step) >= EMBER_HVX) {
        EMBER_HVX_UNROLL
        for (int n = 0; n < blocks; n++) {
            ember_hvx_store_any(y + n * step, bytes[n]);
        }
        return;
    }
    for (int n = 0; n < blocks; n++) {
        ember_store_until_hvx(y + n * step, row->end, bytes[n]);
    }
}

// The sums of `blocks` times 128 outputs, which are `step` apart, with the weights from
// `weights` on.
INLINE void add_blocks(const row_t *row, const int8_t *words, const int8_t *weights,
                       const HVX_Vector *numbers, int32_t step, int blocks,
                       HVX_Vector *sums) {
    const int32_t *offsets = row->offsets;
    const HVX_Vector *own = numbers;

    EMBER_HVX_UNROLL
    for (int v = 0; v < FOUR; v++) {
        const HVX_Vector bias = ember_hvx_load(own + EMBER_BIAS_HVX);
        EMBER_HVX_UNROLL
        for (int n = 0; n < blocks; n++) {
            sums[n * FOUR + v] = bias;
        }
        own = ember_hvx_somewhere(own + EMBER_NUMBERS_HVX);
    }
    EMBER_HVX_ROLLED
    for (int32_t tap = row->taps; tap > 0; tap--) {
        const int8_t *from[4];
        EMBER_HVX_UNROLL
        for (int n = 0; n < blocks; n++) {
            from[n] = words + *offsets + n * step * WORD;
        }
        offsets++;
        EMBER_HVX_UNROLL
        for (int v = 0; v < FOUR; v++) {
            const HVX_Vector w = ember_hvx_load(weights + v * EMBER_HVX);
            EMBER_HVX_UNROLL
            for (int n = 0; n < blocks; n++) {
                const HVX_Vector x = ember_hvx_load_any(from[n]);
                sums[n * FOUR + v] = Q6_Vw_vrmpyacc_VwVbVb(sums[n * FOUR + v], x, w);
                from[n] = ember_hvx_somewhere(from[n] + EMBER_HVX);
            }
        }
        weights += row->next;
    }
}

INLINE bool is_in_doubt(const row_t *row, HVX_Vector nearest) {
    return ember_is_any_below_hvx(nearest, row->ending->doubt);
}

// The least of `count` vectors, up to four.
INLINE HVX_Vector least_of(const HVX_Vector *nearest, int32_t count) {
    HVX_Vector least = ember_hvx_load(nearest);

    for (int32_t i = 1; i < count; i++) {
        least = Q6_Vw_vmin_VwVw(least, ember_hvx_load(nearest + i));
    }
    return least;
}

// Outputs of a block that has `counts` of doubts: mostly one.
INLINE void settle(const row_t *row, HVX_Vector *sums, HVX_Vector counts, int8_t *y) {
    const ember_ending_hvx_t *ending = row->ending;
    int8_t results[FOUR];

    if (ember_last_count_hvx(counts) != WORD) {
        ending->exact(ending, sums, FOUR);
        store_blocks(row, sums, y, 0, 1, false, false);
        return;
    }
    const HVX_Vector before =
        Q6_Vb_prefixsum_Q(Q6_Q_vcmp_eq_VwVw(counts, Q6_V_vzero()));
    const int32_t lane = ember_last_count_hvx(before) / WORD;
    ending->lane(ending, (const int32_t *)(const void *)sums + lane, results);
    y += lane;
    for (int32_t v = 0; v < FOUR; v++, y += EMBER_HVX / WORD) {
        if (y < row->end) {
            *y = results[v];
        }
    }
}

// Those of `blocks` that the ending left in doubt, exactly.
static __attribute__((noinline)) void again(const row_t *row, const int8_t *words,
                                            const int8_t *weights,
                                            const HVX_Vector *numbers, int8_t *y,
                                            int32_t step, int32_t blocks) {
    const HVX_Vector *nearest = row->nearest;

    for (int32_t n = 0; n < blocks; n++) {
        if (n % 4 == 0 && blocks - n >= 4 &&
            !is_in_doubt(row, least_of(nearest + n, 4))) {
            n += 3;
            continue;
        }
        const HVX_Vector counts =
            ember_counts_below_hvx(ember_hvx_load(nearest + n), row->ending->doubt);
        if (ember_last_count_hvx(counts) != 0) {
            HVX_Vector sums[FOUR];
            add_blocks(row, words + n * step * WORD, weights, numbers, step, 1, sums);
            settle(row, sums, counts, y + n * step);
        }
    }
}

// Four neighbouring outputs of 128 channels with three neighbouring taps of one group
// of rows: what an output has from its second tap on is what the next has before.
// `nearest`: of an ending, or NULL.
INLINE void three(const row_t *row, const int8_t *words, const int8_t *weights,
                  const HVX_Vector *numbers, int8_t *y, int32_t step,
                  HVX_Vector *nearest) {
    const HVX_Vector *own = numbers;
    HVX_Vector sums[4 * FOUR];

    EMBER_HVX_UNROLL
    for (int n = 0; nearest != NULL && n < 4; n++) {
        nearest[n] = ember_hvx_load(&row->ending->fraction);
    }
    EMBER_HVX_UNROLL
    for (int v = 0; v < FOUR; v++) {
        const int8_t *from = words + v * EMBER_HVX;
        const int8_t *by = weights + v * EMBER_HVX;
        const HVX_Vector bias = ember_hvx_load(own + EMBER_BIAS_HVX);
        const HVX_Vector first = ember_hvx_load(by);
        const HVX_Vector second = ember_hvx_load(by + row->next);
        const HVX_Vector third = ember_hvx_load(by + 2 * row->next);
        const HVX_Vector multipliers = ember_hvx_load(own + EMBER_MULTIPLIERS_HVX);
        const HVX_Vector halves = ember_hvx_load(own + EMBER_HALVES_HVX);
        HVX_Vector x[6];
        EMBER_HVX_UNROLL
        for (int n = 0; n < 6; n++) {
            x[n] = ember_hvx_load(from + n * step * WORD);
        }
        EMBER_HVX_UNROLL
        for (int n = 0; n < 4; n++) {
            HVX_Vector sum = Q6_Vw_vrmpyacc_VwVbVb(bias, x[n], first);
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x[n + 1], second);
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x[n + 2], third);
            sums[n * FOUR + v] =
                nearest != NULL
                    ? ember_result_hvx(row->ending, sum, &nearest[n])
                    : ember_shifted_hvx(sum, multipliers, halves, row->zeros);
        }
        own = ember_hvx_somewhere(own + EMBER_NUMBERS_HVX);
    }
    store_blocks(row, sums, y, step, 4, nearest != NULL, true);
}

// `fours` times four. Apart, like the others, for the sake of registers and of a frame
// that does not have to be aligned.
static __attribute__((noinline)) void run_threes(const row_t *row, const int8_t *words,
                                                 const int8_t *weights,
                                                 const HVX_Vector *numbers, int8_t *y,
                                                 int32_t step, int32_t fours) {
    for (; fours > 0; fours--) {
        three(row, words, weights, numbers, y, step, NULL);
        words += 4 * step * WORD;
        y += 4 * step;
    }
}

// The same by the row's ending, with doubts settled.
static __attribute__((noinline)) void
run_threes_otherwise(const row_t *row, const int8_t *words, const int8_t *weights,
                     const HVX_Vector *numbers, int8_t *y, int32_t step,
                     int32_t fours) {
    HVX_Vector *to = row->nearest;
    HVX_Vector least = ember_hvx_load(&row->ending->fraction);
    const int8_t *from = words;
    int8_t *at = y;

    for (int32_t left = fours; left > 0; left--) {
        HVX_Vector nearest[4];
        three(row, from, weights, numbers, at, step, nearest);
        EMBER_HVX_UNROLL
        for (int n = 0; n < 4; n++) {
            least = Q6_Vw_vmin_VwVw(least, nearest[n]);
            ember_hvx_store(to++, nearest[n]);
        }
        from += 4 * step * WORD;
        at += 4 * step;
    }
    if (is_in_doubt(row, least)) {
        again(row, words, weights, numbers, y, step, 4 * fours);
    }
}

// Ends the sums of `blocks` by the row's ending, and stores them. Returns whether there
// is a doubt; what each has to the next results is then kept.
INLINE bool end_blocks(const row_t *row, HVX_Vector *sums, int8_t *y, int32_t step,
                       int blocks, bool inside) {
    HVX_Vector nearest[4];

    EMBER_HVX_UNROLL
    for (int n = 0; n < blocks; n++) {
        nearest[n] = ember_hvx_load(&row->ending->fraction);
        EMBER_HVX_UNROLL
        for (int v = n * FOUR; v < (n + 1) * FOUR; v++) {
            sums[v] = ember_result_hvx(row->ending, sums[v], &nearest[n]);
        }
    }
    store_blocks(row, sums, y, step, blocks, true, inside);
    if (!is_in_doubt(row, least_of(nearest, blocks))) {
        return false;
    }
    EMBER_HVX_UNROLL
    for (int n = 0; n < blocks; n++) {
        ember_hvx_store(row->nearest + n, nearest[n]);
    }
    return true;
}

INLINE void run_blocks(const row_t *row, const int8_t *words, const int8_t *weights,
                       const HVX_Vector *numbers, int8_t *y, int32_t step, int blocks,
                       bool inside) {
    HVX_Vector sums[4 * FOUR];

    add_blocks(row, words, weights, numbers, step, blocks, sums);
    if (row->ending != NULL) {
        if (end_blocks(row, sums, y, step, blocks, inside)) {
            again(row, words, weights, numbers, y, step, blocks);
        }
        return;
    }
    if (row->shifted) {
        ember_scale_shifted_hvx(numbers, row->zeros, sums, blocks, FOUR, true);
    } else {
        ember_scale_any_hvx(numbers, row->zero_point, sums, blocks, FOUR);
    }
    store_blocks(row, sums, y, step, blocks, false, inside);
}

// `count` blocks of 128 outputs.
INLINE void run_line(const row_t *row, const int8_t *words, const int8_t *weights,
                     const HVX_Vector *numbers, int8_t *y, int32_t step, int32_t count,
                     bool inside) {
    const int32_t near = step * WORD;
    const bool neighbours = row->taps == 3 && row->offsets[0] == 0 &&
                            row->offsets[1] == near && row->offsets[2] == 2 * near;

    while (neighbours && count > (inside ? 3 : 4) &&
           (row->shifted || row->ending != NULL)) {
        int32_t fours = (inside ? count : count - 1) / 4;
        if (row->ending == NULL) {
            run_threes(row, words, weights, numbers, y, step, fours);
        } else {
            fours = fours < AT_ONCE / 4 ? fours : AT_ONCE / 4;
            run_threes_otherwise(row, words, weights, numbers, y, step, fours);
        }
        words += fours * 4 * near;
        y += fours * 4 * step;
        count -= fours * 4;
    }
    for (; count >= 4; count -= 4) {
        run_blocks(row, words, weights, numbers, y, step, 4, inside);
        words += 4 * step * WORD;
        y += 4 * step;
    }
    for (; count >= 2; count -= 2) {
        run_blocks(row, words, weights, numbers, y, step, 2, inside);
        words += 2 * step * WORD;
        y += 2 * step;
    }
    if (count > 0) {
        run_blocks(row, words, weights, numbers, y, step, 1, inside);
    }
}

// Apart, for the sake of registers.
static __attribute__((noinline)) void run_inside(const row_t *row, const int8_t *words,
                                                 const int8_t *weights,
                                                 const HVX_Vector *numbers, int8_t *y,
                                                 int32_t step, int32_t count) {
    run_line(row, words, weights, numbers, y, step, count, true);
}

// The last of which may go beyond the end.
static __attribute__((noinline)) void run_to_end(const row_t *row, const int8_t *words,
                                                 const int8_t *weights,
                                                 const HVX_Vector *numbers, int8_t *y,
                                                 int32_t step, int32_t count) {
    run_line(row, words, weights, numbers, y, step, count, false);
}

// Blocks of 128 outputs that are a period apart have the same weights.
static void run_row(const ember_depthwise_hvx_t *s, const row_t *row,
                    const int8_t *weights, const HVX_Vector *numbers, int8_t *y) {
    const int32_t step = s->period, blocks = row->periods * (step / EMBER_HVX);
    const bool inside = row->end - y >= (blocks + row->more) * EMBER_HVX;
    int32_t more = row->more;

    for (int32_t at = 0; at < step; at += EMBER_HVX, more--) {
        const int8_t *words = row->words + at * WORD, *w = weights + at * WORD;
        const HVX_Vector *own = numbers + at / 32 * EMBER_NUMBERS_HVX;
        const int32_t count = row->periods + (more > 0 ? 1 : 0);
        if (inside) {
            run_inside(row, words, w, own, y + at, step, count);
        } else {
            run_to_end(row, words, w, own, y + at, step, count);
        }
    }
}

// Where a tap's words are from those of an output on.
static void set_offsets(const ember_depthwise_hvx_t *s, int32_t *offsets) {
    const ember_conv_s8_axis_t *w = &s->conv.width;

    for (int32_t group = 0; group < s->groups; group++) {
        for (int32_t x = 0; x < w->kernel; x++) {
            const int32_t column = x * w->dilation / w->stride;
            const int32_t part = x * w->dilation - column * w->stride;
            const int32_t at = (part * s->columns + column) * s->conv.channels;
            *offsets++ = (group * s->pitch + at) * WORD;
        }
    }
}

// The row of the image that tap `tap` of row `y` of outputs sees.
static const int8_t *row_at(const ember_depthwise_hvx_t *s, const int8_t *x,
                            const int8_t *image, int32_t y, int32_t tap) {
    const ember_conv_s8_axis_t *h = &s->conv.height;
    const int32_t most = h->kernel + s->sharing - 2;
    const int32_t last = tap < most ? tap : most;
    const int32_t row = y * h->stride + last * h->dilation;
    const int32_t inside = row - h->padding;

    if (s->conv.width.stride != 1) {
        return image + (ptrdiff_t)row * s->pitch;
    }
    if (inside < 0 || inside >= h->in) {
        return image;
    }
    return x + (ptrdiff_t)inside * s->conv.width.in * s->conv.channels;
}

// Words of the rows that row `y` of outputs, or `sharing` of them, see, with padding
// before and behind.
static void set_words(const ember_depthwise_hvx_t *s, const int8_t *x,
                      const int8_t *image, int32_t y, int8_t *words) {
    const ember_conv_s8_axis_t *w = &s->conv.width;
    const HVX_Vector with = Q6_Vb_vsplat_R(-s->conv.x_offset);
    const bool is_direct = w->stride == 1;
    const int32_t start = is_direct ? limited(w->padding, s->columns) : 0;
    const int32_t room = s->columns - start;
    const int32_t columns = w->in < room ? w->in : room;
    const int32_t before = start * s->conv.channels;
    const int32_t count = is_direct ? columns * s->conv.channels : s->pitch;

    for (int32_t group = 0; group < s->groups; group++) {
        const int8_t *rows[FOUR];
        for (int32_t i = 0; i < FOUR; i++) {
            rows[i] = row_at(s, x, image, y, group * FOUR + i);
        }
        int8_t *to = ember_fill_hvx(words, with, before * WORD);
        interleave_rows(rows, count, to);
        (void)ember_fill_hvx(to + count * WORD, with,
                             (s->pitch - before - count) * WORD);
        words += s->pitch * WORD;
    }
}

// The largest of the initial sums that the host has packed, without their signs.
static int32_t largest_start(const ember_depthwise_hvx_t *s, places_t at) {
    const int8_t *numbers = s->packed + at.numbers - at.weights;
    HVX_Vector most = Q6_V_vzero();

    for (int32_t i = 0; i < s->period; i += EMBER_HVX / WORD) {
        const HVX_Vector start =
            ember_hvx_load_any(numbers + EMBER_BIAS_HVX * EMBER_HVX);
        const HVX_Vector other = Q6_Vw_vsub_VwVw(Q6_V_vzero(), start);
        most = Q6_Vw_vmax_VwVw(most, Q6_Vw_vmax_VwVw(start, other));
        numbers += EMBER_NUMBERS_HVX * EMBER_HVX;
    }
    for (int32_t turn = EMBER_HVX / 2; turn >= WORD; turn /= 2) {
        most = Q6_Vw_vmax_VwVw(most, Q6_V_vror_VR(most, turn));
    }
    return Q6_R_vextract_VR(most, 0);
}

int32_t ember_depthwise_hvx_bound(const ember_depthwise_hvx_t *s) {
    const int32_t *bias = s->conv.scales.bias;
    const int32_t taps = s->groups * FOUR * s->conv.width.kernel;
    int64_t most = 0;

    if (s->packed != NULL) {
        most = largest_start(s, places_of(s));
    }
    for (int32_t i = 0; s->packed == NULL && bias != NULL && i < s->conv.channels;
         i++) {
        const int64_t size = bias[i] < 0 ? -(int64_t)bias[i] : bias[i];
        most = size > most ? size : most;
    }
    // Elements have eight bits, and with their offset nine.
    const int64_t bound = most + (int64_t)taps * UINT8_MAX * -INT8_MIN;
    return bound < INT32_MAX ? (int32_t)bound : INT32_MAX;
}

void ember_depthwise_hvx_run(const ember_depthwise_hvx_t *s,
                             const ember_ending_hvx_t *ending) {
    const ember_conv_s8_t *conv = &s->conv;
    const places_t at = places_of(s);
    int8_t *scratch = ember_aligned_hvx(s->scratch);
    int8_t *image = scratch + at.image;
    int32_t *offsets = (int32_t *)(void *)(scratch + at.offsets);
    int8_t *words = scratch + at.words;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.out * conv->channels;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    const int32_t blocks = (int32_t)((pitch + EMBER_HVX - 1) / EMBER_HVX);
    const int32_t period = s->period / EMBER_HVX;
    const sides_t sides = {
        .image = columns_before(conv->width.padding, conv->width.stride),
        .end = columns_before(conv->width.padding + conv->width.in, conv->width.stride),
        .padding = Q6_Vb_vsplat_R(-conv->x_offset),
    };
    const row_t row = {
        .words = words,
        .offsets = offsets,
        .taps = s->groups * conv->width.kernel,
        .next = s->period * WORD,
        .periods = blocks / period,
        .more = blocks % period,
        .shifted = conv->rows >= EMBER_ROWS_SHIFT,
        .zero_point = Q6_V_vsplat_R(conv->scales.zero_point),
        .zeros = Q6_V_vsplat_R(2 * conv->scales.zero_point),
        .low = Q6_Vb_vsplat_R(conv->scales.limits.low),
        .high = Q6_Vb_vsplat_R(conv->scales.limits.high),
        .end = y + conv->batches * conv->height.out * pitch,
        .ending = ending,
        .nearest = (HVX_Vector *)(void *)(scratch + at.nearest),
    };

    set_offsets(s, offsets);
    const int8_t *weights = filters_of(s, scratch, at);
    const HVX_Vector *numbers =
        (const HVX_Vector *)(const void *)(weights + at.numbers - at.weights);
    for (int32_t n = 0; n < conv->batches; n++) {
        set_image(s, &sides, x, image);
        for (int32_t i = 0; i < conv->height.out; i++) {
            const int32_t own = i & (s->sharing - 1); // one or two
            if (own == 0) {
                set_words(s, x, image, i, words);
            }
            run_row(s, &row, weights + own * row.taps * row.next, numbers, y);
            y += pitch;
        }
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    }
}
