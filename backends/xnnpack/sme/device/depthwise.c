// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of static int8 by SDOT in streaming mode.
#include "backends/xnnpack/sme/depthwise.h"

#include "lines.h"
#include "static.h"

#define XNN_INLINE static inline __attribute__((always_inline))

// --- lines ---------------------------------------------------------------------------

// Splits a row into even and odd pixels, with this many bytes each. A vector has whole
// pixels, and not more bytes than an index can address in two of them.
static void split_line(const int8_t *from, size_t bytes, size_t channels, int8_t *even,
                       size_t evens, int8_t *odd,
                       size_t odds) __arm_streaming __arm_preserves("za") {
    const size_t vector = svcntb();
    const svbool_t all = svptrue_b8();
    const svuint8_t lanes = svindex_u8(0, 1);
    const svuint8_t in = svand_n_u8_x(all, lanes, (uint8_t)(channels - 1));
    const svuint8_t first = svsub_u8_x(all, svadd_u8_x(all, lanes, lanes), in);
    const svuint8_t second = svadd_n_u8_x(all, first, (uint8_t)channels);
    for (size_t i = 0; 2 * i < bytes; i += vector) {
        const svint8_t x = svld1_s8(svwhilelt_b8_u64(2 * i, bytes), from + 2 * i);
        const svbool_t some = svwhilelt_b8_u64(2 * i + vector, bytes);
        const svint8_t y = svld1_s8(some, from + 2 * i + vector);
        const svint8x2_t both = svcreate2_s8(x, y);
        svst1_s8(svwhilelt_b8_u64(i, evens), even + i, svtbl2_s8(both, first));
        svst1_s8(svwhilelt_b8_u64(i, odds), odd + i, svtbl2_s8(both, second));
    }
}

// The pixels of a row between its padding, which is there already.
static void copy_line(const ember_xnn_sme_depthwise_t *job, const int8_t *from,
                      int8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_axis_t *across = &job->window->x;
    const uint32_t channels = (uint32_t)job->window->channels;
    const uint32_t plane = xnn_sme_plane(job->window);
    const uint32_t before = (uint32_t)across->before;
    const uint32_t in = (uint32_t)across->in;
    if (across->stride == 1) {
        const uint32_t room = before < plane ? plane - before : 0;
        sme_copy(to + (size_t)before * channels, from,
                 (in < room ? in : room) * channels);
        return;
    }
    const uint32_t starts[] = {before / 2, (before + 1) / 2};
    uint32_t counts[] = {(in + 1) / 2, in / 2}; // of even pixels, of odd ones
    int8_t *places[2];
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t room = starts[i] < plane ? plane - starts[i] : 0;
        counts[i] = (counts[i] < room ? counts[i] : room) * channels;
        places[i] = to + (size_t)((before + i) % 2 * plane + starts[i]) * channels;
    }
    if (svcntb() % channels == 0 && svcntb() <= 128) {
        split_line(from, (size_t)in * channels, channels, places[0], counts[0],
                   places[1], counts[1]);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const int8_t *pixel = from + (size_t)i * channels;
        for (uint32_t at = 0; at < counts[i]; at += channels, pixel += 2 * channels) {
            sme_copy(places[i] + at, pixel, channels);
        }
    }
}

// --- parameters ----------------------------------------------------------------------

// Four taps of a column for each channel: three, and the last one repeated.
XNN_INLINE svint8x4_t load_column(const int8_t *const *rows, size_t at,
                                  svbool_t some) __arm_streaming __arm_preserves("za") {
    const svint8_t r0 = svld1_s8(some, rows[0] + at);
    const svint8_t r1 = svld1_s8(some, rows[1] + at);
    const svint8_t r2 = svld1_s8(some, rows[2] + at);
    const svint16_t a0 = svreinterpret_s16_s8(svzip1_s8(r0, r1));
    const svint16_t a1 = svreinterpret_s16_s8(svzip2_s8(r0, r1));
    const svint16_t b0 = svreinterpret_s16_s8(svzip1_s8(r2, r2));
    const svint16_t b1 = svreinterpret_s16_s8(svzip2_s8(r2, r2));
    return svcreate4_s8(svreinterpret_s8_s16(svzip1_s16(a0, b0)),
                        svreinterpret_s8_s16(svzip2_s16(a0, b0)),
                        svreinterpret_s8_s16(svzip1_s16(a1, b1)),
                        svreinterpret_s8_s16(svzip2_s16(a1, b1)));
}

