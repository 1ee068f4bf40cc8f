// SPDX-License-Identifier: Apache-2.0
#include "conflicts.h"

#include <stdlib.h>
#include <string.h>

static int rows_make(ember_rows_t *rows, int32_t count, int64_t items) {
    rows->first = calloc((size_t)count + 1, sizeof *rows->first);
    rows->item = malloc(((size_t)items + 1) * sizeof *rows->item);
    return rows->first != NULL && rows->item != NULL;
}

static int find_members(ember_rows_t *members, const ember_offsets_t *in) {
    int32_t links = in->first[in->buffers];
    int32_t *filled = calloc((size_t)in->sections + 1, sizeof *filled);
    if (filled == NULL || !rows_make(members, in->sections, links)) {
        free(filled);
        return 0;
    }
    for (int32_t k = 0; k < links; k++) {
        members->first[in->section[k] + 1]++;
    }
    for (int32_t k = 0; k < in->sections; k++) {
        members->first[k + 1] += members->first[k];
    }
    for (int32_t b = 0; b < in->buffers; b++) {
        for (int32_t k = in->first[b]; k < in->first[b + 1]; k++) {
            int32_t section = in->section[k];
            members->item[members->first[section] + filled[section]++] = b;
        }
    }
    free(filled);
    return 1;
}

// Writes the buffers in conflict with b to `row` unless it is NULL; returns how many.
// last[x] is the last buffer that counted x.
static int32_t row_of(const ember_rows_t *members, const ember_offsets_t *in, int32_t b,
                      int32_t *last, int32_t *row) {
    int32_t count = 0;
    for (int32_t k = in->first[b]; k < in->first[b + 1]; k++) {
        int32_t section = in->section[k];
        for (int32_t m = members->first[section]; m < members->first[section + 1];
             m++) {
            int32_t other = members->item[m];
            if (other == b || last[other] == b) {
                continue;
            }
            last[other] = b;
            if (row != NULL) {
                row[count] = other;
            }
            count++;
        }
    }
    return count;
}

static int find_buffers(ember_conflicts_t *conflicts, const ember_offsets_t *in) {
    size_t room = ((size_t)in->buffers + 1) * sizeof(int32_t);
    int32_t *last = malloc(room);
    if (last == NULL) {
        return 0;
    }
    int64_t links = 0;
    memset(last, 0xFF, room);
    for (int32_t b = 0; b < in->buffers; b++) {
        links += row_of(&conflicts->members, in, b, last, NULL);
    }
    ember_rows_t *rows = &conflicts->buffers;
    int made = links < INT32_MAX && rows_make(rows, in->buffers, links);
    memset(last, 0xFF, room);
    for (int32_t b = 0; b < in->buffers && made; b++) {
        int32_t *row = rows->item + rows->first[b];
        int32_t count = row_of(&conflicts->members, in, b, last, row);
        rows->first[b + 1] = rows->first[b] + count;
    }
    free(last);
    return made;
}

int ember_conflicts_make(ember_conflicts_t *conflicts, const ember_offsets_t *problem) {
    *conflicts = (ember_conflicts_t){0};
    return find_members(&conflicts->members, problem) &&
           find_buffers(conflicts, problem);
}

void ember_conflicts_free(ember_conflicts_t *conflicts) {
    free(conflicts->members.first);
    free(conflicts->members.item);
    free(conflicts->buffers.first);
    free(conflicts->buffers.item);
}
