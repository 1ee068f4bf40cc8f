// SPDX-License-Identifier: Apache-2.0
#include "conflicts.h"

#include <stdlib.h>

int32_t ember_offsets_length(const ember_offsets_t *in, int32_t b) {
    int32_t length = 0;
    for (int32_t r = in->run[b]; r < in->run[b + 1]; r++) {
        length += in->end[r] - in->first[r];
    }
    return length;
}

int32_t ember_offsets_meet(const ember_offsets_t *in, int32_t a, int32_t b) {
    int32_t r = in->run[a];
    int32_t q = in->run[b];
    while (r < in->run[a + 1] && q < in->run[b + 1]) {
        int32_t first = in->first[r] > in->first[q] ? in->first[r] : in->first[q];
        if (first < in->end[r] && first < in->end[q]) {
            return first;
        }
        if (in->end[r] < in->end[q]) {
            r++;
        } else {
            q++;
        }
    }
    return -1;
}

static int rows_make(ember_rows_t *rows, int32_t count, int64_t items) {
    rows->first = calloc((size_t)count + 1, sizeof *rows->first);
    rows->item = malloc(((size_t)items + 1) * sizeof *rows->item);
    return rows->first != NULL && rows->item != NULL;
}

void ember_rows_free(ember_rows_t *rows) {
    free(rows->first);
    free(rows->item);
}

int ember_conflicts_members(ember_rows_t *members, const ember_offsets_t *in) {
    int64_t links = 0;
    for (int32_t b = 0; b < in->buffers; b++) {
        links += ember_offsets_length(in, b);
    }
    int32_t *filled = calloc((size_t)in->sections + 1, sizeof *filled);
    if (filled == NULL || links >= INT32_MAX ||
        !rows_make(members, in->sections, links)) {
        free(filled);
        return 0;
    }
    for (int32_t r = 0; r < in->run[in->buffers]; r++) {
        for (int32_t section = in->first[r]; section < in->end[r]; section++) {
            members->first[section + 1]++;
        }
    }
    for (int32_t k = 0; k < in->sections; k++) {
        members->first[k + 1] += members->first[k];
    }
    for (int32_t b = 0; b < in->buffers; b++) {
        for (int32_t r = in->run[b]; r < in->run[b + 1]; r++) {
            for (int32_t section = in->first[r]; section < in->end[r]; section++) {
                members->item[members->first[section] + filled[section]++] = b;
            }
        }
    }
    free(filled);
    return 1;
}

typedef struct {
    int32_t section; // the first that is shared
    int32_t buffer;
} meeting_t;

static int by_section(const void *one, const void *other) {
    const meeting_t *a = one;
    const meeting_t *b = other;
    int order = (a->section > b->section) - (a->section < b->section);
    return order != 0 ? order : (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

// What buffer b meets, in `found`; how many.
static int32_t meetings(const ember_offsets_t *in, int32_t b, meeting_t *found) {
    int32_t count = 0;
    for (int32_t other = 0; other < in->buffers; other++) {
        int32_t section = other == b ? -1 : ember_offsets_meet(in, b, other);
        if (section >= 0) {
            found[count++] = (meeting_t){section, other};
        }
    }
    return count;
}

int ember_conflicts_buffers(ember_rows_t *buffers, const ember_offsets_t *in) {
    meeting_t *found = malloc(((size_t)in->buffers + 1) * sizeof *found);
    if (found == NULL) {
        return 0;
    }
    int64_t links = 0;
    for (int32_t b = 0; b < in->buffers; b++) {
        links += meetings(in, b, found);
    }
    int made = links < INT32_MAX && rows_make(buffers, in->buffers, links);
    for (int32_t b = 0; b < in->buffers && made; b++) {
        int32_t count = meetings(in, b, found);
        qsort(found, (size_t)count, sizeof *found, by_section);
        int32_t *row = buffers->item + buffers->first[b];
        for (int32_t k = 0; k < count; k++) {
            row[k] = found[k].buffer;
        }
        buffers->first[b + 1] = buffers->first[b] + count;
    }
    free(found);
    return made;
}
