// SPDX-License-Identifier: Apache-2.0
// Sorting one line. Contract: sort.h.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/sort.h"

// Whether `a` is the smaller number; NaN is larger than all others.
static bool is_less(uint32_t dtype, ember_number_t a, ember_number_t b) {
    switch (ember_class_of(dtype)) {
    case EMBER_CLASS_F32:
        return a.f32 < b.f32 || (b.f32 != b.f32 && a.f32 == a.f32);
    case EMBER_CLASS_F64:
        return a.f64 < b.f64 || (b.f64 != b.f64 && a.f64 == a.f64);
    default:
        return dtype == EMBER_U64 ? (uint64_t)a.s64 < (uint64_t)b.s64 : a.s64 < b.s64;
    }
}

// Whether `later`, which stands behind `earlier`, belongs before it.
static bool overtakes(const ember_sort_t *sort, ember_number_t later,
                      ember_number_t earlier) {
    return sort->descending ? is_less(sort->dtype, earlier, later)
                            : is_less(sort->dtype, later, earlier);
}

static ember_number_t load(uint32_t dtype, const char *at) {
    ember_number_t number;

    ember_elements_load(ember_class_of(dtype), &number, dtype, at, 0, 1);
    return number;
}

// --- insertion ---------------------------------------------------------------------

// Puts element `index`, at `element`, in its place among the first `filled` values;
// the last one falls out when there are `count`.
static void insert(const ember_sort_t *sort, char *values, char *indices,
                   const char *element, int32_t index, int32_t filled) {
    const size_t size = ember_dtype_size(sort->dtype);
    const ember_number_t number = load(sort->dtype, element);
    int32_t place = filled;

    while (place > 0) {
        const char *before = values + (ptrdiff_t)(place - 1) * sort->value_step;
        if (!overtakes(sort, number, load(sort->dtype, before))) {
            break;
        }
        if (place < sort->count) {
            char *index_at = indices + (ptrdiff_t)place * sort->index_step;
            memcpy(values + (ptrdiff_t)place * sort->value_step, before, size);
            memcpy(index_at, index_at - sort->index_step, sizeof(int64_t));
        }
        place--;
    }
    if (place < sort->count) {
        const int64_t wide = index;
        memmove(values + (ptrdiff_t)place * sort->value_step, element, size);
        memcpy(indices + (ptrdiff_t)place * sort->index_step, &wide, sizeof(wide));
    }
}

void ember_sort_insert(const ember_sort_t *sort, char *values, char *indices,
                       const char *self) {
    for (int32_t i = 0; i < sort->size; i++) {
        insert(sort, values, indices, self + (ptrdiff_t)i * sort->self_step, i,
               i < sort->count ? i : sort->count);
    }
}

// --- merging -----------------------------------------------------------------------

typedef struct {
    const ember_sort_t *sort;
    const char *keys; // the numbers of the line, of their class
    uint32_t size;    // bytes of one
} line_t;

static ember_number_t key(const line_t *line, int32_t at) {
    ember_number_t number;

    memcpy(&number, line->keys + (size_t)at * line->size, line->size);
    return number;
}

// Merges the runs [first, middle) and [middle, past) of `from` to `to`.
static void merge(const line_t *line, const int32_t *from, int32_t *to, int32_t first,
                  int32_t middle, int32_t past) {
    int32_t left = first;
    int32_t right = middle;

    for (int32_t i = first; i < past; i++) {
        const bool from_right =
            right < past &&
            (left == middle ||
             overtakes(line->sort, key(line, from[right]), key(line, from[left])));
        to[i] = from_right ? from[right++] : from[left++];
    }
}

// Sorts the line's positions; answers which of both arrays has them.
static const int32_t *sort_order(const line_t *line, int32_t *order, int32_t *spare) {
    const int32_t size = line->sort->size;

    for (int32_t i = 0; i < size; i++) {
        order[i] = i;
    }
    for (int32_t run = 1; run < size; run *= 2) { // size is below 2^27
        for (int32_t first = 0; first < size; first += 2 * run) {
            const int32_t middle = size - first < run ? size : first + run;
            const int32_t past = size - first < 2 * run ? size : first + 2 * run;
            merge(line, order, spare, first, middle, past);
        }
        int32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

void ember_sort_merge(const ember_sort_t *sort, char *values, char *indices,
                      const char *self) {
    const ember_class_t class = ember_class_of(sort->dtype);
    char *keys = sort->scratch;
    int32_t *first = (int32_t *)(void *)(keys + (size_t)sort->size * 8);
    const line_t line = {sort, keys, ember_class_size(class)};

    ember_elements_load(class, keys, sort->dtype, self, sort->self_step,
                        (uint32_t)sort->size);
    const int32_t *order = sort_order(&line, first, first + sort->size);
    for (int32_t i = 0; i < sort->count; i++) {
        const int64_t wide = order[i];
        ember_number_t number = key(&line, order[i]);
        ember_elements_store(class, &number, sort->dtype, values, 0, 1);
        memcpy(indices, &wide, sizeof(wide));
        values += sort->value_step;
        indices += sort->index_step;
    }
}
