// SPDX-License-Identifier: Apache-2.0
// The rows of a convolution: for each output pixel the window's elements, tap by tap.
#include "block.h"

// `count` pieces of `bytes` each.
static void copy(uint8_t *to, size_t to_step, const uint8_t *from, size_t from_step,
                 uint32_t count, uint32_t bytes) __arm_streaming __arm_preserves("za") {
    const uint32_t most = (uint32_t)svcntb();
    for (uint32_t i = 0; i < bytes; i += most, to += most, from += most) {
        const svbool_t some = svwhilelt_b8_u32(i, bytes);
        uint8_t *out = to;
        const uint8_t *in = from;
#pragma clang loop unroll_count(4)
        for (uint32_t j = 0; j < count; j++, out += to_step, in += from_step) {
            svst1_u8(some, out, svld1_u8(some, in));
        }
    }
}

static void fill(uint8_t *to, size_t to_step, uint8_t byte, uint32_t count,
                 uint32_t bytes) __arm_streaming __arm_preserves("za") {
    const uint32_t most = (uint32_t)svcntb();
    const svuint8_t all = svdup_u8(byte);
    for (uint32_t i = 0; i < bytes; i += most, to += most) {
        const svbool_t some = svwhilelt_b8_u32(i, bytes);
        uint8_t *out = to;
        for (uint32_t j = 0; j < count; j++, out += to_step) {
            svst1_u8(some, out, all);
        }
    }
}

// Adjacent pixels of a row of the output.
typedef struct run {
    const ember_xnn_window_t *window;
    const uint8_t *image;
    uint32_t pixel; // bytes
    uint32_t bytes; // of a row
    int32_t x;
    int32_t y;
    uint32_t count;
    uint8_t zero; // the value outside the image
} run_t;

// Taps of a row from position `left` of the input on; all of them are inside.
static void gather_inside(const run_t *run, const uint8_t *line, int32_t left,
                          uint8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_axis_t *across = &run->window->x;
    const uint32_t pieces = across->dilation == 1 ? 1 : (uint32_t)across->kernel;
    const uint32_t bytes = (uint32_t)across->kernel * run->pixel / pieces;
    const size_t step = (size_t)(uint32_t)across->stride * run->pixel;
    const uint8_t *from = line + (size_t)(uint32_t)left * run->pixel;
    for (uint32_t i = 0; i < pieces; i++, to += bytes) {
        copy(to, run->bytes, from, step, run->count, bytes);
        from += (size_t)(uint32_t)across->dilation * run->pixel;
    }
}

// The same for one pixel, if some are outside.
static void gather_border(const run_t *run, const uint8_t *line, int32_t left,
                          uint8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_axis_t *across = &run->window->x;
    for (int32_t k = 0; k < across->kernel; k++, left += across->dilation) {
        if (left >= 0 && left < across->in) {
            copy(to, 0, line + (size_t)(uint32_t)left * run->pixel, 0, 1, run->pixel);
        } else {
            fill(to, 0, run->zero, 1, run->pixel);
        }
        to += run->pixel;
    }
}

// Rows of a run of pixels that are all inside, left and right, or of one that is not.
static void gather_run(const run_t *run, bool inside,
                       uint8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_window_t *window = run->window;
    const uint32_t bytes = (uint32_t)window->x.kernel * run->pixel;
    const size_t line = (size_t)(uint32_t)window->x.in * run->pixel;
    const int32_t left = run->x * window->x.stride - window->x.before;
    int32_t top = run->y * window->y.stride - window->y.before;
    for (int32_t k = 0; k < window->y.kernel; k++, top += window->y.dilation) {
        if (top < 0 || top >= window->y.in) {
            fill(to, run->bytes, run->zero, run->count, bytes);
        } else if (inside) {
            gather_inside(run, run->image + (uint32_t)top * line, left, to);
        } else {
            gather_border(run, run->image + (uint32_t)top * line, left, to);
        }
        to += bytes;
    }
}

// How many pixels from `x` on are inside, at most `count`; 0: the first is not.
static uint32_t inside_from(const ember_xnn_axis_t *across, int32_t x,
                            uint32_t count) __arm_streaming __arm_preserves("za") {
    const int32_t left = x * across->stride - across->before;
    const int32_t span = (across->kernel - 1) * across->dilation;
    if (left < 0 || left + span >= across->in) {
        return 0;
    }
    const uint32_t more =
        (uint32_t)(across->in - 1 - span - left) / (uint32_t)across->stride;
    return more < count ? more + 1 : count;
}

// The values outside the image.
static uint8_t zero_of(const ember_xnn_sme_t *gemm,
                       uint32_t row) __arm_streaming __arm_preserves("za") {
    if (gemm->kind == XNN_SME_QS8) {
        return (uint8_t)gemm->fixed.in_zero;
    }
    const ember_xnn_sme_dynamic_t *dynamic = &gemm->dynamic;
    return xnn_sme_has_sums(gemm->kind)
               ? (uint8_t)dynamic->rows[row / dynamic->row_step].zero
               : 0;
}

void xnn_sme_gather(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t count,
                    uint8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_window_t *window = gemm->window;
    const uint32_t pixel = (uint32_t)window->channels * xnn_sme_element(gemm->kind);
    const uint32_t columns = (uint32_t)window->x.out;
    const uint32_t lines = (uint32_t)window->y.out;
    const size_t bytes =
        (size_t)(uint32_t)window->y.in * (uint32_t)window->x.in * pixel;
    run_t run = {
        .window = window,
        .pixel = pixel,
        .bytes = (uint32_t)window->y.kernel * (uint32_t)window->x.kernel * pixel,
    };
    while (count > 0) {
        const uint32_t x = row % columns;
        const uint32_t left = columns - x < count ? columns - x : count;
        run.x = (int32_t)x;
        run.y = (int32_t)(row / columns % lines);
        run.image = (const uint8_t *)gemm->a + row / columns / lines * bytes;
        run.zero = zero_of(gemm, row);
        const uint32_t inside = inside_from(&window->x, run.x, left);
        run.count = inside > 0 ? inside : 1;
        gather_run(&run, inside > 0, to);
        to += (size_t)run.count * run.bytes;
        row += run.count;
        count -= run.count;
    }
}
