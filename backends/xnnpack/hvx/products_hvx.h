// SPDX-License-Identifier: Apache-2.0
// Fully connected layers and convolutions of int8 and int4 with HVX: rows, or the
// windows of an image, times panels of up to 128 columns, whose weights were packed on
// the host. The loops are those of the int8 dialect's kernels
// (kernels/engine/hvx/windows_hvx.h); a type defines what sums become.
#ifndef EMBER_XNNPACK_HVX_PRODUCTS_H
#define EMBER_XNNPACK_HVX_PRODUCTS_H

#include "backends/xnnpack/graph/packing.h"
#include "backends/xnnpack/nodes/window.h"
#include "kernels/engine/hvx/cells_hvx.h"

// The most vectors of parameters for each vector of columns; the first has the initial
// sums.
enum { XNN_HVX_NUMBERS = 4 };
enum { XNN_HVX_CHUNK = 16 }; // windows whose sums are kept at a time

// Up to 128 lanes: columns, then those of the neighbouring windows.
typedef struct ember_xnn_hvx_panel {
    const ember_xnn_node_t *node;
    const uint8_t *own;  // for each vector, sums of the columns' weights
    HVX_Vector *numbers; // (XNN_HVX_NUMBERS, vectors)
    HVX_Vector *sums;    // of windows, `vectors` for each
    int32_t vectors;
    uint32_t columns; // of a group
    uint32_t first;   // first lane of a group
    uint32_t lanes;
    uint32_t column;         // of the group's first column, among all
    size_t y_step;           // elements from one window's results to the next
    ember_xnn_range_t range; // of an int8 output
} ember_xnn_hvx_panel_t;

typedef struct ember_xnn_hvx_type {
    const ember_xnn_type_t *type; // only its check() is called
    const ember_xnn_layout_t *layout;
    int32_t added; // added to weights, in a panel
    bool nibbles;  // the panel's weights have four bits
    // Fills the parameters of a panel.
    void (*begin)(const ember_xnn_hvx_panel_t *panel);
    // Writes the results of the sums of `count` windows to the output from element `y`
    // on: for each window those of the first `lanes`. `row`: of QDS8's parameters,
    // `row_step` from window to window.
    void (*end)(const ember_xnn_hvx_panel_t *panel, uint32_t count, uint32_t lanes,
                size_t y, uint32_t row, uint32_t row_step);
} ember_xnn_hvx_type_t;

// --- for kernels *_hvx ---------------------------------------------------------------

ember_status_t ember_xnn_hvx_linear(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                    const ember_xnn_hvx_type_t *type);
void ember_xnn_hvx_linear_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node,
                              const ember_xnn_hvx_type_t *type);
ember_status_t ember_xnn_hvx_conv(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                  const ember_xnn_hvx_type_t *type);
void ember_xnn_hvx_conv_run(const ember_xnn_graph_t *graph,
                            const ember_xnn_node_t *node,
                            const ember_xnn_hvx_type_t *type);
ember_status_t ember_xnn_hvx_transposed(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node,
                                        const ember_xnn_hvx_type_t *type);
void ember_xnn_hvx_transposed_run(const ember_xnn_graph_t *graph,
                                  const ember_xnn_node_t *node,
                                  const ember_xnn_hvx_type_t *type);

extern const ember_xnn_hvx_type_t ember_xnn_hvx_qs8;
extern const ember_xnn_hvx_type_t ember_xnn_hvx_qd8;
extern const ember_xnn_hvx_type_t ember_xnn_hvx_qd8_qc4;

// --- for types -----------------------------------------------------------------------

// Parameter `kind` of a vector of columns.
static inline HVX_Vector *xnn_hvx_number(const ember_xnn_hvx_panel_t *panel, int kind,
                                         int32_t vector) {
    return panel->numbers + kind * panel->vectors + vector;
}

// A 4-byte parameter for each lane of a vector, from those of all columns.
void ember_xnn_hvx_spread(const ember_xnn_hvx_panel_t *panel, int32_t vector,
                          const void *all, HVX_Vector *to);

// Unpacks weights of four bits, `steps` times eight elements, to bytes. Writes whole
// vectors to `to`, which is aligned to them.
void ember_xnn_hvx_unpack(const uint8_t *from, uint64_t steps, int32_t vectors,
                          uint8_t *to);

// --- packed weights ------------------------------------------------------------------

// Panels of a group: for each vector the int32 sums of its columns' weights, then its
// weights with `added`, those of four elements of each lane side by side. Weights of
// four bits have the next four elements in the high nibbles.
//
// In the geometry: `taps` segments of k elements; `unit` is how many windows are merged
// plus 16 times the elements by which each is shifted; `block`, if not 0, is the
// elements of a pixel of weights, which are flipped for transposed convolutions.
extern const ember_xnn_layout_t ember_xnn_hvx_s8;
extern const ember_xnn_layout_t ember_xnn_hvx_s4;

enum { XNN_HVX_LANES = EMBER_PANEL_HVX * EMBER_LANES_HVX };

static inline uint32_t xnn_hvx_merged(const ember_xnn_geometry_t *geometry) {
    return geometry->unit % 16;
}

static inline uint32_t xnn_hvx_shift(const ember_xnn_geometry_t *geometry) {
    return geometry->unit / 16;
}

// Elements of a segment of a window, rounded up to what is read at a time.
static inline uint32_t xnn_hvx_segment(const ember_xnn_geometry_t *geometry) {
    const uint32_t run =
        geometry->k + (xnn_hvx_merged(geometry) - 1) * xnn_hvx_shift(geometry);
    return (run + EMBER_STEP_HVX - 1) / EMBER_STEP_HVX * EMBER_STEP_HVX;
}

// Lanes of a group, and the vectors of the panel that begins with lane `first`.
static inline uint32_t xnn_hvx_all_lanes(const ember_xnn_geometry_t *geometry) {
    return geometry->n * xnn_hvx_merged(geometry);
}

static inline uint32_t xnn_hvx_lanes(const ember_xnn_geometry_t *geometry,
                                     uint32_t first) {
    const uint32_t left = xnn_hvx_all_lanes(geometry) - first;
    return left < XNN_HVX_LANES ? left : XNN_HVX_LANES;
}

static inline uint32_t xnn_hvx_vectors(const ember_xnn_geometry_t *geometry,
                                       uint32_t first) {
    return (xnn_hvx_lanes(geometry, first) + EMBER_LANES_HVX - 1) / EMBER_LANES_HVX;
}

// Bytes of weights for each vector of a panel.
static inline uint64_t xnn_hvx_weight_bytes(const ember_xnn_geometry_t *geometry,
                                            bool nibbles) {
    const uint64_t elements = (uint64_t)geometry->taps * xnn_hvx_segment(geometry);
    return elements * EMBER_LANES_HVX / (nibbles ? 2 : 1);
}

#endif // EMBER_XNNPACK_HVX_PRODUCTS_H
