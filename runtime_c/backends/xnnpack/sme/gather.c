// SPDX-License-Identifier: Apache-2.0
// The rows of a convolution: for each output pixel the window's numbers, tap by tap.
#include "block.h"

static void copy(uint8_t *to, const uint8_t *from,
                 uint32_t bytes) __arm_streaming __arm_preserves("za") {
    const uint32_t most = (uint32_t)svcntb();
    uint32_t i = 0;
    do {
        const svbool_t some = svwhilelt_b8_u32(i, bytes);
        svst1_u8(some, to + i, svld1_u8(some, from + i));
        i += most;
    } while (i < bytes);
}

static void fill(uint8_t *to, uint8_t byte,
                 uint32_t bytes) __arm_streaming __arm_preserves("za") {
    const uint32_t most = (uint32_t)svcntb();
    for (uint32_t i = 0; i < bytes; i += most) {
        svst1_u8(svwhilelt_b8_u32(i, bytes), to + i, svdup_u8(byte));
    }
}

// One line of taps, from place `left` of the image on. Those outside are zeros.
static void gather_line(const ember_xnn_axis_t *across, int32_t left, uint32_t pixel,
                        const uint8_t *line, uint8_t zero,
                        uint8_t *to) __arm_streaming __arm_preserves("za") {
    if (across->dilation == 1 && left >= 0 && left + across->kernel <= across->in) {
        copy(to, line + (size_t)(uint32_t)left * pixel,
             (uint32_t)across->kernel * pixel);
        return;
    }
    for (int32_t k = 0; k < across->kernel;
         k++, left += across->dilation, to += pixel) {
        if (left >= 0 && left < across->in) {
            copy(to, line + (size_t)(uint32_t)left * pixel, pixel);
        } else {
            fill(to, zero, pixel);
        }
    }
}

// The window of output pixel (y, x).
static uint8_t *gather_pixel(const ember_xnn_window_t *window, uint32_t pixel,
                             const uint8_t *image, int32_t y, int32_t x, uint8_t zero,
                             uint8_t *to) __arm_streaming __arm_preserves("za") {
    const uint32_t bytes = (uint32_t)window->x.kernel * pixel;
    const size_t line = (size_t)(uint32_t)window->x.in * pixel;
    const int32_t left = x * window->x.stride - window->x.before;
    int32_t top = y * window->y.stride - window->y.before;
    for (int32_t k = 0; k < window->y.kernel; k++, top += window->y.dilation) {
        if (top >= 0 && top < window->y.in) {
            gather_line(&window->x, left, pixel, image + (uint32_t)top * line, zero,
                        to);
        } else {
            fill(to, zero, bytes);
        }
        to += bytes;
    }
    return to;
}

// What lies outside of an image.
static uint8_t zero_of(const ember_xnn_sme_t *gemm,
                       uint32_t row) __arm_streaming __arm_preserves("za") {
    return (uint8_t)(gemm->rows != NULL ? gemm->rows[row / gemm->row_step].zero
                                        : gemm->in_zero);
}

void xnn_sme_gather(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t count,
                    uint8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_window_t *window = gemm->window;
    const uint32_t element = gemm->kind == XNN_SME_F32   ? 4
                             : gemm->kind == XNN_SME_F16 ? 2
                                                         : 1;
    const uint32_t pixel = (uint32_t)window->channels * element;
    const uint32_t columns = (uint32_t)window->x.out;
    const uint32_t lines = (uint32_t)window->y.out;
    const size_t bytes =
        (size_t)(uint32_t)window->y.in * (uint32_t)window->x.in * pixel;
    int32_t x = (int32_t)(row % columns);
    int32_t y = (int32_t)(row / columns % lines);
    const uint8_t *image = (const uint8_t *)gemm->a + row / columns / lines * bytes;
    for (; count > 0; count--, row++) {
        to = gather_pixel(window, pixel, image, y, x, zero_of(gemm, row), to);
        if (++x == window->x.out) {
            x = 0;
            y++;
        }
        if (y == window->y.out) {
            y = 0;
            image += bytes;
        }
    }
}
