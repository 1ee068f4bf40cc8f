// SPDX-License-Identifier: Apache-2.0
#include "panel_windows.h"

#include <arm_neon.h>

// Copies `size` to 2 * `size` bytes as two pieces, which may overlap.
static inline void copy_ends(uint8_t *to, const uint8_t *from, size_t bytes,
                             const size_t size) {
    memcpy(to, from, size);
    memcpy(to + bytes - size, from + bytes - size, size);
}

static inline void copy(uint8_t *to, const uint8_t *from, size_t bytes) {
    size_t i = 0;
    for (; i + XNN_READ < bytes; i += XNN_READ) {
        vst1q_u8(to + i, vld1q_u8(from + i));
    }
    if (bytes >= XNN_READ) {
        vst1q_u8(to + bytes - XNN_READ, vld1q_u8(from + bytes - XNN_READ));
    } else if (bytes >= 8) {
        copy_ends(to, from, bytes, 8);
    } else if (bytes >= 4) {
        copy_ends(to, from, bytes, 4);
    } else {
        for (; i < bytes; i++) {
            to[i] = from[i];
        }
    }
}

void ember_xnn_windows_copy(const ember_xnn_windows_t *windows,
                            const ember_xnn_cursor_t *at, uint8_t *to, size_t line) {
    const ember_xnn_window_t *window = &windows->window;
    const size_t bytes = windows->taps_bytes;
    const size_t width = (size_t)window->x.kernel * bytes;
    const uint8x16_t fill = vdupq_n_u8((uint8_t)windows->fill);
    int32_t x0, x1;
    const int32_t left = xnn_taps(&window->x, at->x, &x0, &x1);
    const int32_t run = windows->dense && x1 > x0 ? x1 - x0 : 1;
    for (int32_t ky = 0; ky < window->y.kernel; ky++, to += line) {
        for (size_t i = 0; i < width; i += XNN_READ) {
            vst1q_u8(to + i, fill);
        }
        if (ky < at->y0 || ky >= at->y1) {
            continue;
        }
        const int32_t y = at->top + ky * window->y.dilation;
        for (int32_t kx = x0; kx < x1; kx += run) {
            const int32_t x = left + kx * window->x.dilation;
            copy(to + (size_t)kx * bytes,
                 at->image + (size_t)y * windows->line_bytes +
                     (size_t)x * windows->pixel_bytes,
                 (size_t)run * bytes);
        }
    }
}

// Windows of three rows that are shorter than what is copied at once.
static void copy_threes(const uint8_t *from, size_t step, size_t pitch, uint32_t count,
                        uint8_t *to, size_t bytes, size_t to_step) {
    for (; count > 0; count--, from += step, to += to_step) {
        vst1q_u8(to, vld1q_u8(from));
        vst1q_u8(to + bytes, vld1q_u8(from + pitch));
        vst1q_u8(to + 2 * bytes, vld1q_u8(from + 2 * pitch));
    }
}

// Windows of such pixels, rows one after the other.
static void copy_windows(const ember_xnn_windows_t *windows,
                         const ember_xnn_cursor_t *at, uint32_t count, uint8_t *to) {
    const ember_xnn_window_t *window = &windows->window;
    const uint8_t *from = xnn_window_at(windows, at);
    const size_t lines = (size_t)window->y.kernel;
    const size_t bytes = (size_t)window->x.kernel * windows->taps_bytes;
    const size_t step = (size_t)window->x.stride * windows->pixel_bytes;
    const size_t pitch = windows->line_bytes;
    const uint8_t *last = from + (count - 1) * step + (lines - 1) * pitch;
    if (bytes < XNN_READ && lines == 3 && windows->end - last >= XNN_READ) {
        copy_threes(from, step, pitch, count, to, bytes, windows->pitch);
        return;
    }
    for (; count > 0; count--, from += step, to += windows->pitch) {
        for (size_t i = 0; i < lines; i++) {
            copy(to + i * bytes, from + i * pitch, bytes);
        }
    }
}

static void find_windows(const ember_xnn_windows_t *windows, ember_xnn_cursor_t *at,
                         uint32_t rows, const void *from[XNN_PANEL]) {
    const size_t line = (size_t)windows->window.x.kernel * windows->taps_bytes;
    uint8_t *to = windows->to;
    for (uint32_t i = 0; i < rows; i++) {
        from[i] = to + i * windows->pitch;
    }
    for (uint32_t i = 0; i < rows;) {
        uint32_t count = xnn_count_inside(windows, at, rows - i);
        if (count > 0) {
            copy_windows(windows, at, count, to);
            at->x += (int32_t)count - 1;
        } else {
            ember_xnn_windows_copy(windows, at, to, line);
            count = 1;
        }
        xnn_next_pixel(windows, at);
        to += count * windows->pitch;
        i += count;
    }
}

// The rows of a panel if windows are pixels, one after the other from `row` on.
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
    ember_xnn_cursor_t at = xnn_cursor(windows, image, pixel);
    if (windows->direct) {
        const size_t stride = (size_t)windows->window.x.stride * windows->pixel_bytes;
        for (uint32_t i = 0; i < rows; i++) {
            const size_t y = (size_t)at.y * (uint32_t)windows->window.y.stride;
            from[i] = at.image + y * windows->line_bytes + (size_t)at.x * stride;
            xnn_next_pixel(windows, &at);
        }
    } else {
        find_windows(windows, &at, rows, from);
    }
    for (uint32_t i = rows; i < XNN_PANEL; i++) {
        from[i] = from[i - 1];
    }
}

// Whether windows are single pixels of the image.
static bool is_direct(const ember_xnn_window_t *window) {
    return window->y.kernel == 1 && window->x.kernel == 1 && window->y.before == 0 &&
           window->x.before == 0 &&
           (window->y.out - 1) * window->y.stride < window->y.in &&
           (window->x.out - 1) * window->x.stride < window->x.in;
}

bool ember_xnn_windows_are_dense(const ember_xnn_node_t *node) {
    const uint32_t *params = node->params;
    const bool across = params[CONV_DILATION + 1] == 1 && params[CONV_GROUPS] == 1;
    return (params[CONV_KERNEL + 1] == 1 || across) &&
           (params[CONV_KERNEL] == 1 || params[CONV_DILATION] == 1);
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
    windows->end = (const uint8_t *)input->constant + bytes;
    windows->inside = (across->before + across->stride - 1) / across->stride;
    windows->outside = end < across->out ? end : across->out;
    windows->direct = is_direct(window);
    windows->linear = windows->direct && across->stride == 1 && window->y.stride == 1 &&
                      across->out == across->in;
    windows->dense = ember_xnn_windows_are_dense(node);
}
