// SPDX-License-Identifier: Apache-2.0
// Matrix products with 16-byte vectors: eight rows of the input, in place or reordered
// as a core reads them, times blocks of eight columns of packed weights.
//
// A walk (panel_neon.c) finds rows: those of a layer, or the windows of a convolution.
// A form, one per datatype and instruction set, defines how they are multiplied.
#ifndef EMBER_XNNPACK_PANEL_H
#define EMBER_XNNPACK_PANEL_H

#include "backends/xnnpack/graph/packing.h"
#include "backends/xnnpack/nodes/product.h"

enum { XNN_PANEL = 8 }; // rows, and columns of a block
enum { XNN_ROWS = 32 }; // rows of a panel in place with whole blocks of columns
// Blocks of columns that one row is multiplied with at once: eight sums, so that each
// is added to while the others are still in the pipeline.
enum { XNN_ROW_BLOCKS = 4 };
enum { XNN_READ = 16 }; // bytes that are read or copied at once

// How many rows are computed for this many; the last row stands for the missing ones.
static inline uint32_t xnn_panel_lines(uint32_t rows) {
    return rows > 4 ? 8 : rows > 1 ? 4 : 1;
}

// The same, of pairs of rows that one instruction multiplies.
static inline uint32_t xnn_panel_pairs(uint32_t rows) {
    return rows > 4 ? 4 : rows > 2 ? 2 : 1;
}

struct ember_xnn_form;

typedef struct ember_xnn_panel {
    const struct ember_xnn_form *form;
    const ember_xnn_node_t *node;
    const uint8_t *w;           // blocks of packed columns, of a group
    uint8_t *a;                 // rows in the form's order, or copies of rows
    const void *from[XNN_ROWS]; // the rows; up to eight, the last one repeated
    uint32_t runs;              // of a row: adjacent elements; 1 except in place
    size_t pitch;               // bytes from run to run
    uint8_t *start;             // per column, 4 bytes: its initial sum
    float *scales;      // per column; columns of a group are padded to whole blocks
    uint32_t rows;      // 1 to XNN_PANEL, or to XNN_ROWS
    uint32_t steps;     // of a run, each of `unit` products
    uint32_t block;     // of those, steps whose weights share scales; or 0
    uint32_t n;         // columns of a group
    uint32_t row;       // of parameters of QDS8: the first row's,
    uint32_t row_step;  // and 0 if it is that of all rows
    size_t y;           // where the first row begins in the output, elements
    size_t y_step;      // from row to row
    size_t block_bytes; // of packed columns
    ember_xnn_range_t range; // of an int8 output
} ember_xnn_panel_t;

typedef struct ember_xnn_form {
    const ember_xnn_layout_t *layout;
    const ember_xnn_type_t *type; // only its check() is called
    uint32_t unit; // products of a column that are adjacent in packed weights
    uint32_t size; // bytes of an element of the input
    uint32_t wide; // and of one of the panel's rows
    // Fills start and scales of the columns [first, first + n) of the output, and of
    // those that pad a block. The packed columns are panel->w.
    void (*begin)(const ember_xnn_panel_t *panel, uint32_t first, void *start,
                  float *scales);
    // Copies `rows` rows of k elements into panel->a, followed by zeros. NULL: the form
    // reads panel->from, XNN_READ bytes at once; weights are zero past the end of a
    // run.
    void (*pack)(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k);
    // Reorders a matrix (k, n), or (n, k), that is not constant into blocks of steps of
    // (8,) float32. NULL: not available.
    void (*columns)(const ember_xnn_geometry_t *geometry, const void *from, float *to);
    // Writes all columns, XNN_PANEL or more, of a row of the input times a matrix (k,
    // n) that is not constant, without reordering it. NULL: not available.
    void (*as_it_lies)(const ember_xnn_panel_t *panel, const void *row,
                       const void *matrix);
    // Writes the columns from `column` on, at most XNN_PANEL, of the panel's rows; `w`
    // is their block of weights.
    void (*block)(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column);
    // Writes whole blocks from the group's first column on, whose starts and scales are
    // at `at`, without a call for each; returns how many columns it wrote. NULL: not
    // available. A form in place writes all of them.
    uint32_t (*whole)(const ember_xnn_panel_t *panel, uint32_t at);
    // For a panel of one row: writes XNN_ROW_BLOCKS blocks at once from the group's
    // first column on, while there are that many, the last of which may be partial;
    // returns the first column that is left. NULL: not available, or a row is not
    // limited by the latency of sums.
    uint32_t (*row)(const ember_xnn_panel_t *panel, uint32_t at);
} ember_xnn_form_t;

// Initialises a form of int8.
#define XNN_FORM_INT8(LAYOUT, TYPE, UNIT, BEGIN, PACK, BLOCK, WHOLE, ROW)              \
    {                                                                                  \
        .layout = &(LAYOUT),                                                           \
        .type = &(TYPE),                                                               \
        .unit = (UNIT),                                                                \
        .size = 1,                                                                     \
        .wide = 1,                                                                     \
        .begin = (BEGIN),                                                              \
        .pack = (PACK),                                                                \
        .block = (BLOCK),                                                              \
        .whole = (WHOLE),                                                              \
        .row = (ROW),                                                                  \
    }

// Whether XNN_ROW_BLOCKS blocks begin at `column`.
static inline bool xnn_panel_has_blocks(const ember_xnn_panel_t *panel,
                                        uint32_t column) {
    return column + (XNN_ROW_BLOCKS - 1) * XNN_PANEL < panel->n;
}

// Columns of a block that exist.
static inline uint32_t xnn_panel_columns(const ember_xnn_panel_t *panel,
                                         uint32_t column) {
    const uint32_t left = panel->n - column;
    return left < XNN_PANEL ? left : XNN_PANEL;
}

