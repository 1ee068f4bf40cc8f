// SPDX-License-Identifier: Apache-2.0
// Sorting one line. Contract: sort.h.
//
// Elements are compared by keys: integers in the order that is asked for.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/sort.h"

// The bits of a float, which have its order if it is positive.
static int64_t f32_key(float x) {
    int32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return x != x ? INT32_MAX : x == 0.0f ? 0 : bits ^ (bits < 0 ? INT32_MAX : 0);
}

static int64_t f64_key(double x) {
    int64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return x != x ? INT64_MAX : x == 0.0 ? 0 : bits ^ (bits < 0 ? INT64_MAX : 0);
}

int64_t ember_sort_key(const ember_sort_t *sort, const char *element) {
    ember_number_t number;
    int64_t key;

    ember_elements_load(ember_class_of(sort->dtype), &number, sort->dtype, element, 0,
                        1);
    switch (ember_class_of(sort->dtype)) {
    case EMBER_CLASS_F32:
        key = f32_key(number.f32);
        break;
    case EMBER_CLASS_F64:
        key = f64_key(number.f64);
        break;
    default: // the upper half of uint64 is negative
        key = sort->dtype == EMBER_U64 ? number.s64 ^ INT64_MIN : number.s64;
        break;
    }
    return sort->descending ? ~key : key;
}

// --- insertion ---------------------------------------------------------------------

// Puts element `index`, at `element`, into its place among the first `filled` values;
// drops the last one if there are `count`.
static void insert(const ember_sort_t *sort, char *values, char *indices,
                   const char *element, int32_t index, int32_t filled) {
    const size_t size = ember_dtype_size(sort->dtype);
    const int64_t key = ember_sort_key(sort, element);
    int32_t place = filled;

    while (place > 0) {
        const char *before = values + (ptrdiff_t)(place - 1) * sort->value_step;
        if (key >= ember_sort_key(sort, before)) {
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

// Merges the runs [first, middle) and [middle, past) of `from` to `to`.
static void merge(const int64_t *keys, const int32_t *from, int32_t *to, int32_t first,
                  int32_t middle, int32_t past) {
    int32_t left = first;
    int32_t right = middle;

    for (int32_t i = first; i < past; i++) {
        const bool from_right =
            right < past && (left == middle || keys[from[right]] < keys[from[left]]);
        to[i] = from_right ? from[right++] : from[left++];
    }
}

// Sorts the positions of the keys; returns the array that holds them.
static const int32_t *sort_order(const int64_t *keys, int32_t size, int32_t *order,
                                 int32_t *spare) {
    for (int32_t i = 0; i < size; i++) {
        order[i] = i;
    }
    for (int32_t run = 1; run < size; run *= 2) { // size is below 2^27
        for (int32_t first = 0; first < size; first += 2 * run) {
            const int32_t middle = size - first < run ? size : first + run;
            const int32_t past = size - first < 2 * run ? size : first + 2 * run;
            merge(keys, order, spare, first, middle, past);
        }
        int32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

void ember_sort_merge(const ember_sort_t *sort, char *values, char *indices,
                      const char *self) {
    const size_t size = ember_dtype_size(sort->dtype);
    int64_t *keys = sort->scratch;
    int32_t *first = (int32_t *)(void *)(keys + sort->size);

    for (int32_t i = 0; i < sort->size; i++) {
        keys[i] = ember_sort_key(sort, self + (ptrdiff_t)i * sort->self_step);
    }
    const int32_t *order = sort_order(keys, sort->size, first, first + sort->size);
    for (int32_t i = 0; i < sort->count; i++) {
        const int64_t wide = order[i];
        memmove(values, self + (ptrdiff_t)order[i] * sort->self_step, size);
        memcpy(indices, &wide, sizeof(wide));
        values += sort->value_step;
        indices += sort->index_step;
    }
}
