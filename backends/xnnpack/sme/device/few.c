// SPDX-License-Identifier: Apache-2.0
// Static int8 whose rows have few products: they are not packed. A word of a row is
// multiplied with the same word of all columns by SDOT. The taps of a window's row are
// adjacent in the image; its rows are copied if they need padding.
#include "few.h"

#include "lines.h"
#include "static.h"

// Adjacent rows of the output, and where their elements are.
typedef struct run {
    const ember_xnn_sme_t *gemm;
    sme_few_t narrow; // one vector of columns
    sme_few_t wide;   // two
    int32_t *start;   // of all columns
    float *factors;
    const int8_t *lines[XNN_SME_MOST_LINES]; // elements of the first row
    int8_t *copies;                          // of rows with their padding
    size_t bytes;                            // of a row in a line
    size_t step;                             // from row to row
    size_t count;                            // of rows
    int8_t *y;
} run_t;

// --- rows ----------------------------------------------------------------------------

// The initial sums of all columns, and their scales: for all rows.
static void prepare_columns(run_t *run) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = run->gemm;
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t words = gemm->few->words;
    const uint32_t lists = (gemm->n + most - 1) / most * most;
    int32_t *start = (int32_t *)(void *)gemm->scratch;
    float *factors = (float *)(void *)(start + lists);
    run->start = start;
    run->factors = factors;
    run->copies = (int8_t *)(factors + lists);
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        const uint8_t *w = (const uint8_t *)gemm->w + 4 * (words + 1) * j;
        sme_store_columns(&gemm->fixed, w + 4 * words * columns, j, columns, start,
                          factors);
    }
}

// Groups of this many rows; if there are fewer the last one is repeated.
static void set_groups(const run_t *run, size_t rows,
                       sme_few_t *job) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = run->gemm;
    const size_t last = run->count < rows ? 0 : run->count - rows;
    for (size_t i = 0; i < rows; i++) {
        const size_t row = i < run->count ? i : run->count - 1;
        job->from[i] = row * run->step;
        job->to[i] = row * gemm->n;
    }
    job->lines = run->lines;
    job->line_count = gemm->few->lines;
    job->steps = run->bytes / 16;
    job->rest = run->bytes % 16;
    job->groups = (run->count + rows - 1) / rows;
    job->from_step = rows * run->step;
    job->to_step = rows * gemm->n;
    job->last_from = last * run->step;
    job->last_to = last * gemm->n;
    job->low = SME_HALF + (int32_t)gemm->fixed.range.low;
    job->high = SME_HALF + (int32_t)gemm->fixed.range.high;
    job->zero = gemm->fixed.range.zero;
    job->whole = gemm->n == svcntw() && run->count >= rows;
}

static void prepare(run_t *run) __arm_streaming __arm_preserves("za") {
    prepare_columns(run);
    set_groups(run, XNN_SME_GROUP, &run->narrow);
    set_groups(run, XNN_SME_GROUP / 2, &run->wide);
}

static void run_rows(run_t *run) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = run->gemm;
    const size_t bytes = 4 * (size_t)(gemm->few->words + 1);
    const size_t most = 2 * svcntw();
    for (size_t column = 0; column < gemm->n; column += most) {
        const size_t columns = gemm->n - column < most ? gemm->n - column : most;
        sme_few_t *job = columns > svcntw() ? &run->wide : &run->narrow;
        job->w = (const uint8_t *)gemm->w + column * bytes;
        job->y = run->y + column;
        job->columns = columns;
        job->start = run->start + column;
        job->factors = run->factors + column;
        if (columns > svcntw()) {
            xnn_sme_few_four(job);
        } else {
            xnn_sme_few_eight(job);
        }
    }
}

// --- images --------------------------------------------------------------------------

// The pixels of a row after its leading padding, which is there already.
static void copy_line(const ember_xnn_sme_t *gemm, const int8_t *from,
                      int8_t *to) __arm_streaming __arm_preserves("za") {
    const ember_xnn_window_t *window = gemm->window;
    const uint64_t before =
        (uint64_t)(uint32_t)window->x.before * (uint32_t)window->channels;
    const uint64_t room = before < gemm->few->line ? gemm->few->line - before : 0;
    const uint64_t bytes =
        (uint64_t)(uint32_t)window->x.in * (uint32_t)window->channels;
    sme_copy(to + before, from, bytes < room ? bytes : room);
}

// Rows of a padded image are in scratch in a ring, followed by a row of padding.
static void run_padded(run_t *run,
                       const int8_t *image) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = run->gemm;
    const ember_xnn_axis_t *down = &gemm->window->y;
    const size_t pixel = (uint32_t)gemm->window->channels;
    const size_t line = gemm->few->line;
    int8_t *slots = run->copies;
    int32_t next = 0; // the first row of the image that was not copied yet
    for (int32_t i = 0; i < down->out; i++) {
        const int32_t top = i * down->stride - down->before;
        next = next > top ? next : top;
        for (; next < top + down->kernel && next < down->in; next++) {
            copy_line(gemm, image + (size_t)next * (uint32_t)gemm->window->x.in * pixel,
                      slots + (size_t)(next % down->kernel) * line);
        }
        sme_slots(down, top, down->kernel, slots, line, run->lines);
        run_rows(run);
        run->y += run->count * gemm->n;
    }
}

static void run_plain(run_t *run,
                      const int8_t *image) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = run->gemm;
    const ember_xnn_axis_t *down = &gemm->window->y;
    const size_t pitch =
        (size_t)(uint32_t)gemm->window->x.in * (uint32_t)gemm->window->channels;
    for (int32_t i = 0; i < down->out; i++) {
        for (int32_t k = 0; k < down->kernel; k++) {
            run->lines[k] = image + (size_t)(i * down->stride + k) * pitch;
        }
        run_rows(run);
        run->y += run->count * gemm->n;
    }
}

static void run_images(run_t *run) __arm_streaming __arm_preserves("za") {
    const ember_xnn_sme_t *gemm = run->gemm;
    const ember_xnn_window_t *window = gemm->window;
    const uint32_t channels = (uint32_t)window->channels;
    const size_t image = (size_t)(uint32_t)(window->y.in * window->x.in) * channels;
    const uint64_t line = gemm->few->line;
    run->bytes = (size_t)(uint32_t)window->x.kernel * channels;
    run->step = (size_t)(uint32_t)window->x.stride * channels;
    run->count = (uint32_t)window->x.out;
    prepare(run);
    sme_fill(run->copies, (int8_t)gemm->fixed.in_zero, line * (gemm->few->lines + 1));
    for (uint32_t b = 0; b < (uint32_t)window->batch; b++) {
        const int8_t *from = (const int8_t *)gemm->a + b * image;
        if (line > 0) {
            run_padded(run, from);
        } else {
            run_plain(run, from);
        }
    }
}

void xnn_sme_few(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    run_t run; // not cleared: memset() cannot be called in this mode
    run.gemm = gemm;
    run.y = gemm->y;
    if (gemm->window != NULL) {
        run_images(&run);
        return;
    }
    run.lines[0] = gemm->a;
    run.bytes = gemm->k;
    run.step = gemm->k;
    run.count = gemm->m;
    prepare(&run);
    run_rows(&run);
}
