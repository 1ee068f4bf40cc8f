// SPDX-License-Identifier: Apache-2.0
// quantized_svdf, step by step. Contract: svdf.h.
#include <string.h>

#include "kernels/recurrent/numbers.h"
#include "kernels/recurrent/svdf.h"

// The output of unit `u`, of its sum over time.
static int8_t output(const ember_svdf_t *s, int64_t sum, int32_t u) {
    const int64_t rounded = (sum + (1 << (EMBER_ONE_S16 - 1))) >> EMBER_ONE_S16;
    const int32_t moved = (int32_t)((uint32_t)rounded << s->shift_y);
    const int64_t high = (int64_t)moved * s->by_y[u] + ((int64_t)1 << 31);
    const uint32_t biased = (uint32_t)(high >> 32) + (uint32_t)s->by_y[s->units + u];
    const int32_t y = (int32_t)biased >> EMBER_GATE_MORE;
    return (int8_t)(y > INT8_MAX ? INT8_MAX : y < INT8_MIN ? INT8_MIN : y);
}

// Drops the oldest number of `from` and appends `fresh`; the two may be the same.
static void append(int16_t *to, const int16_t *from, int32_t memory, int16_t fresh) {
    const int32_t others = memory - 1;

    memmove(to, from + 1, (size_t)others * sizeof(*to));
    to[others] = fresh;
}

static void run_step(const ember_svdf_t *s, const int16_t *from, int16_t *to, int8_t *y,
                     ember_dot_s16_fn dot) {
    const int16_t *times = s->times;
    const int16_t *fresh = s->fresh;

    for (int32_t u = 0; u < s->units; u++) {
        const int32_t count = s->rank * s->memory;
        int16_t *unit = to;
        for (int32_t r = 0; r < s->rank; r++) {
            append(to, from, s->memory, *fresh++);
            to += s->memory;
            from += s->memory;
        }
        y[u] = output(s, dot(unit, times, (uint32_t)count), u);
        times += count;
    }
}

void ember_svdf_run(const ember_svdf_t *s, const ember_recurrent_core_t *core,
                    ember_dot_s16_fn dot) {
    const ember_gates_task_t task = {
        .sums_x = s->of_x.sums,
        .by_x = s->of_x.multipliers,
        .bias = s->bias,
        .gates = s->fresh,
        .count = s->of_x.rows,
        .shift_x = s->of_x.shift,
    };
    const size_t size = (size_t)s->of_x.rows * (size_t)s->memory;
    const int8_t *x = s->x;
    const int16_t *from = s->held;
    int8_t *y = s->y;
    int16_t *to = s->next;

    for (int32_t n = 0; n < s->count; n++) {
        if (s->steps == 0) {
            memcpy(to, from, size * sizeof(*to));
        }
        for (int32_t step = 0; step < s->steps; step++) {
            core->sums(&s->of_x, x);
            core->gates(&task);
            run_step(s, step == 0 ? from : to, to, y, dot);
            x += s->of_x.inner;
            y += s->units;
        }
        from += size;
        to += size;
    }
}
