// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/arange.h"

#include <math.h>

static double real(ember_value_t value) {
    return value.kind == EMBER_DOUBLE ? value.as_double : (double)value.as_int;
}

// Elements of a range of integers; -1 if the range is invalid.
static int64_t count_integers(int64_t start, int64_t end, int64_t step) {
    if (step == 0 || (step > 0 ? end < start : end > start)) {
        return -1;
    }
    const uint64_t span =
        step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    const uint64_t stride = step > 0 ? (uint64_t)step : 0u - (uint64_t)step;
    const uint64_t count = span / stride + (span % stride != 0 ? 1 : 0);
    return count > INT32_MAX ? -1 : (int64_t)count;
}

static int64_t count_reals(double start, double end, double step) {
    const double count = ceil((end - start) / step);
    return count >= 0.0 && count <= (double)INT32_MAX ? (int64_t)count : -1;
}

ember_status_t ember_arange_prepare(ember_node_t *node, void *state,
                                    ember_value_t start, ember_value_t end,
                                    ember_value_t step, uint32_t out) {
    ember_arange_t *s = state;
    ember_tensor_t y;
    const bool integers = start.kind != EMBER_DOUBLE && end.kind != EMBER_DOUBLE &&
                          step.kind != EMBER_DOUBLE;
    const int64_t count = integers
                              ? count_integers(start.as_int, end.as_int, step.as_int)
                              : count_reals(real(start), real(end), real(step));
    if (count < 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "arange: the range is invalid");
    }
    const int32_t size = (int32_t)count;
    ember_node_output(node, out, 1, &size, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    *s = (ember_arange_t){y.data,         y.numel, y.dtype, EMBER_CLASS_S64,
                          y.element_size, {0},     {0}};
    if (integers) {
        s->start.s64 = start.as_int;
        s->step.s64 = step.as_int;
    } else {
        s->class = EMBER_CLASS_F64;
        s->start.f64 = real(start);
        s->step.f64 = real(step);
    }
    return EMBER_OK;
}

enum { BLOCK = 16 }; // numbers that are stored at a time

// Values of the range from `first` on, for classes of 8 bytes.
static void fill(const ember_arange_t *s, uint32_t first, uint32_t count,
                 ember_number_t *numbers) {
    for (uint32_t i = 0; i < count; i++) {
        if (s->class == EMBER_CLASS_S64) {
            numbers[i].s64 =
                (int64_t)((uint64_t)s->start.s64 + (first + i) * (uint64_t)s->step.s64);
        } else {
            numbers[i].f64 = s->start.f64 + (double)(first + i) * s->step.f64;
        }
    }
}

int32_t ember_arange_run(void *state) {
    const ember_arange_t *s = state;
    ember_number_t numbers[BLOCK];
    char *at = s->data;

    for (uint32_t i = 0; i < s->count; i += BLOCK, at += BLOCK * s->size) {
        const uint32_t count = s->count - i < BLOCK ? s->count - i : BLOCK;
        fill(s, i, count, numbers);
        ember_elements_store((ember_class_t)s->class, numbers, s->dtype, at, s->size,
                             count);
    }
    return EMBER_OK;
}
