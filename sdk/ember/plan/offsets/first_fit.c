// SPDX-License-Identifier: Apache-2.0
// Offsets for buffers of known lifetime: each, in a given order, into a gap.
#include "conflicts.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t buffer;
    int32_t first; // of its sections
    int32_t end;   // of its last run
    int64_t low;   // bytes from here on
    int64_t high;
} placed_t;

typedef struct {
    const ember_offsets_t *in;
    placed_t *placed; // lowest offset first
    int32_t count;
} fit_t;

static int64_t aligned(int64_t offset, int64_t align) {
    return (offset + align - 1) & ~(align - 1);
}

static placed_t of(const ember_offsets_t *in, int32_t b, int64_t offset) {
    int32_t last = in->run[b + 1] - 1;
    return (placed_t){b, in->first[in->run[b]], in->end[last], offset,
                      offset + in->size[b]};
}

// The lowest gap that takes b, or with `best` the smallest one.
static int64_t gap_for(const fit_t *fit, int32_t b, int best) {
    int64_t size = fit->in->size[b];
    int64_t align = fit->in->align[b];
    int64_t top = 0; // of what lies below the gap
    int64_t found = -1;
    int64_t smallest = INT64_MAX;
    placed_t own = of(fit->in, b, 0);
    for (const placed_t *other = fit->placed; other < fit->placed + fit->count;
         other++) {
        if (other->first >= own.end || own.first >= other->end ||
            ember_offsets_meet(fit->in, b, other->buffer) < 0) {
            continue;
        }
        int64_t start = aligned(top, align);
        int64_t gap = other->low - start;
        if (gap >= size && gap < smallest) {
            found = start;
            smallest = best ? gap : 0;
        }
        top = other->high > top ? other->high : top;
    }
    return found >= 0 ? found : aligned(top, align);
}

// Puts b behind all that lie as low.
static void insert(fit_t *fit, int32_t b, int64_t offset) {
    int32_t low = 0;
    int32_t high = fit->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (fit->placed[middle].low > offset) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    size_t behind = (size_t)(fit->count - low);
    memmove(fit->placed + low + 1, fit->placed + low, behind * sizeof *fit->placed);
    fit->placed[low] = of(fit->in, b, offset);
    fit->count++;
}

// Gives every buffer an offset (bytes) in the order of `order`. Those whose offset is
// not -1 on entry stay there. `best`: the smallest gap that fits rather than the
// lowest. Whether memory sufficed.
int ember_offsets_first_fit(const ember_offsets_t *problem, const int32_t *order,
                            int best, int64_t *offset) {
    fit_t fit = {.in = problem};
    fit.placed = malloc(((size_t)problem->buffers + 1) * sizeof *fit.placed);
    if (fit.placed == NULL) {
        return 0;
    }
    for (int32_t b = 0; b < problem->buffers; b++) {
        if (offset[b] >= 0) {
            insert(&fit, b, offset[b]);
        }
    }
    for (int32_t k = 0; k < problem->buffers; k++) {
        int32_t b = order[k];
        if (offset[b] < 0) {
            offset[b] = gap_for(&fit, b, best);
            insert(&fit, b, offset[b]);
        }
    }
    free(fit.placed);
    return 1;
}
