// SPDX-License-Identifier: Apache-2.0
// Offsets for buffers of known lifetime: each, in a given order, into a gap.
#include "conflicts.h"

#include <stdlib.h>

typedef struct {
    const ember_offsets_t *in;
    ember_conflicts_t conflicts;
    int32_t *below; // room for the conflicts of one buffer
} fit_t;

static int64_t aligned(int64_t offset, int64_t align) {
    return (offset + align - 1) & ~(align - 1);
}

// Placed buffers in conflict with b, lowest offset first; offset -1 is not placed.
static int32_t placed_conflicts(fit_t *fit, int32_t b, const int64_t *offset) {
    const ember_rows_t *rows = &fit->conflicts.buffers;
    int32_t count = 0;
    for (int32_t k = rows->first[b]; k < rows->first[b + 1]; k++) {
        int32_t other = rows->item[k];
        if (offset[other] < 0) {
            continue;
        }
        int32_t at = count++;
        for (; at > 0 && offset[fit->below[at - 1]] > offset[other]; at--) {
            fit->below[at] = fit->below[at - 1];
        }
        fit->below[at] = other;
    }
    return count;
}

// The lowest gap that takes b, or with `best` the smallest one.
static int64_t gap_for(fit_t *fit, int32_t b, int best, const int64_t *offset) {
    int64_t size = fit->in->size[b];
    int64_t align = fit->in->align[b];
    int32_t count = placed_conflicts(fit, b, offset);
    int64_t top = 0; // of what lies below the gap
    int64_t found = -1;
    int64_t smallest = INT64_MAX;
    for (int32_t k = 0; k < count; k++) {
        int32_t other = fit->below[k];
        int64_t start = aligned(top, align);
        int64_t gap = offset[other] - start;
        if (gap >= size && gap < smallest) {
            found = start;
            smallest = best ? gap : 0;
        }
        int64_t end = offset[other] + fit->in->size[other];
        top = end > top ? end : top;
    }
    return found >= 0 ? found : aligned(top, align);
}

// Gives every buffer an offset (bytes) in the order of `order`. Those whose offset is
// not -1 on entry stay there. `best`: the smallest gap that fits rather than the
// lowest. Whether memory sufficed.
int ember_offsets_first_fit(const ember_offsets_t *problem, const int32_t *order,
                            int best, int64_t *offset) {
    fit_t fit = {.in = problem};
    fit.below = malloc(((size_t)problem->buffers + 1) * sizeof *fit.below);
    int made = ember_conflicts_make(&fit.conflicts, problem) && fit.below != NULL;
    for (int32_t k = 0; k < problem->buffers && made; k++) {
        int32_t b = order[k];
        if (offset[b] < 0) {
            offset[b] = gap_for(&fit, b, best, offset);
        }
    }
    ember_conflicts_free(&fit.conflicts);
    free(fit.below);
    return made;
}
