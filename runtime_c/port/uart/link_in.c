// SPDX-License-Identifier: Apache-2.0
// The stream from the host, up to what waits to be read; link_parts.h.
#include "link_parts.h"

#include "line.h"

#include <string.h>

// [taken, next) waits to be read; blocks of [next, taken + EMBER_LINK_WINDOW) may have
// arrived early.
static struct {
    uint32_t taken;
    uint32_t next;
    uint32_t told; // the limit in the last STATE
    uint32_t early[EMBER_LINK_BLOCKS / 32];
    uint8_t ring[EMBER_LINK_WINDOW];
} in;

static void store(uint32_t offset, const uint8_t *data, uint32_t size) {
    const uint32_t at = offset % EMBER_LINK_WINDOW;
    const uint32_t rest = EMBER_LINK_WINDOW - at;
    const uint32_t first = size < rest ? size : rest;

    ember_line_copy(in.ring + at, data, first);
    ember_line_copy(in.ring, data + first, size - first);
}

static uint32_t *early_word(uint32_t block) {
    return &in.early[block % EMBER_LINK_BLOCKS / 32];
}

static bool take_early(uint32_t block) {
    const uint32_t bit = 1u << block % 32;
    const bool was = (*early_word(block) & bit) != 0;

    *early_word(block) &= ~bit;
    return was;
}

// Everything before `end` has arrived, and with it the early blocks after it.
static void go_on(uint32_t end) {
    for (uint32_t block = in.next / EMBER_LINK_BLOCK; block < end / EMBER_LINK_BLOCK;
         block++) {
        (void)take_early(block);
    }
    in.next = end;
    while (take_early(in.next / EMBER_LINK_BLOCK)) {
        in.next = (in.next / EMBER_LINK_BLOCK + 1) * EMBER_LINK_BLOCK;
    }
}

void ember_link_in_accept(uint32_t offset, const uint8_t *data, uint32_t size) {
    const uint32_t limit = in.taken + EMBER_LINK_WINDOW;

    if (offset >= limit) {
        return;
    }
    const uint32_t end = size < limit - offset ? offset + size : limit;
    if (end <= in.next) {
        return;
    }
    if (offset <= in.next) {
        store(in.next, data + (in.next - offset), end - in.next);
        go_on(end);
        return;
    }
    const uint32_t first = (offset + EMBER_LINK_BLOCK - 1) / EMBER_LINK_BLOCK;
    const uint32_t last = end / EMBER_LINK_BLOCK;
    for (uint32_t block = first; block < last; block++) {
        const uint32_t at = block * EMBER_LINK_BLOCK;
        store(at, data + (at - offset), EMBER_LINK_BLOCK);
        *early_word(block) |= 1u << block % 32;
    }
}

uint32_t ember_link_in_tell(ember_link_state_t *state) {
    in.told = state->limit = in.taken + EMBER_LINK_WINDOW;
    memcpy(state->early, in.early, sizeof state->early);
    return in.next;
}

bool ember_link_in_is_empty(void) {
    return in.next == in.taken;
}

bool ember_link_in_has_room(void) {
    return in.taken + EMBER_LINK_WINDOW - in.told >= EMBER_LINK_WINDOW / 4;
}

size_t ember_link_in_take(uint8_t *to, size_t size) {
    const uint32_t at = in.taken % EMBER_LINK_WINDOW;
    const uint32_t ready = in.next - in.taken;
    size_t piece = ready < EMBER_LINK_WINDOW - at ? ready : EMBER_LINK_WINDOW - at;

    piece = piece < size ? piece : size;
    if (to != NULL) {
        ember_line_copy(to, in.ring + at, piece);
    }
    in.taken += (uint32_t)piece;
    return piece;
}
