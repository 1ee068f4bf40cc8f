// SPDX-License-Identifier: Apache-2.0
// Buffers of known lifetime, and which of them may not overlap. Host only.
#ifndef EMBER_OFFSETS_CONFLICTS_H
#define EMBER_OFFSETS_CONFLICTS_H

#include <stdint.h>

// Sizes in bytes. Buffer b is alive in the sections section[first[b]] ..
// section[first[b + 1] - 1], ascending and at least one.
typedef struct {
    int32_t buffers;
    int32_t sections;
    const int64_t *size;
    const int64_t *align; // powers of two
    const int32_t *first;
    const int32_t *section;
} ember_offsets_t;

// Row r is item[first[r]] .. item[first[r + 1] - 1].
typedef struct {
    int32_t *first;
    int32_t *item;
} ember_rows_t;

typedef struct {
    ember_rows_t members; // of each section its buffers, ascending
    ember_rows_t buffers; // of each buffer those that share a section with it
} ember_conflicts_t;

// Whether memory sufficed; ember_conflicts_free() follows in either case.
int ember_conflicts_make(ember_conflicts_t *conflicts, const ember_offsets_t *problem);
void ember_conflicts_free(ember_conflicts_t *conflicts);

#endif