// How a row of int8 was quantised.
static inline const ember_xnn_row_t *xnn_panel_row(const ember_xnn_panel_t *panel,
                                                   uint32_t row) {
    return xnn_rows(panel->node->in[0]) + panel->row + (size_t)row * panel->row_step;
}

// --- for kernels *_neon.c, *_dot.c, *_fhm.c, *_i8mm.c, *_bf16mm.c ----------------

ember_status_t ember_xnn_panel_linear(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_form_t *form);
void ember_xnn_panel_linear_run(const ember_xnn_graph_t *graph,
                                const ember_xnn_node_t *node,
                                const ember_xnn_form_t *form);
ember_status_t ember_xnn_panel_conv(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                    const ember_xnn_form_t *form);
void ember_xnn_panel_conv_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node,
                              const ember_xnn_form_t *form);

ember_status_t ember_xnn_panel_matmul(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_form_t *form);
void ember_xnn_panel_matmul_run(const ember_xnn_graph_t *graph,
                                const ember_xnn_node_t *node,
                                const ember_xnn_form_t *form);

// --- forms ---------------------------------------------------------------------------

extern const ember_xnn_form_t ember_xnn_form_f32_neon;
extern const ember_xnn_form_t ember_xnn_form_f16_matmul_neon;
extern const ember_xnn_form_t ember_xnn_form_bf16_neon;
extern const ember_xnn_form_t ember_xnn_form_bf16_bf16mm;
// Weights of a float16 node are float16 or float32.
const ember_xnn_form_t *ember_xnn_panel_f16(const ember_xnn_node_t *node);
const ember_xnn_form_t *ember_xnn_panel_f16_fhm(const ember_xnn_node_t *node);
extern const ember_xnn_form_t ember_xnn_form_qs8_dot;
extern const ember_xnn_form_t ember_xnn_form_qs8_i8mm;
extern const ember_xnn_form_t ember_xnn_form_qd8_qc8_dot;
extern const ember_xnn_form_t ember_xnn_form_qd8_qc8_i8mm;
extern const ember_xnn_form_t ember_xnn_form_qd8_qc4_dot;
extern const ember_xnn_form_t ember_xnn_form_qd8_qc4_i8mm;
extern const ember_xnn_form_t ember_xnn_form_qd8_qb4_dot;
extern const ember_xnn_form_t ember_xnn_form_qd8_qb4_i8mm;
extern const ember_xnn_form_t ember_xnn_form_qd8_qb4_half; // to float16

// What forms of the same datatypes share: begin(), and the end of block().
extern const ember_xnn_type_t ember_xnn_panel_qs8;
void ember_xnn_panel_begin_qs8(const ember_xnn_panel_t *panel, uint32_t first,
                               void *start, float *scales);
void ember_xnn_panel_put_qs8(const ember_xnn_panel_t *panel, const int32_t *sums,
                             const float *scales, uint32_t column);
void ember_xnn_panel_block_f32(const ember_xnn_panel_t *panel, const uint8_t *w,
                               const void *start, const float *scales, uint32_t column);
uint32_t ember_xnn_panel_row_f32(const ember_xnn_panel_t *panel, uint32_t at);
void ember_xnn_panel_begin_float(const ember_xnn_panel_t *panel, uint32_t first,
                                 void *start, float *scales);
void ember_xnn_panel_put_float(const ember_xnn_panel_t *panel, const float *sums,
                               uint32_t column);
// `start` is the bias here; `own` are the sums of the columns' weights.
void ember_xnn_panel_begin_qd8(const ember_xnn_panel_t *panel, uint32_t first,
                               void *start, float *scales);
void ember_xnn_panel_put_qc8(const ember_xnn_panel_t *panel, const int32_t *sums,
                             const int32_t *own, const float *bias, const float *scales,
                             uint32_t column);
// The same for sums that are 16 times as large.
void ember_xnn_panel_put_qc4(const ember_xnn_panel_t *panel, const int32_t *sums,
                             const int32_t *own, const float *bias, const float *scales,
                             uint32_t column);
// Sums of groups, each times its scale; and those that become float16.
void ember_xnn_panel_put_qb4(const ember_xnn_panel_t *panel, const float *sums,
                             const float *bias, uint32_t column);
void ember_xnn_panel_put_half(const ember_xnn_panel_t *panel, const float *sums,
                              const float *bias, uint32_t column);

// --- layouts, in blocks of XNN_PANEL columns -----------------------------------------

// Steps of (8,).
extern const ember_xnn_layout_t ember_xnn_columns_f32;
extern const ember_xnn_layout_t ember_xnn_columns_f16;
extern const ember_xnn_layout_t ember_xnn_columns_f16_of_f32;
// Steps of (8, unit).
extern const ember_xnn_layout_t ember_xnn_columns_bf16;

// int32 sums of the columns' weights, then steps of (8, unit).
extern const ember_xnn_layout_t ember_xnn_columns_s8;

// For each group of elements: 16 times the int32 sums of the weights, their scales if
// groups have some, then steps of (8, unit) weights of four bits. The first half of a
// step is in the low nibbles, the other half in the high ones. Groups with scales are
// preceded by the columns' starts (numbers.h).
extern const ember_xnn_layout_t ember_xnn_columns_qc4;
extern const ember_xnn_layout_t ember_xnn_columns_qb4;

// Bytes of a block of `layout`.
size_t ember_xnn_columns_bytes(const ember_xnn_layout_t *layout,
                               const ember_xnn_geometry_t *geometry);

#endif // EMBER_XNNPACK_PANEL_H
