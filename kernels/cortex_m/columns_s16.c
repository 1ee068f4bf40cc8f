// SPDX-License-Identifier: Apache-2.0
// Columns of a convolution of int16. Contract: columns_s16.h.
#include "kernels/cortex_m/columns_s16.h"

// Columns that wait until there are three.
typedef struct {
    ember_column_s16_t columns[EMBER_COLUMNS_S16];
    int32_t count;
    bool whole;
    ember_columns_s16_fn take;
    const void *state;
} waiting_t;

static void flush(waiting_t *waiting) {
    const int32_t count = waiting->count;

    for (int32_t n = count; n < EMBER_COLUMNS_S16; n++) {
        waiting->columns[n] = waiting->columns[0];
    }
    if (count > 0) {
        waiting->take(waiting->state, waiting->columns, count, waiting->whole);
    }
    waiting->count = 0;
    waiting->whole = true;
}

// The columns of a row; `column` is its first one. `inside`: all taps are between the
// first and the last row of the image.
static void add_row(const ember_conv_s8_t *conv, ember_column_s16_t column, bool inside,
                    waiting_t *waiting) {
    const ember_conv_s8_axis_t *width = &conv->width;
    const int32_t past = width->in - (width->kernel - 1) * width->dilation;
    const int32_t step = width->stride * conv->depth;
    int32_t at = -width->padding;

    for (; column.ox < width->out; column.ox++) {
        waiting->whole = waiting->whole && inside && at >= 0 && at < past;
        waiting->columns[waiting->count++] = column;
        if (waiting->count == EMBER_COLUMNS_S16) {
            flush(waiting);
        }
        column.from += step;
        column.y += conv->filters;
        at += width->stride;
    }
}

void ember_columns_s16_walk(const ember_conv_s16_t *s, ember_columns_s16_fn take,
                            const void *state) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.in * conv->depth;
    const int16_t *x = s->x - conv->width.padding * conv->depth;
    int16_t *y = s->y;
    waiting_t waiting = {.whole = true, .take = take, .state = state};

    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < height->out; oy++) {
            const ember_taps_s8_t down = ember_taps_s8(height, oy);
            const bool inside = down.past - down.first == height->kernel;
            const ptrdiff_t row = (ptrdiff_t)oy * height->stride - height->padding;
            const ember_column_s16_t column = {x + row * pitch, y, oy, 0};
            add_row(conv, column, inside, &waiting);
            y += (ptrdiff_t)conv->width.out * conv->filters;
        }
        x += height->in * pitch;
    }
    flush(&waiting);
}

ember_runs_s16_t ember_runs_s16(const ember_conv_s16_t *s,
                                const ember_column_s16_t *column, int16_t *to) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const bool in_one = width->dilation == 1;
    const int32_t line = width->kernel * conv->depth;

    return (ember_runs_s16_t){
        .from = column->from,
        .to = to,
        .length = in_one ? line : conv->depth,
        .across = in_one ? 1 : width->kernel,
        .step = width->dilation * conv->depth,
        .rows = height->kernel,
        .pitch = width->in * conv->depth * height->dilation,
        .line = line,
    };
}

ember_runs_s16_t ember_runs_s16_inside(const ember_conv_s16_t *s,
                                       const ember_column_s16_t *column, int16_t *to) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_taps_s8_t down = ember_taps_s8(&conv->height, column->oy);
    const ember_taps_s8_t across = ember_taps_s8(&conv->width, column->ox);
    const int32_t taps = across.past - across.first;
    ember_runs_s16_t runs = ember_runs_s16(s, column, to);

    runs.from += (ptrdiff_t)down.first * runs.pitch + across.first * runs.step;
    runs.to += down.first * runs.line + across.first * conv->depth;
    runs.rows = taps > 0 ? down.past - down.first : 0;
    if (conv->width.dilation == 1) {
        runs.length = taps * conv->depth;
    } else {
        runs.across = taps;
    }
    return runs;
}
