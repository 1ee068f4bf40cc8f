// SPDX-License-Identifier: Apache-2.0
// The rows of panels that are windows of a convolution: pixels of the image, or copies
// of their lines behind each other.
#ifndef EMBER_XNNPACK_PANEL_WINDOWS_H
#define EMBER_XNNPACK_PANEL_WINDOWS_H

#include "panel.h"
#include "window.h"

// Bytes that are copied at once; behind the last window there is room for them.
enum { XNN_COPIED = 16 };

typedef struct ember_xnn_windows {
    ember_xnn_window_t window;
    uint8_t *to; // copies of a panel's windows, each in `pitch` bytes
    size_t pitch;
    uint32_t taps_bytes;  // of a group's channels of a pixel
    uint32_t pixel_bytes; // of all its channels
    size_t line_bytes;    // of all pixels of a line
    size_t image_bytes;
    const uint8_t *last; // of the input's bytes behind which there are XNN_COPIED
    int fill;            // byte of what lies outside of an image
    int32_t inside;      // output columns [inside, outside) have windows in the image
    int32_t outside;
    bool direct; // windows are pixels of the image
    bool linear; // and of all pixels
    bool dense;  // lines of a window are behind each other in the image
} ember_xnn_windows_t;

// Sets all but `to`, `pitch` and `fill`; `size`: bytes of an element.
void ember_xnn_windows_read(ember_xnn_windows_t *windows, const ember_xnn_node_t *node,
                            uint32_t size);

// The windows of `rows` output pixels from `pixel` on; the last one again where a panel
// has more. `image` is at the group's channels.
void ember_xnn_windows_find(const ember_xnn_windows_t *windows, const uint8_t *image,
                            uint32_t pixel, uint32_t rows, const void *from[XNN_PANEL]);

#endif // EMBER_XNNPACK_PANEL_WINDOWS_H
