// SPDX-License-Identifier: Apache-2.0
// Rows of images. Contract: rows.h.
#include "kernels/cadence/rows.h"

#include <stddef.h>
#include <string.h>

enum { X, KERNEL, DILATION, PADDING, STRIDE, OUT_PADDING };

// One window; transposed and channels last, its channels are innermost, else outermost.
static char *run_window(const ember_cadence_rows_t *s, int32_t n, int32_t oy,
                        int32_t ox, const char *zero, char *row) {
    const ember_cadence_window_t *window = &s->window;
    const int32_t taps = window->height.kernel * window->width.kernel;
    const bool inner = window->transposed && window->last;
    const int32_t channel = inner ? 1 : taps, tap = inner ? window->channels : 1;

    for (int32_t ky = 0; ky < window->height.kernel; ky++) {
        const int32_t y =
            ember_cadence_tap(&window->height, window->transposed, oy, ky);
        for (int32_t kx = 0; kx < window->width.kernel; kx++) {
            const int32_t x =
                ember_cadence_tap(&window->width, window->transposed, ox, kx);
            const bool inside = x >= 0 && y >= 0;
            const int32_t at =
                n * window->x.batch + y * window->x.row + x * window->x.column;
            char *to = row + (ky * window->width.kernel + kx) * tap * s->size;
            for (int32_t c = 0; c < window->channels; c++) {
                const int32_t from = at + c * window->x.channel;
                memcpy(to, inside ? s->x + (ptrdiff_t)from * s->size : zero, s->size);
                to += channel * s->size;
            }
        }
    }
    return row + (ptrdiff_t)taps * window->channels * s->size;
}

void ember_cadence_rows_run(const ember_cadence_rows_t *s) {
    char *row = s->y;

    for (int32_t n = 0; n < s->window.batches; n++) {
        const int32_t number = ember_cadence_whole(&s->zero, (uint32_t)n);
        const float real = (float)number;
        const uint8_t byte = (uint8_t)number;
        char zero[sizeof(float)];
        memcpy(zero, s->dtype == EMBER_F32 ? (const void *)&real : &byte, s->size);
        for (int32_t oy = 0; oy < s->window.height.out; oy++) {
            for (int32_t ox = 0; ox < s->window.width.out; ox++) {
                row = run_window(s, n, oy, ox, zero, row);
            }
        }
    }
}

static ember_status_t set_output(ember_cadence_rows_t *s, ember_node_t *node,
                                 const ember_tensor_t *x) {
    const ember_cadence_window_t *window = &s->window;
    const int64_t windows = (int64_t)window->height.out * window->width.out;
    const int64_t taps = (int64_t)window->height.kernel * window->width.kernel;
    const int64_t inner = taps > INT32_MAX ? taps : taps * window->channels;
    const int32_t sizes[3] = {window->batches, (int32_t)windows, (int32_t)inner};
    ember_tensor_t y;

    if (windows > INT32_MAX || inner > INT32_MAX) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "im2row: sizes");
    }
    ember_node_output(node, ember_node_arg_count(node) - 2, 3, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, x) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (y.dtype != x->dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "im2row: dtypes differ");
    }
    s->x = x->data;
    s->y = y.data;
    if (y.numel == 0) {
        s->window.batches = 0;
    }
    return EMBER_OK;
}

ember_status_t ember_cadence_rows(ember_cadence_rows_t *s, ember_node_t *node,
                                  bool transposed) {
    const ember_cadence_lists_t lists = {STRIDE, PADDING, DILATION,
                                         transposed ? OUT_PADDING : 0, 0};
    const uint32_t zero = transposed ? OUT_PADDING + 1 : OUT_PADDING;
    const bool last = ember_node_bool(node, zero + 1);
    int32_t kernel[2] = {0, 0};
    ember_tensor_t x;

    ember_node_tensor(node, X, &x);
    const uint32_t count = ember_node_ints(node, KERNEL, kernel, 2);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const bool bytes = x.dtype == EMBER_S8 || x.dtype == EMBER_U8;
    if ((!bytes && x.dtype != EMBER_F32) || count < 1 ||
        !ember_cadence_window_in(&s->window, &x, last)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "im2row: wrong dtype or rank");
    }
    s->dtype = x.dtype;
    s->size = x.element_size;
    s->window.height.kernel = x.rank == 3 ? 1 : kernel[0];
    s->window.width.kernel = kernel[count - 1];
    s->zero = ember_cadence_whole_arg(node, zero, (uint32_t)s->window.batches);
    if (ember_cadence_window_out(&s->window, node, &lists) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_output(s, node, &x);
}
