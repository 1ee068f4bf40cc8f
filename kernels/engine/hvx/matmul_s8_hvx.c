// SPDX-License-Identifier: Apache-2.0
// Products of matrices with Hexagon's vectors. Contract: matmul_s8_hvx.h.
#include "kernels/engine/hvx/matmul_s8_hvx.h"

#include <stddef.h>

enum { FEW = 4 };             // packing b costs what so many rows of a do
enum { ROW_MIN = 240 };       // packets of portable C for a row: fewer take less in it
enum { MANY_MIN = 1900 };     // and for all rows, where b is packed
enum { INNER_MAX = 1 << 24 }; // elements of a row

static bool pays(const ember_matmul_s8_t *s) {
    const int64_t row = s->columns * ember_packets_of_output(s->inner);
    return s->rows <= FEW ? row >= ROW_MIN : s->rows * row >= MANY_MIN;
}

// The product as a convolution with one tap.
static ember_conv_s8_t conv_of(const ember_matmul_s8_t *s,
                               const ember_requantize_t *by) {
    const ember_conv_s8_axis_t one = {1, 1, 1, 1, 0, 1};
    ember_conv_s8_t conv = {
        .x = s->a,
        .w = s->b,
        .y = s->c,
        .batches = 1,
        .channels = s->inner,
        .filters = s->columns,
        .depth = s->inner,
        .height = one,
        .width = {s->rows, s->rows, 1, 1, 0, 1},
        .x_offset = s->a_offset,
        // prepare asks the only scale not to shift to the left
        .rows = by->shift < 0 ? EMBER_ROWS_SHIFT : EMBER_ROWS_RIGHT,
    };
    conv.scales = (ember_scales_s8_t){
        .bias = s->bias,
        .multipliers = &by->multiplier,
        .zero_point = s->c_offset,
        .limits = s->limits,
    };
    return conv;
}

ember_status_t ember_matmul_s8_hvx_prepare(ember_matmul_s8_hvx_t *hvx,
                                           ember_node_t *node) {
    const ember_matmul_s8_t *s = &hvx->matmul;
    ember_columns_hvx_t *columns = &hvx->columns;
    const ember_conv_s8_t conv = conv_of(s, &s->by);

    const bool fits =
        ember_matmul_s8_is_real(s) ||
        (s->by.shift >= EMBER_SHIFT_MIN_HVX && s->by.shift <= EMBER_SHIFT_MAX_HVX);

    if (!fits || s->inner > INNER_MAX || s->rows < 1 || s->columns < 1 || !pays(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: scale, or small");
    }
    hvx->few = s->rows <= FEW;
    if (hvx->few) {
        const size_t row = (size_t)s->inner + 2 * EMBER_HVX;
        hvx->scratch = ember_node_scratch(node, row + EMBER_ROW_HVX_BYTES + EMBER_HVX);
        return ember_node_status(node);
    }
    const ember_columns_form_hvx_t form = {.w_offset = s->b_offset};
    const ember_status_t status =
        ember_columns_hvx_prepare(columns, node, &conv, &form);
    columns->terms.one = true;
    columns->terms.shifts = NULL; // with the multiplier in the state of a run
    columns->terms.constant =
        (int32_t)((uint32_t)(s->a_offset * s->b_offset) * (uint32_t)s->inner);
    return status;
}

static void run_few(const ember_matmul_s8_hvx_t *hvx,
                    const ember_ending_hvx_t *ending) {
    const ember_matmul_s8_t *s = &hvx->matmul;
    int8_t *scratch = ember_aligned_hvx(hvx->scratch);
    const int8_t *a = s->a;
    const int8_t *b = s->b;
    int8_t *c = s->c;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            ember_row_s8_hvx(s, a, b, c, scratch, ending);
            a += s->inner;
            c += s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner;
    }
}

// With the multiplier in the state of a run.
static void run_many(const ember_matmul_s8_hvx_t *hvx,
                     const ember_ending_hvx_t *ending) {
    const ember_matmul_s8_t *s = &hvx->matmul;
    ember_columns_hvx_t columns = hvx->columns;

    columns.terms.multipliers = &s->by.multiplier;
    columns.terms.shifts = &s->by.shift;
    for (int32_t n = 0; n < s->batches; n++) {
        if (!ember_columns_hvx_aligned(&columns)) {
            ember_matmul_s8_run(s);
            return;
        }
        ember_columns_hvx_run(&columns, ending);
        columns.x += (ptrdiff_t)s->rows * s->inner;
        columns.filters.w += (ptrdiff_t)s->columns * s->inner;
        columns.y += (ptrdiff_t)s->rows * s->columns;
    }
}

void ember_matmul_s8_hvx_run(const ember_matmul_s8_hvx_t *hvx,
                             const ember_ending_hvx_t *ending) {
    if (hvx->few) {
        run_few(hvx, ending);
    } else {
        run_many(hvx, ending);
    }
}
