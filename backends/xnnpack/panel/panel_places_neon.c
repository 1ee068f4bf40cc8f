// SPDX-License-Identifier: Apache-2.0
// Windows of a convolution for forms that read rows in place. Rows of a window are a
// row of the image apart, in the image and in copies: several copies are placed side by
// side like pixels of a narrow image.
#include "panel_walk.h"
#include "panel_windows.h"

enum {
    COPIES = 8,           // of a panel, at most
    ROOM = 2 * COPIES + 2 // rows of windows, for any division of COPIES
};

ember_xnn_places_t ember_xnn_places(const ember_xnn_windows_t *windows, uint32_t runs,
                                    size_t bytes) {
    bytes = (bytes + XNN_READ - 1) & ~(size_t)(XNN_READ - 1);
    const bool wide = runs > 1 && windows->line_bytes > bytes;
    const size_t pitch = wide ? windows->line_bytes : bytes;
    const size_t room = pitch > ROOM * bytes ? pitch : ROOM * bytes;
    return (ember_xnn_places_t){pitch, bytes, runs * room + XNN_READ};
}

// Windows from the cursor on that can be read in the image.
static uint32_t count_places(const ember_xnn_windows_t *windows,
                             const ember_xnn_places_t *places, uint32_t runs,
                             const ember_xnn_cursor_t *at, uint32_t most) {
    const uint32_t count = xnn_count_inside(windows, at, most);
    if (count == 0 || (runs > 1 && places->pitch != windows->line_bytes)) {
        return 0;
    }
    const size_t step = (size_t)windows->window.x.stride * windows->pixel_bytes;
    const size_t last = (runs - 1) * places->pitch + places->bytes;
    const size_t room = (size_t)(windows->end - xnn_window_at(windows, at));
    if ((count - 1) * step + last <= room) {
        return count;
    }
    return room < last ? 0 : (uint32_t)((room - last) / step) + 1;
}

// Where copy `i` of a panel is.
static uint8_t *place_of(const ember_xnn_windows_t *windows,
                         const ember_xnn_places_t *places, uint32_t runs, uint32_t i) {
    const uint32_t beside = (uint32_t)(places->pitch / places->bytes);
    return windows->to + i / beside * runs * places->pitch + i % beside * places->bytes;
}

uint32_t ember_xnn_places_take(const ember_xnn_windows_t *windows,
                               const ember_xnn_places_t *places, uint32_t runs,
                               ember_xnn_cursor_t *at, uint32_t most,
                               const void *from[XNN_ROWS]) {
    const size_t step = (size_t)windows->window.x.stride * windows->pixel_bytes;
    uint32_t rows = 0, copies = 0;
    while (rows < most && at->y < windows->window.y.out) {
        uint32_t count = count_places(windows, places, runs, at, most - rows);
        if (count > 0) {
            const uint8_t *window = xnn_window_at(windows, at);
            for (uint32_t i = 0; i < count; i++, window += step) {
                from[rows + i] = window;
            }
        } else if (copies < COPIES) {
            const size_t taps = (size_t)windows->window.x.kernel * windows->taps_bytes;
            uint8_t *to = place_of(windows, places, runs, copies++);
            ember_xnn_windows_copy(windows, at, to, runs > 1 ? places->pitch : taps);
            from[rows] = to;
            count = 1;
        } else {
            break;
        }
        rows += count;
        at->x += (int32_t)count - 1;
        xnn_next_pixel(windows, at);
    }
    for (uint32_t i = rows; i % XNN_PANEL != 0; i++) {
        from[i] = from[i - 1];
    }
    return rows;
}
