// SPDX-License-Identifier: Apache-2.0
// Offsets for buffers of known lifetime below a capacity: exhaustive search.
//
// A section is a moment at which no further buffer comes alive before one dies; two
// buffers conflict when they share a section. There is a packing exactly when there is
// one in which every buffer is at 0 or on top of a buffer that it conflicts with. So
// a buffer's floor is the end of what lies below it, and the search asks of one buffer
// at a time: does it lie on its floor, or later on top of one that is still to come?
// Nothing is lost by asking only of buffers whose floor is below the lowest end that an
// open buffer could have: whatever conflicts with such a buffer goes above it.
//
// A branch ends when the open buffers of a section, taken from the highest floor down,
// pass the capacity. What fails most counts most: sections gather weight, the search
// starts again with another order and a longer allowance. Parts of time that no open
// buffer joins are searched on their own. (After M. Moffitt, MiniMalloc, ASPLOS 2023,
// for sections, floors and the division in time; question, bound and weights are ours.)
//
// The same problem gives the same answer on every machine: effort is counted in steps,
// not in seconds. Host only; memory is freed before return.
#include "conflicts.h"

#include <stdlib.h>
#include <string.h>

enum { FOUND = 1, IMPOSSIBLE = 0, GAVE_UP = -1, NO_MEMORY = -2 };
enum { KEYS = 4, ORDERS = 24 };
// Of what is searched: memory for conflicts, and for a part at each depth, grows with
// the square.
enum { MOST_BUFFERS = 4000 };

typedef struct {
    int32_t buffer;
    int64_t floor; // before the change
} change_t;

typedef struct {
    const ember_offsets_t *in;
    ember_conflicts_t conflicts;
    int64_t capacity;
    int64_t *floor;  // of a buffer: its offset once it is placed
    int64_t *open;   // of a section: bytes of buffers that are not placed
    int32_t *length; // of a buffer: sections
    int64_t *area;   // of a buffer: bytes times sections
    double *weight;  // of a section: how often it ended a branch
    int32_t *seen;   // of a section: the last round that checked it
    int32_t *sorted; // room for the members of one section
    uint8_t *placed;
    change_t *changes; // floors to put back, newest last
    int32_t change_count, change_room;
    int32_t round;
    int32_t order;
    int64_t nodes, allowance; // of this start
    int64_t steps;            // of all starts
    int failed_memory;
} search_t;

static int solve(search_t *s, const int32_t *part, int32_t count);

static int32_t low(const search_t *s, int32_t b) {
    return s->in->first[s->in->run[b]];
}

static int32_t high(const search_t *s, int32_t b) {
    return s->in->end[s->in->run[b + 1] - 1];
}

static int64_t end_of(const search_t *s, int32_t b) {
    return s->floor[b] + s->in->size[b];
}

static void raise_floor(search_t *s, int32_t b, int64_t to) {
    if (s->change_count == s->change_room) {
        int32_t room = s->change_room * 2 + 1024;
        change_t *grown = realloc(s->changes, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            s->failed_memory = 1;
            return;
        }
        s->changes = grown;
        s->change_room = room;
    }
    s->changes[s->change_count++] = (change_t){b, s->floor[b]};
    int64_t align = s->in->align[b];
    s->floor[b] = (to + align - 1) & ~(align - 1);
}

static void put_back(search_t *s, int32_t mark) {
    while (s->change_count > mark) {
        change_t last = s->changes[--s->change_count];
        s->floor[last.buffer] = last.floor;
    }
}

static void set_placed(search_t *s, int32_t b, int placed) {
    s->placed[b] = (uint8_t)placed;
    int64_t bytes = placed ? -s->in->size[b] : s->in->size[b];
    for (int32_t r = s->in->run[b]; r < s->in->run[b + 1]; r++) {
        for (int32_t section = s->in->first[r]; section < s->in->end[r]; section++) {
            s->open[section] += bytes;
        }
    }
}

// Open members of a section, highest floor first.
static int32_t open_members(search_t *s, int32_t section) {
    int32_t count = 0;
    for (int32_t k = s->conflicts.members.first[section];
         k < s->conflicts.members.first[section + 1]; k++) {
        int32_t b = s->conflicts.members.item[k];
        if (s->placed[b]) {
            continue;
        }
        int32_t at = count++;
        for (; at > 0 && s->floor[s->sorted[at - 1]] < s->floor[b]; at--) {
            s->sorted[at] = s->sorted[at - 1];
            s->steps++;
        }
        s->sorted[at] = b;
    }
    s->steps +=
        s->conflicts.members.first[section + 1] - s->conflicts.members.first[section];
    return count;
}

static int section_fits(search_t *s, int32_t section) {
    if (s->open[section] == 0) {
        return 1;
    }
    int32_t count = open_members(s, section);
    int64_t bytes = 0;
    for (int32_t k = 0; k < count; k++) {
        bytes += s->in->size[s->sorted[k]];
        if (s->floor[s->sorted[k]] + bytes > s->capacity) {
            return 0;
        }
    }
    return 1;
}

