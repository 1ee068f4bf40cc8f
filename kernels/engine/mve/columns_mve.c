// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of columns. Contract: columns_mve.h.
#include "kernels/engine/mve/columns_mve.h"

#include <arm_mve_tiles.h>

#include <stddef.h>

#include "kernels/engine/mve/products_mve.h"

enum { MOST = 1 << 20 }; // elements

// Columns that wait until there are enough, and the place of their outputs.
typedef struct {
    const int8_t *columns[EMBER_COLUMNS_MVE];
    int8_t *y[EMBER_COLUMNS_MVE];
    int32_t count;
    int8_t *next; // outputs of the next column
    int32_t step; // to those behind it
    const ember_ending_mve_t *ending;
} waiting_t;

// Adds a column.
INLINE void add_column(const ember_columns_mve_t *s, waiting_t *waiting) {
    waiting->y[waiting->count] = waiting->next;
    waiting->next += waiting->step;
    if (++waiting->count == EMBER_COLUMNS_MVE) {
        ember_columns_mve_three(s, waiting->columns, waiting->y, waiting->ending);
        waiting->count = 0;
    }
}

// The last columns: two, or one. What is written for the first of three, the second
// overwrites.
static void flush(const ember_columns_mve_t *s, const waiting_t *waiting) {
    const int32_t last = waiting->count - 1;
    const int8_t *x = waiting->columns[0];
    int8_t *y = waiting->y[0];
    const int8_t *const columns[] = {x, x, waiting->columns[last]};
    int8_t *const to[] = {y, y, waiting->y[last]};

    if (last == 0 && s->conv.filters % 4 == 0) {
        ember_columns_mve_one(s, x, y, waiting->ending);
    } else {
        ember_columns_mve_three(s, columns, to, waiting->ending);
    }
}

// Columns that are in the image, `step` apart.
static void run_direct(const ember_columns_mve_t *s, const int8_t *x, int32_t count,
                       int32_t step, waiting_t *waiting) {
    const int32_t next = waiting->step;
    int8_t *y = waiting->next;

    for (; waiting->count == 0 && count >= EMBER_COLUMNS_MVE;
         count -= EMBER_COLUMNS_MVE) {
        const int8_t *const columns[] = {x, x + step, x + 2 * step};
        int8_t *const to[] = {y, y + next, y + 2 * next};
        ember_columns_mve_three(s, columns, to, waiting->ending);
        x += EMBER_COLUMNS_MVE * step;
        y += EMBER_COLUMNS_MVE * next;
    }
    waiting->next = y;
    for (; count > 0; count--) {
        waiting->columns[waiting->count] = x;
        add_column(s, waiting);
        x += step;
    }
}

// The pixels of an image that outputs overwrite: three are copied at a time.
static void run_over(const ember_columns_mve_t *s, int8_t *image, int32_t count,
                     const ember_ending_mve_t *ending) {
    const int32_t inner = s->inner;

    for (; count > 0; count -= EMBER_COLUMNS_MVE) {
        const int32_t second = count > 1 ? inner : 0;
        const int32_t third = count > 2 ? 2 * inner : 0;
        const int8_t *const columns[] = {s->copies, s->copies + second,
                                         s->copies + third};
        int8_t *const to[] = {image, image + second, image + third};
        ember_copy_mve(s->copies, image, (third > 0 ? 3 : count) * inner);
        ember_columns_mve_three(s, columns, to, ending);
        image += EMBER_COLUMNS_MVE * inner;
    }
}

// `rows` rows of `row` bytes, `pitch` apart, become one column; a row is `vectors`
// vectors, a constant, the last maybe in part.
INLINE void copy_short_rows(int8_t *to, const int8_t *from, int32_t rows, int32_t row,
                            int32_t pitch, int32_t vectors) {
    const int32_t last = (vectors - 1) * EMBER_LANES_S8;
    const mve_pred16_t lanes = vctp8q((uint32_t)(row - last));

    for (; rows > 0; rows--) {
#pragma GCC unroll 4
        for (int32_t at = 0; at < last; at += EMBER_LANES_S8) {
            vstrbq_s8(to + at, vldrbq_s8(from + at));
        }
        vstrbq_p_s8(to + last, vldrbq_z_s8(from + last, lanes), lanes);
        to += row;
        from += pitch;
    }
}

