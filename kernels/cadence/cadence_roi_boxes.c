// SPDX-License-Identifier: Apache-2.0
// cadence::roi_align_box_processor: regions of an image as configurations of an address
// generator. A row has 22 numbers of 29 bits in 80 bytes, the lowest bits first, in
// units of 2^-16 pixels: the position of the first sample, horizontal and vertical;
// then the steps from one sample to the next along ten dimensions, horizontal, and the
// same vertical.
#include "kernels/engine/cadence/numbers.h"

#include <string.h>

enum { ROIS, HEIGHT, WIDTH, RATIO, ALIGNED, OUT };
enum { CORNERS = 5, BYTES = 80, BITS = 29, WALK = 10, DIMS = 6, LIMIT = 1 << 15 };

typedef struct roi_boxes {
    const float *rois; // (count, CORNERS): image, left, top, right, bottom
    uint8_t *y;        // (count, BYTES)
    int32_t count;
    int32_t height; // samples
    int32_t width;
    bool aligned; // to the middle of pixels
} roi_boxes_t;

// In units of 2^-16, ties away from zero; 0 if it is too large.
static int32_t fixed(float x) {
    const float scaled = x * 65536.0f;
    const float whole = ember_truncf(scaled);
    const float rest = scaled - whole;
    const float rounded = rest >= 0.5f ? whole + 1 : rest <= -0.5f ? whole - 1 : whole;
    return rounded >= -0x1p31f && rounded < 0x1p31f ? (int32_t)rounded : 0;
}

static uint8_t *put(uint8_t *row, uint32_t index, int32_t number) {
    for (uint32_t bit = 0; bit < BITS; bit++) {
        const uint32_t at = index * BITS + bit;
        row[at / 8] |= (uint8_t)(((uint32_t)number >> bit & 1u) << at % 8);
    }
    return row;
}

// Increments of a walk whose dimension `inner` (0: width, 1: height) moves by `step`,
// and whose dimension 2 + `inner` by `whole`; earlier moves of a dimension are undone.
static void put_walk(uint8_t *row, uint32_t first, const int32_t sizes[DIMS],
                     const int32_t steps[DIMS]) {
    uint32_t increment = (uint32_t)steps[0];

    put(row, first, steps[0]);
    for (uint32_t n = 1; n < WALK; n++) {
        if (n < DIMS) {
            increment +=
                (uint32_t)steps[n] - (uint32_t)steps[n - 1] * (uint32_t)sizes[n - 1];
        }
        put(row, first + n, (int32_t)increment);
    }
}

static void run_box(const roi_boxes_t *s, const float *roi, uint8_t *row) {
    const float across = (roi[3] - roi[1]) / (float)s->width;
    const float down = (roi[4] - roi[2]) / (float)s->height;
    const float shift = s->aligned ? 0.5f : 0.0f;
    const int32_t sizes[DIMS] = {s->width, s->height, 1, 1, 1, s->count};
    const int32_t x[DIMS] = {fixed(across), 0, fixed(across * (float)s->width)};
    const int32_t y[DIMS] = {0, fixed(down), 0, fixed(down * (float)s->height)};

    memset(row, 0, BYTES);
    put(row, 0, fixed(roi[1] - shift + across / 2));
    put(row, 1, fixed(roi[2] - shift + down / 2));
    put_walk(row, 2, sizes, x);
    put_walk(row, 2 + WALK, sizes, y);
}

static int32_t run(void *state) {
    const roi_boxes_t *s = state;

    for (int32_t i = 0; i < s->count; i++) {
        run_box(s, s->rois + i * CORNERS, s->y + i * BYTES);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    roi_boxes_t *s = state;
    const int32_t ratio = ember_node_int_in(node, RATIO, 1, LIMIT);
    const int32_t height = ember_node_int_in(node, HEIGHT, 1, LIMIT);
    const int32_t width = ember_node_int_in(node, WIDTH, 1, LIMIT);
    ember_tensor_t rois, y;

    ember_node_tensor(node, ROIS, &rois);
    s->aligned = ember_node_bool(node, ALIGNED);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (rois.rank != 2 || rois.sizes[1] != CORNERS || rois.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "roi boxes: wrong shape or dtype");
    }
    const int32_t sizes[2] = {rois.sizes[0], BYTES};
    ember_node_output(node, OUT, 2, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, &rois) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_U8) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "roi boxes: wrong dtype of the output");
    }
    s->rois = rois.data;
    s->y = y.data;
    s->count = sizes[0];
    s->height = height * ratio;
    s->width = width * ratio;
    ember_node_work(node, y.numel, 8);
    return EMBER_OK;
}

EMBER_KERNEL(cadence_roi_boxes, roi_boxes_t);
