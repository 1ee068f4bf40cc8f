// SPDX-License-Identifier: Apache-2.0
// A recurrent layer, step by step. Contract: recurrent.h.
#include <stddef.h>
#include <string.h>

#include "kernels/recurrent/numbers.h"

// The step of sequence `n` that is computed after `done` others.
static ptrdiff_t place_of(const ember_recurrent_t *s, int32_t n, int32_t done) {
    const int32_t step = s->is_reverse ? s->steps - 1 - done : done;
    return s->batch_first ? (ptrdiff_t)n * s->steps + step
                          : (ptrdiff_t)step * s->count + n;
}

// A state; where there is none, bytes of `none`.
static void start(void *to, const void *from, size_t bytes, int32_t none) {
    if (bytes == 0) {
        return; // pointers may be NULL
    }
    if (from == NULL) {
        memset(to, none, bytes);
    } else {
        memcpy(to, from, bytes);
    }
}

static void set_sums(const ember_recurrent_t *s, const ember_recurrent_core_t *core,
                     const int8_t *x, const int8_t *h) {
    core->sums(&s->of_x, x);
    core->sums(&s->of_h, h);
}

// The first `count` gates, whose x and h are added.
static ember_gates_task_t gates_of(const ember_recurrent_t *s, int32_t count) {
    return (ember_gates_task_t){
        .sums_x = s->of_x.sums,
        .sums_h = s->of_h.sums,
        .by_x = s->of_x.multipliers,
        .by_h = s->of_h.multipliers,
        .bias = s->bias,
        .gates = s->gates,
        .count = count,
        .shift_x = s->of_x.shift,
        .shift_h = s->of_h.shift,
    };
}

void ember_lstm_run(const ember_recurrent_t *s, const ember_recurrent_core_t *core,
                    ember_lstm_cells_t cells) {
    const ember_gates_task_t gates = gates_of(s, s->of_x.rows);
    const size_t size = (size_t)s->size;

    start(s->last_c, s->c, (size_t)s->count * size * sizeof(int16_t), 0);
    start(s->last_h, s->h, (size_t)s->count * size, s->result.zero_point);
    for (int32_t n = 0; n < s->count; n++) {
        int8_t *h = (int8_t *)s->last_h + n * s->size;
        for (int32_t done = 0; done < s->steps; done++) {
            const ptrdiff_t at = place_of(s, n, done);
            set_sums(s, core, s->x + at * s->of_x.inner, h);
            core->gates(&gates);
            cells(s, s->last_c + n * s->size, h);
            memcpy(s->y + at * s->size, h, size);
        }
    }
}

// The new gate, whose x and h are apart.
static void set_new(const ember_recurrent_t *s, const ember_recurrent_core_t *core,
                    ember_gates_task_t task) {
    const int32_t from = 2 * s->size;
    const ember_gates_task_t of_x = {
        .sums_x = task.sums_x + from,
        .by_x = task.by_x + from,
        .bias = task.bias + from,
        .gates = task.gates + from,
        .count = s->size,
        .shift_x = task.shift_x,
    };
    const ember_gates_task_t of_h = {
        .sums_x = task.sums_h + from,
        .by_x = task.by_h + from,
        .bias = of_x.bias + s->size,
        .gates = of_x.gates + s->size,
        .count = s->size,
        .shift_x = task.shift_h,
    };
    core->gates(&of_x);
    core->gates(&of_h);
}

void ember_gru_run(const ember_recurrent_t *s, const ember_recurrent_core_t *core,
                   ember_gru_cells_t cells) {
    const ember_gates_task_t gates = gates_of(s, 2 * s->size);

    start(s->last_h, s->h, (size_t)s->count * (size_t)s->size * sizeof(int16_t), 0);
    for (int32_t n = 0; n < s->count; n++) {
        int16_t *h = (int16_t *)s->last_h + n * s->size;
        const int8_t *before = s->start;
        for (int32_t j = 0; j < s->size; j++) {
            s->start[j] = ember_result_s8(h[j], &s->result);
        }
        for (int32_t done = 0; done < s->steps; done++) {
            const ptrdiff_t at = place_of(s, n, done);
            int8_t *y = s->y + at * s->size;
            set_sums(s, core, s->x + at * s->of_x.inner, before);
            core->gates(&gates);
            set_new(s, core, gates);
            cells(s, h, y);
            before = y;
        }
    }
}