static int run_fits(search_t *s, int32_t r) {
    for (int32_t section = s->in->first[r]; section < s->in->end[r]; section++) {
        if (s->seen[section] == s->round) {
            continue;
        }
        s->seen[section] = s->round;
        if (!section_fits(s, section)) {
            s->weight[section] += 1;
            return 0;
        }
    }
    return 1;
}

// Whether the sections of a buffer fit that this round has not checked.
static int buffer_fits(search_t *s, int32_t b) {
    int fits = 1;
    for (int32_t r = s->in->run[b]; r < s->in->run[b + 1] && fits; r++) {
        fits = run_fits(s, r);
    }
    return fits;
}

// What a buffer counts by: sections, area, bytes, and the worst trouble it is in.
static void keys_of(const search_t *s, int32_t b, double keys[KEYS]) {
    keys[0] = s->length[b];
    keys[1] = (double)s->area[b];
    keys[2] = 0;
    keys[3] = (double)s->in->size[b];
    for (int32_t r = s->in->run[b]; r < s->in->run[b + 1]; r++) {
        for (int32_t section = s->in->first[r]; section < s->in->end[r]; section++) {
            double trouble = s->weight[section] * (double)s->open[section];
            keys[2] = trouble > keys[2] ? trouble : keys[2];
        }
    }
}

// Whether keys `a` come before `b` in the current order; 0 when they tie.
static int comes_before(const search_t *s, const double *a, const double *b) {
    static const uint8_t orders[ORDERS][3] = {
        {0, 1, 2}, {0, 1, 3}, {0, 2, 1}, {0, 2, 3}, {0, 3, 1}, {0, 3, 2},
        {1, 0, 2}, {1, 0, 3}, {1, 2, 0}, {1, 2, 3}, {1, 3, 0}, {1, 3, 2},
        {2, 0, 1}, {2, 0, 3}, {2, 1, 0}, {2, 1, 3}, {2, 3, 0}, {2, 3, 1},
        {3, 0, 1}, {3, 0, 2}, {3, 1, 0}, {3, 1, 2}, {3, 2, 0}, {3, 2, 1}};
    const uint8_t *order = orders[s->order % ORDERS];
    for (int k = 0; k < 3; k++) {
        if (a[order[k]] != b[order[k]]) {
            return a[order[k]] > b[order[k]];
        }
    }
    return 0;
}

// Whether to ask about b rather than about the best so far, -1 for none; orders of the
// first half take the lowest floor first.
static int is_better(const search_t *s, int32_t b, int32_t best, double keys[KEYS]) {
    double own[KEYS];
    keys_of(s, b, own);
    int better = best < 0 || comes_before(s, own, keys);
    if (best >= 0 && s->order < ORDERS && s->floor[b] != s->floor[best]) {
        better = s->floor[b] < s->floor[best];
    }
    if (better) {
        memcpy(keys, own, sizeof own);
    }
    return better;
}

static int32_t choose(search_t *s, const int32_t *part, int32_t count) {
    int64_t lowest_end = INT64_MAX;
    for (int32_t k = 0; k < count; k++) {
        int64_t end = end_of(s, part[k]);
        lowest_end = end < lowest_end ? end : lowest_end;
    }
    int32_t best = -1;
    double keys[KEYS] = {0};
    for (int32_t k = 0; k < count; k++) {
        int32_t b = part[k];
        if (s->floor[b] < lowest_end && is_better(s, b, best, keys)) {
            best = b;
        }
        s->steps += 2 + s->length[b];
    }
    return best;
}

// Places b on its floor; whether what is open can still fit.
static int place(search_t *s, int32_t b) {
    int32_t mark = s->change_count;
    int64_t end = end_of(s, b);
    set_placed(s, b, 1);
    for (int32_t k = s->conflicts.buffers.first[b];
         k < s->conflicts.buffers.first[b + 1]; k++) {
        int32_t other = s->conflicts.buffers.item[k];
        if (!s->placed[other] && s->floor[other] < end) {
            raise_floor(s, other, end);
        }
    }
    s->steps += s->conflicts.buffers.first[b + 1] - s->conflicts.buffers.first[b];
    s->round++;
    int fits = buffer_fits(s, b);
    for (int32_t k = mark; k < s->change_count && fits; k++) {
        fits = buffer_fits(s, s->changes[k].buffer);
    }
    return fits;
}

// Raises b onto the lowest end of an open buffer in conflict; whether it can fit.
static int lift(search_t *s, int32_t b) {
    int64_t to = INT64_MAX;
    for (int32_t k = s->conflicts.buffers.first[b];
         k < s->conflicts.buffers.first[b + 1]; k++) {
        int32_t other = s->conflicts.buffers.item[k];
        if (!s->placed[other] && end_of(s, other) < to) {
            to = end_of(s, other);
        }
    }
    if (to > s->capacity - s->in->size[b]) {
        return 0;
    }
    raise_floor(s, b, to);
    s->round++;
    return buffer_fits(s, b);
}

