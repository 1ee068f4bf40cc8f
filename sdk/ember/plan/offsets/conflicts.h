// SPDX-License-Identifier: Apache-2.0
// Buffers of known lifetime, and which of them may not overlap. Host only.
#ifndef EMBER_OFFSETS_CONFLICTS_H
#define EMBER_OFFSETS_CONFLICTS_H

#include <stdint.h>

// Sizes in bytes. Buffer b is alive in runs of sections: those from first[r] up to but
// without end[r], for r from run[b] on, up to but without run[b + 1]; ascending, and at
// least one.
typedef struct {
    int32_t buffers;
    int32_t sections;
    const int64_t *size;
    const int64_t *align; // powers of two
    const int32_t *run;
    const int32_t *first;
    const int32_t *end;
} ember_offsets_t;

// Row r is item[first[r]] .. item[first[r + 1] - 1].
typedef struct {
    int32_t *first;
    int32_t *item;
} ember_rows_t;

typedef struct {
    ember_rows_t members; // of each section its buffers, ascending
    // Of each buffer those that share a section with it, by the first such section.
    ember_rows_t buffers;
} ember_conflicts_t;

// How many sections a buffer is alive in.
int32_t ember_offsets_length(const ember_offsets_t *in, int32_t b);

// The first section in which both are alive, or -1.
int32_t ember_offsets_meet(const ember_offsets_t *in, int32_t a, int32_t b);

// Whether memory sufficed; ember_rows_free() follows in either case.
int ember_conflicts_members(ember_rows_t *members, const ember_offsets_t *in);
int ember_conflicts_buffers(ember_rows_t *buffers, const ember_offsets_t *in);
void ember_rows_free(ember_rows_t *rows);

#endif
