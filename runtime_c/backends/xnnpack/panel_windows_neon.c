// SPDX-License-Identifier: Apache-2.0
#include "panel_windows.h"

#include <arm_neon.h>

static inline void copy(uint8_t *to, const uint8_t *from, size_t bytes) {
    size_t i = 0;
    for (; i + XNN_COPIED < bytes; i += XNN_COPIED) {
        vst1q_u8(to + i, vld1q_u8(from + i));
    }
    if (bytes >= XNN_COPIED) {
        vst1q_u8(to + bytes - XNN_COPIED, vld1q_u8(from + bytes - XNN_COPIED));
    } else {
        for (size_t j = 0; j < bytes; j++) {
            to[j] = from[j];
        }
    }
}

// Where a walk over output pixels is.
typedef struct cursor {
    const uint8_t *image; // at the group's channels
    int32_t y;
    int32_t x;
    int32_t top; // of the window, and its lines in the image
    int32_t y0;
    int32_t y1;
} cursor_t;

static cursor_t cursor_at(const ember_xnn_windows_t *windows, const uint8_t *image,
                          uint32_t pixel) {
    const uint32_t width = (uint32_t)windows->window.x.out;
    cursor_t at = {
        .image = image, .y = (int32_t)(pixel / width), .x = (int32_t)(pixel % width)};
    at.top = xnn_taps(&windows->window.y, at.y, &at.y0, &at.y1);
    return at;
}

static inline void next_pixel(const ember_xnn_windows_t *windows, cursor_t *at) {
    if (++at->x == windows->window.x.out) {
        at->x = 0;
        at->y++;
        at->top = xnn_taps(&windows->window.y, at->y, &at->y0, &at->y1);
    }
}

// A window that is no dense lines inside of the image: at its edges, dilated, in
// groups.
static void copy_taps(const ember_xnn_windows_t *windows, const cursor_t *at,
                      uint8_t *to) {
    const ember_xnn_window_t *window = &windows->window;
    const size_t bytes = windows->taps_bytes;
    const size_t line = (size_t)window->x.kernel * bytes;
    int32_t x0, x1;
    const int32_t left = xnn_taps(&window->x, at->x, &x0, &x1);
    const int32_t run = windows->dense && x1 > x0 ? x1 - x0 : 1;
    for (size_t i = 0; i < line * (size_t)window->y.kernel; i += XNN_COPIED) {
        vst1q_u8(to + i, vdupq_n_u8((uint8_t)windows->fill));
    }
    for (int32_t ky = at->y0; ky < at->y1; ky++) {
        const int32_t y = at->top + ky * window->y.dilation;
        for (int32_t kx = x0; kx < x1; kx += run) {
            const int32_t x = left + kx * window->x.dilation;
            copy(to + (size_t)ky * line + (size_t)kx * bytes,
                 at->image + (size_t)y * windows->line_bytes +
                     (size_t)x * windows->pixel_bytes,
                 (size_t)run * bytes);
        }
    }
}

// Output pixels from `at` on, at most `most`, whose windows are dense lines inside of
// the image.
static inline uint32_t count_inside(const ember_xnn_windows_t *windows,
                                    const cursor_t *at, uint32_t most) {
    if (!windows->dense || at->x < windows->inside || at->x >= windows->outside ||
        at->y0 != 0 || at->y1 != windows->window.y.kernel) {
        return 0;
    }
    const uint32_t left = (uint32_t)(windows->outside - at->x);
    return left < most ? left : most;
}

// Windows of three lines that are shorter than what is copied at once.
static void copy_threes(const uint8_t *from, size_t step, size_t pitch, uint32_t count,
                        uint8_t *to, size_t bytes, size_t to_step) {
    for (; count > 0; count--, from += step, to += to_step) {
        vst1q_u8(to, vld1q_u8(from));
        vst1q_u8(to + bytes, vld1q_u8(from + pitch));
        vst1q_u8(to + 2 * bytes, vld1q_u8(from + 2 * pitch));
    }
}

// Windows of such pixels, lines behind each other.
static void copy_windows(const ember_xnn_windows_t *windows, const cursor_t *at,
                         uint32_t count, uint8_t *to) {
    const ember_xnn_window_t *window = &windows->window;
    const int32_t left = at->x * window->x.stride - window->x.before;
    const uint8_t *from = at->image + (size_t)at->top * windows->line_bytes +
                          (size_t)left * windows->pixel_bytes;
    const size_t lines = (size_t)window->y.kernel;
    const size_t bytes = (size_t)window->x.kernel * windows->taps_bytes;
    const size_t step = (size_t)window->x.stride * windows->pixel_bytes;
    const size_t pitch = windows->line_bytes;
    const uint8_t *last = from + (count - 1) * step + (lines - 1) * pitch;
    if (bytes < XNN_COPIED && lines == 3 && last <= windows->last) {
        copy_threes(from, step, pitch, count, to, bytes, windows->pitch);
        return;
    }
    for (; count > 0; count--, from += step, to += windows->pitch) {
        for (size_t i = 0; i < lines; i++) {
            copy(to + i * bytes, from + i * pitch, bytes);
        }
    }
}