XNN_INLINE svint8x4_t
load_weights(const int8_t *w) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b8();
    return svcreate4_s8(svld1_s8(all, w), svld1_vnum_s8(all, w, 1),
                        svld1_vnum_s8(all, w, 2), svld1_vnum_s8(all, w, 3));
}

XNN_INLINE svint32x4_t add_column(svint32x4_t s, svint8x4_t w,
                                  svint8x4_t x) __arm_streaming __arm_preserves("za") {
    return svcreate4_s32(svdot_s32(svget4_s32(s, 0), svget4_s8(w, 0), svget4_s8(x, 0)),
                         svdot_s32(svget4_s32(s, 1), svget4_s8(w, 1), svget4_s8(x, 1)),
                         svdot_s32(svget4_s32(s, 2), svget4_s8(w, 2), svget4_s8(x, 2)),
                         svdot_s32(svget4_s32(s, 3), svget4_s8(w, 3), svget4_s8(x, 3)));
}

XNN_INLINE svint8_t numbers_of(svint32x4_t s, svfloat32x4_t scales, svint32_t low,
                               svint32_t high,
                               svint8_t zero) __arm_streaming __arm_preserves("za") {
    const svint16_t x =
        svuzp1_s16(sme_bits(svget4_s32(s, 0), svget4_f32(scales, 0), low, high),
                   sme_bits(svget4_s32(s, 1), svget4_f32(scales, 1), low, high));
    const svint16_t y =
        svuzp1_s16(sme_bits(svget4_s32(s, 2), svget4_f32(scales, 2), low, high),
                   sme_bits(svget4_s32(s, 3), svget4_f32(scales, 3), low, high));
    const svint8_t both = svuzp1_s8(svreinterpret_s8_s16(x), svreinterpret_s8_s16(y));
    return svadd_s8_x(svptrue_b8(), both, zero);
}

// Repeats every `period` values from `first` on for the channels.
XNN_INLINE void run_channels(const ember_xnn_sme_depthwise_t *job,
                             const int8_t *const *rows, size_t first, size_t period,
                             size_t count,
                             int8_t *y) __arm_streaming __arm_preserves("za") {
    const size_t channels = (size_t)job->window->channels;
    const size_t channel = first % channels;
    const size_t pitch = 4 * (channels + svcntb());
    const size_t odd = xnn_sme_plane(job->window) * channels;
    const size_t one = job->window->x.stride == 1 ? channels : odd;
    const size_t two = job->window->x.stride == 1 ? 2 * channels : channels;
    const svbool_t all = svptrue_b32();
    const svint8x4_t w0 = load_weights(job->w + 4 * channel);
    const svint8x4_t w1 = load_weights(job->w + pitch + 4 * channel);
    const svint8x4_t w2 = load_weights(job->w + 2 * pitch + 4 * channel);
    const int32_t *s = job->start + channel;
    const float *f = job->scales + channel;
    const svint32x4_t start =
        svcreate4_s32(svld1_s32(all, s), svld1_vnum_s32(all, s, 1),
                      svld1_vnum_s32(all, s, 2), svld1_vnum_s32(all, s, 3));
    const svfloat32x4_t scales =
        svcreate4_f32(svld1_f32(all, f), svld1_vnum_f32(all, f, 1),
                      svld1_vnum_f32(all, f, 2), svld1_vnum_f32(all, f, 3));
    const svint32_t low = svdup_s32(SME_HALF + (int32_t)job->columns->range.low);
    const svint32_t high = svdup_s32(SME_HALF + (int32_t)job->columns->range.high);
    const svint8_t zero = svdup_s8((int8_t)job->columns->range.zero);
    for (size_t at = first; at < count; at += period) {
        const svbool_t some = svwhilelt_b8_u64(at, count);
        svint32x4_t sums = add_column(start, w0, load_column(rows, at, some));
        sums = add_column(sums, w1, load_column(rows, at + one, some));
        sums = add_column(sums, w2, load_column(rows, at + two, some));
        svst1_s8(some, y + at, numbers_of(sums, scales, low, high, zero));
    }
}

