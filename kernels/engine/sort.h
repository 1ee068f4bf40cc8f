// SPDX-License-Identifier: Apache-2.0
// The first elements of each line of a tensor in sorted order, with their positions:
// topk and sort.
//
// sort is stable; NaN counts as the largest number, as in PyTorch. Up to EMBER_SORT_FEW
// elements are inserted into the outputs themselves, without scratch; for more, lines
// are merged, with 16 bytes of scratch for each element of a line.
#ifndef EMBER_KERNELS_ENGINE_SORT_H
#define EMBER_KERNELS_ENGINE_SORT_H

#include "kernels/engine/strided.h"
#include "kernels/engine/view.h"

enum {
    EMBER_SORT_FEW = 16,
    // Elementary steps of an element, of each in front of it when it is inserted, and
    // of each level of a heap or of merging.
    EMBER_SORT_STEPS = 32,
    EMBER_SORT_STEPS_BEFORE = 8,
    EMBER_SORT_STEPS_LEVEL = 4,
};

typedef struct ember_sort {
    char *values;  // (..., count, ...)
    char *indices; // int64, as values
    char *self;    // (..., size, ...); only read
    void *scratch; // for merging; NULL: insertion
    int32_t count;
    int32_t size;
    int32_t value_step; // along the sorted dimension, bytes
    int32_t index_step;
    int32_t self_step;
    uint8_t dtype;
    uint8_t dims; // of the table; 0: nothing to do
    bool descending;
    int32_t table[EMBER_WALK_ITEMS(3)]; // values, indices, self; without the dimension
} ember_sort_t;

// Sorts argument 0 along `dim`, which may be that of a scalar; the outputs are
// arguments `out` and `out + 1`. A negative `count` stands for the dimension's size.
EMBER_MUST_USE ember_status_t ember_sort_prepare(ember_sort_t *sort, ember_node_t *node,
                                                 uint32_t dim, int32_t count,
                                                 bool descending, uint32_t out);

void ember_sort_run(const ember_sort_t *sort);

// The same without scratch, which the caller asks for: 12 bytes for each of `count`
// keys and positions.
EMBER_MUST_USE ember_status_t ember_sort_lines(ember_sort_t *sort, ember_node_t *node,
                                               uint32_t dim, int32_t count,
                                               bool descending, uint32_t out);
EMBER_MUST_USE ember_status_t ember_sort_scratch(ember_sort_t *sort, ember_node_t *node,
                                                 int32_t count);

// Calls `line` for each line.
typedef void (*ember_sort_line_fn)(const ember_sort_t *sort, char *values,
                                   char *indices, const char *self);
void ember_sort_lines_run(const ember_sort_t *sort, ember_sort_line_fn line);

// An element as an integer in the order that is asked for.
int64_t ember_sort_key(const ember_sort_t *sort, const char *element);

// One line, either way.
void ember_sort_insert(const ember_sort_t *sort, char *values, char *indices,
                       const char *self);
void ember_sort_merge(const ember_sort_t *sort, char *values, char *indices,
                      const char *self);

#endif // EMBER_KERNELS_ENGINE_SORT_H
