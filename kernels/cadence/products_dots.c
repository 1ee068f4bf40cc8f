// SPDX-License-Identifier: Apache-2.0
// Products of matrices of int8 with the instructions of a core. Contract: dots.h.
#include <stddef.h>

#include "kernels/cadence/dots.h"

static bool is_offset(int32_t zero) {
    return zero >= INT8_MIN && zero <= INT8_MAX;
}

ember_status_t ember_products_dots_prepare(ember_cadence_products_dots_t *s,
                                           ember_node_t *node,
                                           const ember_dots_t *dots) {
    const ember_cadence_products_t *by = &s->products;

    if (by->a_dtype != EMBER_S8 || by->b_dtype != EMBER_S8 || by->turned ||
        !is_offset(by->a_zero) || by->b_zero.at != NULL ||
        !is_offset(by->b_zero.whole) || by->columns < 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence products: not int8");
    }
    s->sums = ember_node_scratch(node, (size_t)by->columns * sizeof(int32_t) +
                                           dots->bytes(by->inner, by->columns));
    return ember_node_status(node);
}

static void scale(const ember_cadence_products_dots_t *s, int8_t *c) {
    const ember_cadence_products_t *by = &s->products;
    const bool one = by->multipliers.step == 0 && by->shifts.step == 0;
    float factor = 0.0f;

    for (uint32_t j = 0; j < (uint32_t)by->columns; j++) {
        const uint32_t bias = by->bias == NULL ? 0 : (uint32_t)by->bias[j];
        if (j == 0 || !one) {
            factor = ember_cadence_scale(ember_cadence_whole(&by->multipliers, j),
                                         ember_cadence_whole(&by->shifts, j));
        }
        const int32_t sum = (int32_t)((uint32_t)s->sums[j] + bias);
        c[j] = (int8_t)ember_cadence_cut_of(&by->cut, (float)sum * factor);
    }
}

void ember_products_dots_run(const ember_cadence_products_dots_t *s,
                             const ember_dots_t *dots) {
    const ember_cadence_products_t *by = &s->products;
    const int8_t *a = by->a;
    int8_t *c = by->c;
    ember_dots_task_t task = {
        .b = by->b,
        .count = by->columns,
        .inner = by->inner,
        .a_offset = (int16_t)-by->a_zero,
        .b_offset = (int16_t)-by->b_zero.whole,
        .scratch = s->sums + by->columns,
    };

    for (int32_t n = 0; n < by->batches; n++) {
        dots->start(&task);
        for (int32_t i = 0; i < by->rows; i++) {
            dots->sums(&task, a, 0, by->columns, s->sums);
            scale(s, c);
            a += by->inner;
            c += by->columns;
        }
        task.b += (ptrdiff_t)by->columns * by->inner;
    }
}