// The same for rows of any length but 0.
static __attribute__((noinline)) void
copy_rows(int8_t *to, const int8_t *from, int32_t rows, int32_t row, int32_t pitch) {
    if (row <= EMBER_LANES_S8) {
        copy_short_rows(to, from, rows, row, pitch, 1);
        return;
    }
    if (row > 2 * EMBER_LANES_S8 && row <= 3 * EMBER_LANES_S8) {
        copy_short_rows(to, from, rows, row, pitch, 3);
        return;
    }
    do {
        int8_t *at = to;
        const int8_t *x = from;
        int32_t left = row;
        do {
            const mve_pred16_t lanes = vctp8q((uint32_t)left);
            vstrbq_p_s8(at, vldrbq_z_s8(x, lanes), lanes);
            at += EMBER_LANES_S8;
            x += EMBER_LANES_S8;
            left -= EMBER_LANES_S8;
        } while (left > 0);
        to += row;
        from += pitch;
        rows--;
    } while (rows > 0);
}

// Copies `count` columns whose taps are all inside the image, `step` apart.
static void run_inner(const ember_columns_mve_t *s, const int8_t *x, int32_t count,
                      int32_t step, waiting_t *waiting) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t row = conv->width.kernel * conv->depth;
    const int32_t pitch = conv->width.in * conv->depth * conv->height.dilation;
    const int32_t rows = conv->height.kernel;

    for (; count > 0; count--) {
        copy_rows(s->copies + waiting->count * s->pitch, x, rows, row, pitch);
        add_column(s, waiting);
        x += step;
    }
}

// Copies `count` columns from that of output `ox` on, some of whose taps may be outside
// the image; `x` is where the row under the first of the taps `down` begins.
static void run_edge(const ember_columns_mve_t *s, const int8_t *x, int32_t ox,
                     int32_t count, ember_taps_s8_t down, waiting_t *waiting) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *width = &conv->width;
    const int32_t row = width->kernel * conv->depth;
    const int32_t pitch = width->in * conv->depth * conv->height.dilation;

    for (const int32_t end = ox + count; ox < end; ox++) {
        const ember_taps_s8_t across = ember_taps_s8(width, ox);
        const int32_t first = ox * width->stride - width->padding;
        int8_t *copy = s->copies + waiting->count * s->pitch;
        ember_fill_mve(copy, (int8_t)-conv->x_offset, s->inner);
        for (int32_t ky = down.first; ky < down.past; ky++) {
            const int8_t *from = x + (ptrdiff_t)(ky - down.first) * pitch;
            int8_t *to = copy + ky * row + across.first * conv->depth;
            int32_t at = first + across.first * width->dilation;
            if (width->dilation == 1) {
                ember_copy_mve(to, from + (ptrdiff_t)at * conv->depth,
                               (across.past - across.first) * conv->depth);
                continue;
            }
            for (int32_t kx = across.first; kx < across.past; kx++) {
                ember_copy_mve(to, from + (ptrdiff_t)at * conv->depth, conv->depth);
                at += width->dilation;
                to += conv->depth;
            }
        }
        add_column(s, waiting);
    }
}

// Copies the columns of row `oy` of the outputs.
static void run_copied(const ember_columns_mve_t *s, const int8_t *x, int32_t oy,
                       waiting_t *waiting) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.in * conv->depth;
    const int32_t step = conv->width.stride * conv->depth;
    const int32_t edge = s->inner_from * step - conv->width.padding * conv->depth;
    const ember_taps_s8_t down = ember_taps_s8(height, oy);
    const int32_t top =
        oy * height->stride - height->padding + down.first * height->dilation;
    const int8_t *row = x + top * pitch;
    const int32_t past = s->inner_from + s->inner_count;

    if (s->inner_count == 0 || down.past - down.first < height->kernel) {
        run_edge(s, row, 0, conv->width.out, down, waiting);
        return;
    }
    run_edge(s, row, 0, s->inner_from, down, waiting);
    run_inner(s, row + edge, s->inner_count, step, waiting);
    run_edge(s, row, past, conv->width.out - past, down, waiting);
}

// Transposes (inner, filters) to (filters, inner).
static void turn(int8_t *turned, const int8_t *from, int32_t inner, int32_t filters) {
    for (int32_t k = 0; k < inner; k++) {
        int8_t *to = turned + k;
#pragma GCC unroll 1
        for (int32_t f = 0; f < filters; f++) {
            *to = *from++;
            to += inner;
        }
    }
}

// Whether outputs start from just their bias.
static bool is_summed(const ember_conv_s8_t *conv) {
    return conv->x_offset == 0 && conv->scales.bias != NULL;
}

