// SPDX-License-Identifier: Apache-2.0
// The actions of a region of rows, for files that define move_large(), which is called
// by its name: a pointer counts as a call of any node.
#ifndef EMBER_KERNELS_ROWS_ROWS_RUN_H
#define EMBER_KERNELS_ROWS_ROWS_RUN_H

#include <string.h>

#include "kernels/rows/rows_table.h"

#define LEAST 0xff800000u // -infinity as a word

// What is copied at a time. Rows may lie anywhere.
typedef struct __attribute__((may_alias, packed)) block {
    uint32_t words[4];
} block_t;

typedef struct __attribute__((may_alias, aligned(4))) large_block {
    uint32_t words[16];
} large_block_t;

// Copies `count` > 0 blocks, the first ones first, each to lower addresses or to
// elsewhere.
static void move_large(large_block_t *to, const large_block_t *from, uint32_t count);

// memmove() to lower addresses, or to elsewhere.
static void move(uint8_t *to, const uint8_t *from, uint32_t bytes) {
    const uintptr_t apart = (uintptr_t)from - (uintptr_t)to;
    const uintptr_t places = (uintptr_t)to | (uintptr_t)from;

    if ((places & 3) == 0 && apart >= sizeof(large_block_t) &&
        bytes >= sizeof(large_block_t)) {
        const uint32_t large = bytes & -(uint32_t)sizeof(large_block_t);
        move_large((void *)to, (const void *)from, large / sizeof(large_block_t));
        to += large;
        from += large;
        bytes -= large;
    }
    if (apart >= sizeof(block_t)) {
        for (; bytes >= sizeof(block_t); bytes -= (uint32_t)sizeof(block_t)) {
            const block_t *x = (const block_t *)(const void *)from;
            const uint32_t a = x->words[0], b = x->words[1];
            const uint32_t c = x->words[2], d = x->words[3];
            *(block_t *)(void *)to = (block_t){{a, b, c, d}};
            to += sizeof(block_t);
            from += sizeof(block_t);
        }
    }
    if (bytes > 0) {
        memmove(to, from, bytes);
    }
}

static void fill(uint8_t *to, uint32_t word, uint32_t bytes) {
    const block_t block = {{word, word, word, word}};
    const uint8_t *end = to + (bytes & -(uint32_t)sizeof(block));

    for (; to != end; to += sizeof(block)) {
        *(block_t *)(void *)to = (block_t){{word, word, word, word}};
    }
    memcpy(to, &block, bytes % sizeof(block));
}

// Copies `bytes` between a row of a window and what an edge has from `*at` on.
static bool pass(const ember_rows_edge_t *edge, uint32_t *at, uint8_t *row,
                 uint32_t bytes, bool out) {
    const uint32_t part = edge->planes == 1 ? bytes : bytes / edge->planes;
    uint8_t *there = edge->data + *at;

    if (part > edge->bytes - *at) {
        return false;
    }
    for (uint32_t plane = edge->planes; plane > 0; plane--) {
        move(out ? there : row, out ? row : there, part);
        there += edge->bytes;
        row += part;
    }
    *at += part;
    return true;
}

// Does one action; `at` says how far each edge has come, in bytes of a plane. Returns
// EMBER_OK, what a node returned, or EMBER_DATA_RANGE at the end of an edge.
static int32_t act(const ember_rows_t *s, ember_rows_action_t action, uint32_t *at) {
    const ember_rows_window_t *window = &s->windows[action.window];
    const uint32_t before = (window->rows - 1u) * window->row;
    uint8_t *first = s->slab + window->at;
    uint8_t *last = first + before;

    if (before > 0 && action.what != EMBER_ROWS_OUT) {
        move(first, first + window->row, before);
    }
    if (action.what == EMBER_ROWS_RUN) {
        return s->nodes[action.which].run(s->nodes[action.which].state);
    }
    if (action.what == EMBER_ROWS_FILL || action.what == EMBER_ROWS_LEAST) {
        const uint32_t bytes = window->fill * 0x01010101u;
        fill(last, action.what == EMBER_ROWS_FILL ? bytes : LEAST, window->row);
        return EMBER_OK;
    }
    if (action.what == EMBER_ROWS_SKIP) {
        return EMBER_OK;
    }
    const bool out = action.what == EMBER_ROWS_OUT;
    return pass(&s->edges[action.which], &at[action.which], last + window->beside,
                window->row - 2u * window->beside, out)
               ? EMBER_OK
               : EMBER_DATA_RANGE;
}

// All steps of the table.
static inline int32_t run_rows(const ember_rows_t *s) {
    uint32_t at[EMBER_ROWS_EDGES] = {0};
    int32_t status = EMBER_OK;

    for (uint32_t i = 0; i < s->step_count && status == EMBER_OK; i++) {
        status = act(s, s->actions[s->steps[i]], at);
    }
    return status;
}

#endif // EMBER_KERNELS_ROWS_ROWS_RUN_H