static void find_windows(const ember_xnn_windows_t *windows, cursor_t *at,
                         uint32_t rows, const void *from[XNN_PANEL]) {
    uint8_t *to = windows->to;
    for (uint32_t i = 0; i < rows; i++) {
        from[i] = to + i * windows->pitch;
    }
    for (uint32_t i = 0; i < rows;) {
        uint32_t count = count_inside(windows, at, rows - i);
        if (count > 0) {
            copy_windows(windows, at, count, to);
            at->x += (int32_t)count - 1;
        } else {
            copy_taps(windows, at, to);
            count = 1;
        }
        next_pixel(windows, at);
        to += count * windows->pitch;
        i += count;
    }
}

// The rows of a panel when windows are pixels, one after the other from `row` on.
static void find_pixels(const uint8_t *row, size_t step, uint32_t rows,
                        const void *from[XNN_PANEL]) {
    if (rows == XNN_PANEL) {
#pragma GCC unroll 8
        for (uint32_t i = 0; i < XNN_PANEL; i++) {
            from[i] = row + i * step;
        }
        return;
    }
    for (uint32_t i = 0; i < XNN_PANEL; i++) {
        from[i] = row + (i < rows ? i : rows - 1) * step;
    }
}

void ember_xnn_windows_find(const ember_xnn_windows_t *windows, const uint8_t *image,
                            uint32_t pixel, uint32_t rows,
                            const void *from[XNN_PANEL]) {
    if (windows->linear) {
        const size_t step = windows->pixel_bytes;
        find_pixels(image + pixel * step, step, rows, from);
        return;
    }
    cursor_t at = cursor_at(windows, image, pixel);
    if (windows->direct) {
        const size_t stride = (size_t)windows->window.x.stride * windows->pixel_bytes;
        for (uint32_t i = 0; i < rows; i++) {
            const size_t y = (size_t)at.y * (uint32_t)windows->window.y.stride;
            from[i] = at.image + y * windows->line_bytes + (size_t)at.x * stride;
            next_pixel(windows, &at);
        }
    } else {
        find_windows(windows, &at, rows, from);
    }
    for (uint32_t i = rows; i < XNN_PANEL; i++) {
        from[i] = from[i - 1];
    }
}

// Are windows single pixels of the image?
static bool is_direct(const ember_xnn_window_t *window) {
    return window->y.kernel == 1 && window->x.kernel == 1 && window->y.before == 0 &&
           window->x.before == 0 &&
           (window->y.out - 1) * window->y.stride < window->y.in &&
           (window->x.out - 1) * window->x.stride < window->x.in;
}

void ember_xnn_windows_read(ember_xnn_windows_t *windows, const ember_xnn_node_t *node,
                            uint32_t size) {
    const ember_xnn_value_t *input = node->in[0];
    ember_xnn_window_t *window = &windows->window;
    (void)!ember_xnn_window_read(node, window);
    const ember_xnn_axis_t *across = &window->x;
    const int32_t room = across->in + across->before - across->kernel;
    const int32_t end = room < 0 ? 0 : room / across->stride + 1;
    windows->taps_bytes = node->params[CONV_GROUP_INPUTS] * size;
    windows->pixel_bytes = (uint32_t)window->channels * size;
    windows->line_bytes = (size_t)across->in * windows->pixel_bytes;
    windows->image_bytes = (size_t)window->y.in * windows->line_bytes;
    const size_t bytes = (size_t)window->batch * windows->image_bytes;
    windows->last = (const uint8_t *)input->constant +
                    (bytes < XNN_COPIED ? 0 : bytes - XNN_COPIED);
    windows->inside = (across->before + across->stride - 1) / across->stride;
    windows->outside = end < across->out ? end : across->out;
    windows->direct = is_direct(window);
    windows->linear = windows->direct && across->stride == 1 && window->y.stride == 1 &&
                      across->out == across->in;
    windows->dense = across->dilation == 1 && window->y.dilation == 1 &&
                     node->params[CONV_GROUPS] == 1;
}
