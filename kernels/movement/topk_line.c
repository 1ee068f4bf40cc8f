// SPDX-License-Identifier: Apache-2.0
// The first elements of a line. Contract: topk.h.
//
// Elements are pairs of a key and a position, ordered only by the key. The steps, and
// so the order of equal ones, are those of std::partial_sort, or std::nth_element and
// std::sort.
#include <string.h>

#include "kernels/movement/topk.h"

enum {
    FEW = 64,      // elements for each wanted one from which a heap is used
    SMALL = 3,     // elements that are inserted instead of partitioned, for the nth
    INSERTED = 16, // and for sorting
    STACK = 32,    // pending parts: each is sorted after one of at most half its size
};

typedef struct {
    int64_t *keys;
    int32_t *places;
} pairs_t;

static bool less(const pairs_t *p, int32_t a, int32_t b) {
    return p->keys[a] < p->keys[b];
}

static void move(const pairs_t *p, int32_t to, int32_t from) {
    p->keys[to] = p->keys[from];
    p->places[to] = p->places[from];
}

static void exchange(const pairs_t *p, int32_t a, int32_t b) {
    const int64_t key = p->keys[a];
    const int32_t place = p->places[a];
    move(p, a, b);
    p->keys[b] = key;
    p->places[b] = place;
}

// --- a heap --------------------------------------------------------------------------

// Puts (key, position) into the heap of `count` from `hole` down, the last in order at
// the top.
static void sink(const pairs_t *p, int32_t hole, int32_t count, int64_t key,
                 int32_t place) {
    const int32_t top = hole;
    int32_t child = 2 * hole + 2;

    for (; child < count; child = 2 * child + 2) {
        child -= less(p, child, child - 1);
        move(p, hole, child);
        hole = child;
    }
    if (child == count) {
        move(p, hole, child - 1);
        hole = child - 1;
    }
    while (hole > top && p->keys[(hole - 1) / 2] < key) {
        move(p, hole, (hole - 1) / 2);
        hole = (hole - 1) / 2;
    }
    p->keys[hole] = key;
    p->places[hole] = place;
}

static void by_heap(const ember_sort_t *sort, const pairs_t *p, const char *self) {
    const int32_t count = sort->count;

    for (int32_t i = 0; i < count; i++) {
        p->keys[i] = ember_sort_key(sort, self + (ptrdiff_t)i * sort->self_step);
        p->places[i] = i;
    }
    for (int32_t i = count / 2 - 1; i >= 0; i--) {
        sink(p, i, count, p->keys[i], p->places[i]);
    }
    for (int32_t i = count; i < sort->size; i++) {
        const int64_t key = ember_sort_key(sort, self + (ptrdiff_t)i * sort->self_step);
        if (key < p->keys[0]) {
            sink(p, 0, count, key, i);
        }
    }
    for (int32_t last = count - 1; last > 0; last--) {
        const int64_t key = p->keys[last];
        const int32_t place = p->places[last];
        move(p, last, 0);
        sink(p, 0, last, key, place);
    }
}

// --- partitions ----------------------------------------------------------------------

static void insert(const pairs_t *p, int32_t first, int32_t past) {
    for (int32_t i = first + 1; i < past; i++) {
        const int64_t key = p->keys[i];
        const int32_t place = p->places[i];
        int32_t at = i;
        for (; at > first && key < p->keys[at - 1]; at--) {
            move(p, at, at - 1);
        }
        p->keys[at] = key;
        p->places[at] = place;
    }
}

// The median of three, without moving any.
static int32_t median(const pairs_t *p, int32_t a, int32_t b, int32_t c) {
    if (less(p, a, b)) {
        return less(p, b, c) ? b : less(p, a, c) ? c : a;
    }
    return less(p, a, c) ? a : less(p, b, c) ? c : b;
}

// Partitions [first, past) around a median, which comes first; returns where.
static int32_t part(const pairs_t *p, int32_t first, int32_t past) {
    const int32_t middle = first + (past - first) / 2;
    int32_t left = first + 1;
    int32_t right = past;

    exchange(p, first, median(p, first + 1, middle, past - 1));
    for (;; left++) {
        while (less(p, left, first)) {
            left++;
        }
        do {
            right--;
        } while (less(p, first, right));
        if (left >= right) {
            return left;
        }
        exchange(p, left, right);
    }
}

// Puts the nth in its place, with everything before it in front.
static void select_nth(const pairs_t *p, int32_t nth, int32_t past) {
    int32_t first = 0;

    while (past - first > SMALL) {
        const int32_t cut = part(p, first, past);
        if (cut <= nth) {
            first = cut;
        } else {
            past = cut;
        }
    }
    insert(p, first, past);
}

// The parts are independent: the longer one waits, so that few are pending.
static void sort_all(const pairs_t *p, int32_t count) {
    int32_t waiting[2 * STACK] = {0};
    uint32_t depth = 0;
    int32_t first = 0;
    int32_t past = count;

    for (;;) {
        while (past - first > INSERTED) {
            const int32_t cut = part(p, first, past);
            const bool left = cut - first < past - cut; // whether it is the shorter one
            waiting[2 * depth] = left ? cut : first;
            waiting[2 * depth + 1] = left ? past : cut;
            depth++;
            first = left ? first : cut;
            past = left ? cut : past;
        }
        if (depth == 0) {
            break;
        }
        depth--;
        first = waiting[2 * depth];
        past = waiting[2 * depth + 1];
    }
    insert(p, 0, count);
}

static void by_parts(const ember_sort_t *sort, const pairs_t *p, const char *self) {
    for (int32_t i = 0; i < sort->size; i++) {
        p->keys[i] = ember_sort_key(sort, self + (ptrdiff_t)i * sort->self_step);
        p->places[i] = i;
    }
    select_nth(p, sort->count - 1, sort->size);
    sort_all(p, sort->count - 1);
}

// --- a line --------------------------------------------------------------------------

bool ember_topk_is_few(const ember_sort_t *sort) {
    return sort->count <= sort->size / FEW;
}

void ember_topk_line(const ember_sort_t *sort, char *values, char *indices,
                     const char *self) {
    const bool few = ember_topk_is_few(sort);
    int64_t *keys = sort->scratch;
    const pairs_t pairs = {
        keys, (int32_t *)(void *)(keys + (few ? sort->count : sort->size))};

    if (few) {
        by_heap(sort, &pairs, self);
    } else {
        by_parts(sort, &pairs, self);
    }
    for (int32_t i = 0; i < sort->count; i++) {
        const int64_t place = pairs.places[i];
        memmove(values, self + (ptrdiff_t)place * sort->self_step,
                ember_dtype_size(sort->dtype));
        memcpy(indices, &place, sizeof(place));
        values += sort->value_step;
        indices += sort->index_step;
    }
}
