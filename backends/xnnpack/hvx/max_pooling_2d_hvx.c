// SPDX-License-Identifier: Apache-2.0
// The maximum of static int8 in each window with HVX, 128 channels at a time; other
// output scales by a table.
#include "backends/xnnpack/nodes/pooling.h"
#include "elements_hvx.h"

enum { MOST = 1 << 26 };

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const bool known = (node->flags & ~(uint32_t)FLAG_KEEP_DIMS) == 0;
    // A table costs as much as a few hundred elements.
    return known && xnn_types(node, XNN_QS8, XNN_QS8) &&
                   node->out[0]->numel >= XNN_HVX_TABLE && node->in[0]->numel < MOST
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

// What the maxima become.
static ember_table_hvx_t table_of(const ember_xnn_node_t *node) {
    int8_t all[XNN_HVX_TABLE], made[XNN_HVX_TABLE];
    float numbers[XNN_CHUNK];
    xnn_hvx_all_bytes(all);
    for (uint32_t i = 0; i < XNN_HVX_TABLE; i += XNN_CHUNK) {
        ember_xnn_load(node->in[0], all + i, 1, XNN_CHUNK, numbers);
        ember_xnn_store(node, made + i, XNN_CHUNK, numbers);
    }
    return ember_table_hvx(made);
}

// Where a window's taps are in the image.
typedef struct taps {
    const int8_t *x; // the first inside the image
    int32_t rows;
    int32_t columns;
    int32_t row; // elements from one row to the next
    int32_t column;
} taps_t;

static void put_pixel(const taps_t *taps, const ember_table_hvx_t *table,
                      int32_t channels, int8_t *y) {
    for (int32_t c = 0; c < channels; c += EMBER_HVX) {
        const int32_t left = channels - c;
        HVX_Vector most = Q6_Vb_vsplat_R(INT8_MIN);
        const int8_t *row = taps->x + c;
        for (int32_t i = 0; i < taps->rows; i++, row += taps->row) {
            const int8_t *x = row;
            for (int32_t j = 0; j < taps->columns; j++, x += taps->column) {
                most = Q6_Vb_vmax_VbVb(most, ember_load_left_hvx(x, left));
            }
        }
        ember_store_left_hvx(y + c, ember_looked_up_hvx(table, most), left);
    }
}

// Of a window without taps: zeros.
static void put_none(const ember_xnn_node_t *node, int32_t channels, int8_t *y) {
    for (int32_t c = 0; c < channels; c++) {
        float zero = 0.0f;
        ember_xnn_store(node, y + c, 1, &zero);
    }
}

static void put_row(const ember_xnn_node_t *node, const ember_xnn_window_t *window,
                    const ember_table_hvx_t *table, const int8_t *image, int32_t oy,
                    int8_t *y) {
    const int32_t pitch = window->x.in * window->channels;
    int32_t y0, y1, x0, x1;
    const int32_t top = xnn_taps(&window->y, oy, &y0, &y1);
    for (int32_t ox = 0; ox < window->x.out; ox++, y += window->channels) {
        const int32_t left = xnn_taps(&window->x, ox, &x0, &x1);
        if (y1 <= y0 || x1 <= x0) {
            put_none(node, window->channels, y);
            continue;
        }
        const taps_t taps = {
            .x = image + (top + y0 * window->y.dilation) * pitch +
                 (left + x0 * window->x.dilation) * window->channels,
            .rows = y1 - y0,
            .columns = x1 - x0,
            .row = window->y.dilation * pitch,
            .column = window->x.dilation * window->channels,
        };
        put_pixel(&taps, table, window->channels, y);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_table_hvx_t table = table_of(node);
    const int8_t *image = node->in[0]->constant;
    int8_t *y = node->out[0]->data;
    ember_xnn_window_t window;
    (void)graph;
    (void)!ember_xnn_window_read(node, &window);
    for (int32_t b = 0; b < window.batch; b++) {
        for (int32_t oy = 0; oy < window.y.out; oy++) {
            put_row(node, &window, &table, image, oy, y);
            y += window.x.out * window.channels;
        }
        image += window.y.in * window.x.in * window.channels;
    }
}

XNN_KERNEL(max_pooling_2d_hvx, NULL, ember_xnn_pool_shape, XNN_KIND(MAX_POOLING_2D));
