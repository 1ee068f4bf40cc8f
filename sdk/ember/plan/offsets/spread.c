// SPDX-License-Identifier: Apache-2.0
// Buffers over several memories, at the least cost that local search finds.
//
// What is counted is bytes alive at once, not offsets: whether a memory's buffers can
// be laid out within its capacity is for the caller to see. A buffer goes to a better
// memory even when that is full, if what has to leave costs less than it saves; now
// and then some are moved at random, and what comes out is kept if it is not worse.
#include "conflicts.h"

#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = -2 };

typedef struct {
    const ember_offsets_t *in;
    ember_rows_t members; // of each section its buffers
    int32_t memories;
    const int64_t *capacity; // (memories,) bytes
    const int64_t *cost;     // (buffers, memories); below 0: it may not lie there
    const int32_t *order;    // (buffers,) what is placed first
    int32_t *where;          // (buffers,)
    int64_t *load;           // (memories, sections) bytes
    int32_t *moved;          // journal: buffers, and where they were
    int32_t *came_from;
    int32_t journal;
    int32_t journal_room;
    int64_t total; // of all costs
    int64_t least; // if each buffer had the memory to itself
    int64_t steps; // left
    uint32_t random;
} spread_t;

static int64_t cost_of(const spread_t *own, int32_t b, int32_t memory) {
    return own->cost[(int64_t)b * own->memories + memory];
}

static int64_t *loads_of(const spread_t *own, int32_t memory) {
    return own->load + (int64_t)memory * own->in->sections;
}

static void add_load(spread_t *own, int32_t b, int32_t memory, int64_t bytes) {
    const ember_offsets_t *in = own->in;
    int64_t *load = loads_of(own, memory);
    for (int32_t r = in->run[b]; r < in->run[b + 1]; r++) {
        for (int32_t section = in->first[r]; section < in->end[r]; section++) {
            load[section] += bytes;
        }
        own->steps -= in->end[r] - in->first[r];
    }
}

static void set_place(spread_t *own, int32_t b, int32_t memory) {
    int32_t old = own->where[b];
    add_load(own, b, old, -own->in->size[b]);
    add_load(own, b, memory, own->in->size[b]);
    own->total += cost_of(own, b, memory) - cost_of(own, b, old);
    own->where[b] = memory;
}

// Whether there is room in the journal; the move is not made without.
static int move(spread_t *own, int32_t b, int32_t memory) {
    if (own->journal == own->journal_room) {
        return 0;
    }
    own->moved[own->journal] = b;
    own->came_from[own->journal++] = own->where[b];
    set_place(own, b, memory);
    return 1;
}

static void undo(spread_t *own, int32_t from) {
    while (own->journal > from) {
        own->journal--;
        set_place(own, own->moved[own->journal], own->came_from[own->journal]);
    }
}

static int fits(spread_t *own, int32_t b, int32_t memory) {
    const ember_offsets_t *in = own->in;
    const int64_t *load = loads_of(own, memory);
    int64_t most = own->capacity[memory] - in->size[b];
    own->steps--;
    for (int32_t r = in->run[b]; r < in->run[b + 1]; r++) {
        int32_t section = in->first[r];
        while (section < in->end[r] && load[section] <= most) {
            section++;
        }
        own->steps -= section - in->first[r];
        if (section < in->end[r]) {
            return 0;
        }
    }
    return 1;
}

// The cheapest memory but `without` that takes b as it is now, or -1.
static int32_t cheapest(spread_t *own, int32_t b, int32_t without) {
    int32_t found = -1;
    for (int32_t m = 0; m < own->memories; m++) {
        int64_t cost = cost_of(own, b, m);
        int better = found < 0 || cost < cost_of(own, b, found);
        if (m != without && cost >= 0 && better && fits(own, b, m)) {
            found = m;
        }
    }
    return found;
}

// Bytes that `memory` has too much in the sections of b, of each at most b's size.
static int64_t relief(spread_t *own, int32_t b, int32_t memory) {
    const ember_offsets_t *in = own->in;
    const int64_t *load = loads_of(own, memory);
    int64_t bytes = 0;
    for (int32_t r = in->run[b]; r < in->run[b + 1]; r++) {
        for (int32_t section = in->first[r]; section < in->end[r]; section++) {
            int64_t over = load[section] - own->capacity[memory];
            bytes += over <= 0 ? 0 : over < in->size[b] ? over : in->size[b];
        }
        own->steps -= in->end[r] - in->first[r];
    }
    return bytes;
}

// A section of b in which `memory` holds too much, or -1.
static int32_t overfull(const spread_t *own, int32_t b, int32_t memory) {
    const ember_offsets_t *in = own->in;
    const int64_t *load = loads_of(own, memory);
    for (int32_t r = in->run[b]; r < in->run[b + 1]; r++) {
        for (int32_t section = in->first[r]; section < in->end[r]; section++) {
            if (load[section] > own->capacity[memory]) {
                return section;
            }
        }
    }
    return -1;
}