// Lists of channels: they wrap around.
static void prepare_lists(
    const ember_xnn_sme_depthwise_t *job) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const uint32_t n = (uint32_t)job->window->channels;
    const uint32_t end = n + (uint32_t)svcntb();
    const uint32_t step = n < words ? n : words;
    for (uint32_t i = 0; i < n; i += 2 * words) {
        const uint32_t left = n - i < 2 * words ? n - i : 2 * words;
        sme_store_columns(job->columns, (const uint8_t *)(job->sums + i), i, left,
                          job->start, job->scales);
    }
    for (uint32_t i = n; i < end; i += step) {
        const svbool_t some = svwhilelt_b32_u32(0, end - i < step ? end - i : step);
        svst1_s32(some, job->start + i, svld1_s32(some, job->start + i - n));
        svst1_f32(some, job->scales + i, svld1_f32(some, job->scales + i - n));
    }
}

// --- images --------------------------------------------------------------------------

// Bytes after which channels are at the same place of a vector again.
static size_t period_of(size_t channels) __arm_streaming __arm_preserves("za") {
    size_t lines = svcntb(); // a power of two
    for (size_t i = channels; i % 2 == 0 && lines > 1; i /= 2) {
        lines /= 2;
    }
    return lines * channels;
}

static void run_image(const ember_xnn_sme_depthwise_t *job, const int8_t *image,
                      int8_t *y) __arm_streaming __arm_preserves("za") {
    const ember_xnn_window_t *window = job->window;
    const size_t channels = (size_t)window->channels;
    const size_t line = (size_t)xnn_sme_line(window);
    const size_t pitch = channels * (uint32_t)window->x.in;
    const size_t count = channels * (uint32_t)window->x.out;
    const size_t period = period_of(channels);
    int32_t next = 0; // the first row of the image that was not copied yet
    for (int32_t i = 0; i < window->y.out; i++, y += count) {
        const int32_t top = i * window->y.stride - window->y.before;
        const int8_t *rows[XNN_SME_SIDE];
        next = next > top ? next : top;
        for (; next < top + XNN_SME_SIDE && next < window->y.in; next++) {
            copy_line(job, image + (size_t)next * pitch,
                      job->scratch + (size_t)(next % XNN_SME_SIDE) * line);
        }
        sme_slots(&window->y, top, XNN_SME_SIDE, job->scratch, line, rows);
        for (size_t at = 0; at < period && at < count; at += svcntb()) {
            run_channels(job, rows, at, period, count, y);
        }
    }
}

// Not inlined, see gemm.c.
__attribute__((noinline)) static void
run(const ember_xnn_sme_depthwise_t *job) __arm_streaming __arm_preserves("za") {
    const ember_xnn_window_t *window = job->window;
    const size_t channels = (size_t)window->channels;
    const size_t in = channels * (uint32_t)(window->y.in * window->x.in);
    const size_t out = channels * (uint32_t)(window->y.out * window->x.out);
    prepare_lists(job);
    sme_fill(job->scratch, job->zero, (XNN_SME_SIDE + 1) * xnn_sme_line(window));
    for (size_t b = 0; b < (size_t)window->batch; b++) {
        run_image(job, job->x + b * in, job->y + b * out);
    }
}

__arm_new("za") __arm_locally_streaming void ember_xnn_sme_depthwise(
    const ember_xnn_sme_depthwise_t *job) {
    run(job);
}
