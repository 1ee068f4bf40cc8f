// SPDX-License-Identifier: Apache-2.0
#include "resolve_limits.h"

#include <string.h>

typedef struct word {
    const char *text;
    size_t length;
} word_t;

// The next word of the line at `*at`; of length 0 at the end of the line.
static word_t next_word(const char **at, const char *end) {
    while (*at < end && **at == ' ') {
        (*at)++;
    }
    word_t word = {*at, 0};
    while (*at < end && **at != ' ' && **at != '\n') {
        (*at)++;
        word.length++;
    }
    return word;
}

static bool is(word_t word, const char *name) {
    return strlen(name) == word.length && memcmp(name, word.text, word.length) == 0;
}

static const ember_kernel_t *find(const ember_operator_t *item, word_t name) {
    const ember_kernel_t *const *candidate = item->candidates;
    while (*candidate != NULL && !is(name, (*candidate)->name)) {
        candidate++;
    }
    return *candidate;
}

static uint32_t count_words(const char *at, const char *end) {
    uint32_t count = 0;
    while (next_word(&at, end).length > 0) {
        count++;
    }
    return count;
}

// Gives `item` the candidates named on the rest of the line.
static bool limit(ember_operator_t *item, const char *at, const char *end,
                  ember_arena_t *room) {
    const uint32_t most = count_words(at, end);
    void *block = ember_arena_array(room, ember_resolve_words(most),
                                    sizeof(const ember_kernel_t *), EMBER_ALIGN);
    uint32_t count = 0;
    if (block == NULL) {
        return false;
    }
    const ember_kernel_t **kept = ember_resolve_candidates(block, item);
    for (uint32_t i = 0; i < most; i++) {
        const ember_kernel_t *found = find(item, next_word(&at, end));
        if (found != NULL) {
            kept[count++] = found;
        }
    }
    kept[count] = NULL;
    item->candidates = kept;
    return true;
}

static bool read_line(ember_operator_t *items, uint32_t count, const char **at,
                      const char *end, ember_arena_t *room) {
    const word_t name = next_word(at, end);
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        if (is(name, items[i].name)) {
            good = limit(&items[i], *at, end, room);
        }
    }
    while (*at < end && **at != '\n') {
        (*at)++;
    }
    return good;
}

ember_operators_t ember_resolve_limits(const ember_operators_t *all, ember_bytes_t text,
                                       ember_arena_t *room) {
    const char *at = (const char *)text.data;
    const char *end = at + text.size;
    ember_operator_t *items =
        ember_arena_array(room, all->count + 1, sizeof(*items), EMBER_ALIGN);
    if (items == NULL) {
        return (ember_operators_t){NULL, 0};
    }
    memcpy(items, all->items, all->count * sizeof(*items));
    for (; at < end; at++) {
        if (!read_line(items, all->count, &at, end, room)) {
            return (ember_operators_t){NULL, 0};
        }
    }
    return (ember_operators_t){items, all->count};
}