// Takes the buffer but b out of a section of `memory` that costs least per byte of
// relief. Whether one could go.
static int evict(spread_t *own, int32_t b, int32_t memory, int32_t section) {
    const ember_rows_t *members = &own->members;
    int32_t victim = -1, target = -1;
    double least = 0;
    for (int32_t k = members->first[section]; k < members->first[section + 1]; k++) {
        int32_t one = members->item[k];
        if (one == b || own->where[one] != memory) {
            continue;
        }
        int32_t to = cheapest(own, one, memory);
        if (to < 0) {
            continue;
        }
        double loss = (double)(cost_of(own, one, to) - cost_of(own, one, memory)) /
                      (double)relief(own, one, memory);
        if (victim < 0 || loss < least) {
            victim = one;
            target = to;
            least = loss;
        }
    }
    return victim >= 0 && move(own, victim, target);
}

// Puts b into `memory`, whatever has to leave. Whether it could be done.
static int force(spread_t *own, int32_t b, int32_t memory) {
    if (!move(own, b, memory)) {
        return 0;
    }
    for (int32_t section; (section = overfull(own, b, memory)) >= 0;) {
        if (!evict(own, b, memory, section)) {
            return 0;
        }
    }
    return 1;
}

// Moves what finds a better memory with room.
static void refill(spread_t *own) {
    for (int32_t k = 0; k < own->in->buffers; k++) {
        int32_t b = own->order[k];
        int64_t now = cost_of(own, b, own->where[b]);
        int32_t best = own->where[b];
        for (int32_t m = 0; m < own->memories; m++) {
            int64_t cost = cost_of(own, b, m);
            if (cost >= 0 && cost < now && fits(own, b, m)) {
                best = m;
                now = cost;
            }
        }
        if (best != own->where[b] && !move(own, b, best)) {
            return;
        }
        own->steps--;
    }
}

// One pass over all that would be cheaper elsewhere; whether something got better.
static int improve(spread_t *own) {
    int64_t before = own->total;
    for (int32_t k = 0; k < own->in->buffers && own->steps > 0; k++) {
        int32_t b = own->order[k];
        for (int32_t m = 0; m < own->memories; m++) {
            int64_t cost = cost_of(own, b, m), total = own->total;
            int32_t mark = own->journal;
            if (cost < 0 || cost >= cost_of(own, b, own->where[b])) {
                continue;
            }
            int done = force(own, b, m);
            if (done) {
                refill(own);
            }
            if (!done || own->total >= total) {
                undo(own, mark);
            }
        }
    }
    return own->total < before;
}

static uint32_t next_random(spread_t *own, uint32_t below) {
    own->random = own->random * 1664525u + 1013904223u;
    return (own->random >> 8) % below;
}

// Moves a few buffers to a memory of chance.
static void shake(spread_t *own) {
    uint32_t count = 1 + next_random(own, 4);
    for (uint32_t n = 0; n < count; n++) {
        int32_t b = (int32_t)next_random(own, (uint32_t)own->in->buffers);
        int32_t m = (int32_t)next_random(own, (uint32_t)own->memories);
        int32_t mark = own->journal;
        if (m != own->where[b] && cost_of(own, b, m) >= 0 && !force(own, b, m)) {
            undo(own, mark);
        }
    }
}

static void search(spread_t *own) {
    refill(own);
    own->journal = 0;
    while (own->steps > 0 && improve(own)) {
        own->journal = 0;
    }
    while (own->steps > 0 && own->total > own->least) {
        int64_t best = own->total;
        own->journal = 0;
        shake(own);
        refill(own);
        while (own->steps > 0 && improve(own)) {
        }
        if (own->total > best) {
            undo(own, 0);
        }
        own->steps--;
    }
}

// Everything starts in its last allowed memory, the one that always has room.
static void start(spread_t *own) {
    for (int32_t b = 0; b < own->in->buffers; b++) {
        int32_t m = own->memories - 1;
        while (m > 0 && cost_of(own, b, m) < 0) {
            m--;
        }
        own->where[b] = m;
        add_load(own, b, m, own->in->size[b]);
        own->total += cost_of(own, b, m);
        int64_t least = cost_of(own, b, m);
        for (int32_t k = 0; k < m; k++) {
            int64_t cost = cost_of(own, b, k);
            least = cost >= 0 && cost < least ? cost : least;
        }
        own->least += least;
    }
}

// Gives every buffer a memory. `cost` is (buffers, memories), below 0 where a buffer
// may not lie; the last memory takes all that may lie there. `order` is what to place
// first. 1, or NO_MEMORY.
int ember_offsets_spread(const ember_offsets_t *problem, const int32_t *order,
                         int32_t memories, const int64_t *capacity, const int64_t *cost,
                         int64_t steps, int32_t *where) {
    size_t cells = (size_t)memories * (size_t)problem->sections;
    spread_t own = {.in = problem,
                    .memories = memories,
                    .capacity = capacity,
                    .cost = cost,
                    .order = order,
                    .where = where,
                    .steps = steps,
                    .random = 1,
                    .journal_room = 64 * problem->buffers + 1024};
    own.load = calloc(cells + 1, sizeof *own.load);
    own.moved = malloc((size_t)own.journal_room * sizeof *own.moved);
    own.came_from = malloc((size_t)own.journal_room * sizeof *own.came_from);
    int made = ember_conflicts_members(&own.members, problem) && own.load != NULL &&
               own.moved != NULL && own.came_from != NULL;
    if (made) {
        start(&own);
        search(&own);
    }
    ember_rows_free(&own.members);
    free(own.load);
    free(own.moved);
    free(own.came_from);
    return made ? 1 : NO_MEMORY;
}