// The open buffers of a part, which is sorted by first section, in pieces that no
// open buffer joins.
static int solve_pieces(search_t *s, const int32_t *part, int32_t count) {
    int32_t *piece = malloc(((size_t)count + 1) * sizeof *piece);
    if (piece == NULL) {
        s->failed_memory = 1;
        return GAVE_UP;
    }
    int32_t length = 0;
    int32_t reach = 0;
    int result = FOUND;
    for (int32_t k = 0; k < count && result == FOUND; k++) {
        int32_t b = part[k];
        if (s->placed[b]) {
            continue;
        }
        if (length > 0 && low(s, b) >= reach) {
            result = solve(s, piece, length);
            length = 0;
        }
        piece[length++] = b;
        reach = high(s, b) > reach ? high(s, b) : reach;
    }
    if (result == FOUND && length > 0) {
        result = solve(s, piece, length);
    }
    free(piece);
    return result;
}

static void take_away(search_t *s, const int32_t *part, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        if (s->placed[part[k]]) {
            set_placed(s, part[k], 0);
        }
    }
}

// Places a part of which nothing is placed yet; leaves it so unless it is FOUND.
static int solve(search_t *s, const int32_t *part, int32_t count) {
    int32_t start = s->change_count;
    int result = GAVE_UP;
    while (++s->nodes <= s->allowance && !s->failed_memory) {
        int32_t b = choose(s, part, count);
        int32_t mark = s->change_count;
        result = place(s, b) ? solve_pieces(s, part, count) : IMPOSSIBLE;
        if (result == FOUND) {
            return FOUND;
        }
        take_away(s, part, count);
        put_back(s, mark);
        if (result == GAVE_UP || !lift(s, b)) {
            break;
        }
        result = GAVE_UP;
    }
    put_back(s, start);
    return result;
}

static int search_make(search_t *s) {
    size_t buffers = (size_t)s->in->buffers + 1;
    size_t sections = (size_t)s->in->sections + 1;
    s->open = calloc(sections, sizeof *s->open);
    s->length = calloc(buffers, sizeof *s->length);
    s->area = calloc(buffers, sizeof *s->area);
    s->weight = calloc(sections, sizeof *s->weight);
    s->seen = calloc(sections, sizeof *s->seen);
    s->sorted = calloc(buffers, sizeof *s->sorted);
    s->placed = calloc(buffers, sizeof *s->placed);
    if (s->open == NULL || s->length == NULL || s->area == NULL || s->weight == NULL ||
        s->seen == NULL || s->sorted == NULL || s->placed == NULL ||
        !ember_conflicts_members(&s->conflicts.members, s->in) ||
        !ember_conflicts_buffers(&s->conflicts.buffers, s->in)) {
        return 0;
    }
    for (int32_t b = 0; b < s->in->buffers; b++) {
        s->length[b] = ember_offsets_length(s->in, b);
        s->area[b] = s->in->size[b] * s->length[b];
        set_placed(s, b, 0);
    }
    return 1;
}

static void search_free(search_t *s) {
    ember_rows_free(&s->conflicts.members);
    ember_rows_free(&s->conflicts.buffers);
    free(s->open);
    free(s->length);
    free(s->area);
    free(s->weight);
    free(s->seen);
    free(s->sorted);
    free(s->placed);
    free(s->changes);
}

static int search_run(search_t *s, const int32_t *part, int64_t most_steps) {
    int32_t buffers = s->in->buffers;
    int result = GAVE_UP;
    s->allowance = 2 * (int64_t)buffers;
    while (result == GAVE_UP && !s->failed_memory && s->steps < most_steps) {
        s->nodes = 0;
        memset(s->floor, 0, (size_t)buffers * sizeof *s->floor);
        result = solve_pieces(s, part, buffers);
        take_away(s, part, result == GAVE_UP ? buffers : 0);
        s->order = (s->order + 1) % (2 * ORDERS);
        s->allowance += s->order == 0 ? s->allowance / 2 : 0;
    }
    return s->failed_memory ? NO_MEMORY : result;
}

// Looks for offsets (bytes) with which every buffer ends at or below `capacity`.
// `part` is every buffer, sorted by first section. FOUND, IMPOSSIBLE (proved),
// GAVE_UP (after about `most_steps`, or at once on too many buffers), or NO_MEMORY;
// `offset` counts when it is FOUND.
int ember_offsets_search(const ember_offsets_t *problem, const int32_t *part,
                         int64_t capacity, int64_t most_steps, int64_t *offset) {
    if (problem->buffers > MOST_BUFFERS) {
        return GAVE_UP;
    }
    search_t s = {.in = problem, .capacity = capacity, .floor = offset};
    int result = search_make(&s) ? search_run(&s, part, most_steps) : NO_MEMORY;
    search_free(&s);
    return result;
}
