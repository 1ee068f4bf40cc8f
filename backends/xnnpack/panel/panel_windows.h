// SPDX-License-Identifier: Apache-2.0
// The rows of panels that are windows of a convolution: in place in the image, or
// copies of their rows.
#ifndef EMBER_XNNPACK_PANEL_WINDOWS_H
#define EMBER_XNNPACK_PANEL_WINDOWS_H

#include "backends/xnnpack/nodes/window.h"
#include "panel.h"

typedef struct ember_xnn_windows {
    ember_xnn_window_t window;
    uint8_t *to;          // copies of a panel's windows, with room after them
    size_t pitch;         // from copy to copy
    uint32_t taps_bytes;  // of a group's channels of a pixel
    uint32_t pixel_bytes; // of all its channels
    size_t line_bytes;    // of all pixels of a row
    size_t image_bytes;
    const uint8_t *end; // of the input
    int fill;           // byte for everything outside an image
    int32_t inside;     // windows of columns [inside, outside) are inside the image
    int32_t outside;
    bool direct; // windows are pixels of the image
    bool linear; // and of all pixels
    bool dense;  // taps of a window's row are adjacent in the image
} ember_xnn_windows_t;

// The state of a walk over output pixels.
typedef struct ember_xnn_cursor {
    const uint8_t *image; // at the group's channels
    int32_t y;
    int32_t x;
    int32_t top; // of the window, and its rows in the image
    int32_t y0;
    int32_t y1;
} ember_xnn_cursor_t;

static inline ember_xnn_cursor_t xnn_cursor(const ember_xnn_windows_t *windows,
                                            const uint8_t *image, uint32_t pixel) {
    const uint32_t width = (uint32_t)windows->window.x.out;
    ember_xnn_cursor_t at = {
        .image = image, .y = (int32_t)(pixel / width), .x = (int32_t)(pixel % width)};
    at.top = xnn_taps(&windows->window.y, at.y, &at.y0, &at.y1);
    return at;
}

static inline void xnn_next_pixel(const ember_xnn_windows_t *windows,
                                  ember_xnn_cursor_t *at) {
    if (++at->x == windows->window.x.out) {
        at->x = 0;
        at->y++;
        at->top = xnn_taps(&windows->window.y, at->y, &at->y0, &at->y1);
    }
}

// Output pixels from the cursor on, at most `most`, whose windows are dense rows inside
// the image.
static inline uint32_t xnn_count_inside(const ember_xnn_windows_t *windows,
                                        const ember_xnn_cursor_t *at, uint32_t most) {
    if (!windows->dense || at->x < windows->inside || at->x >= windows->outside ||
        at->y0 != 0 || at->y1 != windows->window.y.kernel) {
        return 0;
    }
    const uint32_t left = (uint32_t)(windows->outside - at->x);
    return left < most ? left : most;
}

// The first byte of such a pixel's window.
static inline const uint8_t *xnn_window_at(const ember_xnn_windows_t *windows,
                                           const ember_xnn_cursor_t *at) {
    const ember_xnn_axis_t *across = &windows->window.x;
    const int32_t left = at->x * across->stride - across->before;
    return at->image + (size_t)at->top * windows->line_bytes +
           (size_t)left * windows->pixel_bytes;
}

// Whether `dense` is true of the windows.
bool ember_xnn_windows_are_dense(const ember_xnn_node_t *node);

// Sets all but `to`, `pitch` and `fill`; `size`: bytes of an element.
void ember_xnn_windows_read(ember_xnn_windows_t *windows, const ember_xnn_node_t *node,
                            uint32_t size);

// The windows of `rows` output pixels from `pixel` on; the last one is repeated if a
// panel has more. `image` is at the group's channels.
void ember_xnn_windows_find(const ember_xnn_windows_t *windows, const uint8_t *image,
                            uint32_t pixel, uint32_t rows, const void *from[XNN_PANEL]);

// Copies a window, which may be partly outside the image, to rows `line` bytes apart.
// May write up to XNN_READ bytes past a row.
void ember_xnn_windows_copy(const ember_xnn_windows_t *windows,
                            const ember_xnn_cursor_t *at, uint8_t *to, size_t line);

// --- windows in place ----------------------------------------------------------------

// How a form that reads rows in place gets windows: those inside the image in place,
// others as copies whose rows are as far apart.
typedef struct ember_xnn_places {
    size_t pitch; // from row to row of a window
    size_t bytes; // that are read of a row
    size_t size;  // of all copies
} ember_xnn_places_t;

// For windows of `runs` lines, each `bytes` bytes.
ember_xnn_places_t ember_xnn_places(const ember_xnn_windows_t *windows, uint32_t runs,
                                    size_t bytes);

// The windows of at most `most` output pixels from the cursor on, which advances;
// returns how many. If there are fewer than eight, the last one is repeated.
uint32_t ember_xnn_places_take(const ember_xnn_windows_t *windows,
                               const ember_xnn_places_t *places, uint32_t runs,
                               ember_xnn_cursor_t *at, uint32_t most,
                               const void *from[XNN_ROWS]);

#endif // EMBER_XNNPACK_PANEL_WINDOWS_H