void ember_columns_mve_run(const ember_columns_mve_t *s, ember_steps_s8_t steps,
                           const ember_ending_mve_t *ending) {
    const ember_conv_s8_t *conv = &s->conv;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.in * conv->depth;
    const int8_t *x = conv->x;
    waiting_t waiting = {
        .columns = {s->copies, s->copies + s->pitch, s->copies + 2 * s->pitch},
        .step = steps.column,
        .ending = ending,
    };

    if (s->turned != NULL) {
        turn(s->turned, conv->w, s->inner, conv->filters);
    }
    if (s->sums != NULL) {
        ember_sums_mve(s->sums, conv->scales.bias, s->w, conv->filters, s->inner,
                       conv->x_offset);
    }
    if (conv->over) {
        run_over(s, conv->y, conv->batches * conv->height.out * conv->width.out,
                 ending);
        return;
    }
    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < conv->height.out; oy++) {
            waiting.next = conv->y + (ptrdiff_t)n * steps.image + oy * steps.row;
            if (s->copies != NULL) {
                run_copied(s, x, oy, &waiting);
            } else {
                run_direct(s, x + (ptrdiff_t)oy * conv->height.stride * pitch,
                           conv->width.out, conv->width.stride * conv->depth, &waiting);
            }
        }
        x += conv->height.in * pitch;
    }
    if (waiting.count > 0) {
        flush(s, &waiting);
    }
}

// Sets the outputs of a row that run_inner() may copy.
static void set_inner(ember_columns_mve_t *s) {
    const ember_conv_s8_axis_t *width = &s->conv.width;
    const int32_t padding = width->padding > 0 ? width->padding : 0;
    const int32_t from = (padding + width->stride - 1) / width->stride;
    const int32_t last = width->in + width->padding - width->kernel;
    int32_t past = last < 0 ? 0 : last / width->stride + 1;

    past = past < width->out ? past : width->out;
    s->inner_from = from;
    s->inner_count =
        width->dilation == 1 && s->inner > 0 && past > from ? past - from : 0;
}

static void set_columns(ember_columns_mve_t *s, int64_t taps) {
    s->inner = (int32_t)(taps * s->conv.depth);
    s->pitch = (s->inner + EMBER_LANES_S8 - 1) & -EMBER_LANES_S8;
    set_inner(s);
}

void ember_columns_mve_measure(ember_columns_mve_t *s) {
    set_columns(s, ember_conv_s8_taps(&s->conv));
}

// Scratch: sums, a tile of products, transposed weights, copies.
static void set_scratch(ember_columns_mve_t *s, ember_node_t *node,
                        ember_weights_s8_t weights) {
    const ember_conv_s8_t *conv = &s->conv;
    const bool turn = weights != EMBER_WEIGHTS_PLAIN;
    const bool direct =
        weights != EMBER_WEIGHTS_MADE && ember_conv_s8_is_direct(conv) && !conv->over;
    const bool summed = is_summed(conv);
    const int32_t sums =
        summed ? 0 : (conv->filters * (int32_t)sizeof(int32_t) + 15) & ~15;
    const int32_t tile = EMBER_COLUMNS_MVE * EMBER_MVE_TILE * (int32_t)sizeof(int32_t);
    const int32_t turned = turn ? (conv->filters * s->inner + 15) & ~15 : 0;
    const int32_t copies = direct ? 0 : EMBER_COLUMNS_MVE * s->pitch;
    int8_t *scratch = ember_node_scratch(node, (size_t)(sums + tile + turned + copies));

    s->sums = summed ? NULL : (int32_t *)(void *)scratch;
    s->turned = NULL;
    s->copies = NULL;
    s->w = conv->w;
    if (scratch == NULL) {
        return;
    }
    scratch += sums;
    s->tile = (int32_t *)(void *)scratch;
    scratch += tile;
    if (turn) {
        s->turned = scratch;
        s->w = s->turned;
    }
    if (!direct) {
        s->copies = scratch + turned;
    }
}

ember_status_t ember_columns_mve_prepare(ember_columns_mve_t *s, ember_node_t *node,
                                         int64_t taps, ember_weights_s8_t weights) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t inner = taps > MOST ? taps : taps * conv->depth;

    if (conv->depth != conv->channels || inner > MOST || conv->filters > MOST ||
        (weights != EMBER_WEIGHTS_PLAIN && inner * conv->filters > MOST) ||
        conv->x_offset < -INT8_MAX || conv->rows < EMBER_ROWS_RIGHT ||
        (conv->over &&
         (weights != EMBER_WEIGHTS_PLAIN || !ember_conv_s8_is_direct(conv)))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with Helium");
    }
    set_columns(s, taps);
    set_scratch(s, node, weights);
    s->plain = ember_is_plain_mve(conv);
    return ember_node_status(node);
}
