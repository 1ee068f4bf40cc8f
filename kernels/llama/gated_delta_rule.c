// SPDX-License-Identifier: Apache-2.0
// llama::gated_delta_rule: linear attention, with a state (keys, values) for each head.
// For each token, in order:
//
//     state *= decay                    one number, or one for each row
//     state += key (value - key^T state) * beta
//     y      = query^T state            heads of queries may share a state
#include "ember/node.h"

#include <string.h>

#include "kernels/engine/work.h"

enum { QUERY, KEY, VALUE, DECAY, BETA, INITIAL, OUT, STATE };
enum { BATCH, HEADS, TOKENS, WIDTH, RANK }; // of queries, keys and values
enum { PASSES = 3 };                        // over a state, beside one for each query

typedef struct gated_delta {
    const float *query;   // (batches, states * queries, tokens, rows)
    const float *key;     // (batches, states, tokens, rows)
    const float *value;   // (batches, states, tokens, columns)
    const float *decay;   // as key, or without its last dimension
    const float *beta;    // (batches, states, tokens)
    const float *initial; // (batches, states, rows, columns)
    float *y;             // (batches, states * queries, tokens, columns)
    float *state;         // as initial
    uint32_t states;      // of all batches
    uint32_t queries;     // heads that share a state
    uint32_t tokens;
    uint32_t rows;
    uint32_t columns;
    bool by_row; // decay has a number for each row
} gated_delta_t;

// The state decays, and takes one token; `change` is room for a row.
static void take(const gated_delta_t *s, float *state, size_t token, float *change) {
    const float *key = s->key + token * s->rows, *value = s->value + token * s->columns;
    const float *decay = s->decay + token * (s->by_row ? s->rows : 1);

    for (uint32_t j = 0; j < s->columns; j++) {
        change[j] = 0.0f;
    }
    for (uint32_t i = 0; i < s->rows; i++) {
        float *row = state + (size_t)i * s->columns;
        const float by = decay[s->by_row ? i : 0];
        for (uint32_t j = 0; j < s->columns; j++) {
            row[j] *= by;
            change[j] += row[j] * key[i];
        }
    }
    for (uint32_t j = 0; j < s->columns; j++) {
        change[j] = (value[j] - change[j]) * s->beta[token];
    }
    for (uint32_t i = 0; i < s->rows; i++) {
        float *row = state + (size_t)i * s->columns;
        for (uint32_t j = 0; j < s->columns; j++) {
            row[j] += key[i] * change[j];
        }
    }
}

static void answer(const gated_delta_t *s, const float *state, size_t token, float *y) {
    const float *query = s->query + token * s->rows;

    for (uint32_t j = 0; j < s->columns; j++) {
        y[j] = 0.0f;
    }
    for (uint32_t i = 0; i < s->rows; i++) {
        const float *row = state + (size_t)i * s->columns;
        for (uint32_t j = 0; j < s->columns; j++) {
            y[j] += row[j] * query[i];
        }
    }
}

static int32_t run(void *data) {
    const gated_delta_t *s = data;
    const size_t size = (size_t)s->rows * s->columns;

    if (size > 0 && s->states > 0 && s->state != s->initial) {
        memmove(s->state, s->initial, s->states * size * sizeof(float));
    }
    for (uint32_t head = 0; head < s->states; head++) {
        for (uint32_t t = 0; t < s->tokens; t++) {
            float *state = s->state + head * size;
            const size_t first = (size_t)head * s->queries * s->tokens + t;
            take(s, state, (size_t)head * s->tokens + t, s->y + first * s->columns);
            for (uint32_t n = 0; n < s->queries; n++) {
                const size_t token = first + (size_t)n * s->tokens;
                answer(s, state, token, s->y + token * s->columns);
            }
        }
    }
    return EMBER_OK;
}

// Whether the first three sizes are those of `like`, and a fourth is `last`.
static bool is_shaped(const ember_tensor_t *tensor, uint32_t rank, const int32_t *like,
                      int32_t last) {
    if (tensor->rank != rank || memcmp(tensor->sizes, like, 3 * sizeof(*like)) != 0) {
        return false;
    }
    return rank < RANK || tensor->sizes[WIDTH] == last;
}

static bool set_sizes(gated_delta_t *s, const ember_tensor_t *given) {
    const ember_tensor_t *query = &given[QUERY], *key = &given[KEY];
    const ember_tensor_t *initial = &given[INITIAL], *decay = &given[DECAY];

    if (query->rank != RANK || key->rank != RANK || initial->rank != RANK) {
        return false;
    }
    const int32_t *sizes = key->sizes;
    const int32_t rows = sizes[WIDTH], columns = initial->sizes[WIDTH];
    if (sizes[HEADS] == 0 || query->sizes[HEADS] % sizes[HEADS] != 0 ||
        query->sizes[HEADS] == 0 || query->sizes[BATCH] != sizes[BATCH] ||
        query->sizes[TOKENS] != sizes[TOKENS] || query->sizes[WIDTH] != rows ||
        !is_shaped(&given[VALUE], RANK, sizes, columns) ||
        !is_shaped(&given[BETA], RANK - 1, sizes, 0) ||
        (decay->rank != RANK && decay->rank != RANK - 1) ||
        !is_shaped(decay, decay->rank, sizes, rows) ||
        initial->sizes[BATCH] != sizes[BATCH] ||
        initial->sizes[HEADS] != sizes[HEADS] || initial->sizes[TOKENS] != rows) {
        return false;
    }
    s->states = (uint32_t)sizes[BATCH] * (uint32_t)sizes[HEADS];
    s->queries = (uint32_t)(query->sizes[HEADS] / sizes[HEADS]);
    s->tokens = (uint32_t)sizes[TOKENS];
    s->rows = (uint32_t)rows;
    s->columns = (uint32_t)columns;
    s->by_row = decay->rank == RANK;
    return true;
}

static bool is_plain(const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_F32 && ember_tensor_is_contiguous(tensor);
}

static ember_status_t prepare(ember_node_t *node, void *data) {
    gated_delta_t *s = data;
    ember_tensor_t given[OUT], y, state;
    bool plain = true;

    for (uint32_t arg = QUERY; arg < OUT; arg++) {
        ember_node_tensor(node, arg, &given[arg]);
        plain = plain && is_plain(&given[arg]);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!set_sizes(s, given)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "gated_delta_rule: sizes do not fit");
    }
    const int32_t sizes[RANK] = {given[QUERY].sizes[BATCH], given[QUERY].sizes[HEADS],
                                 given[QUERY].sizes[TOKENS], (int32_t)s->columns};
    ember_node_output(node, OUT, RANK, sizes, &y);
    ember_node_output_like(node, STATE, &given[INITIAL], &state);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!plain || !is_plain(&y) || !is_plain(&state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "gated_delta_rule: wrong dtypes or layout");
    }
    if (y.numel == 0 && state.numel == 0) { // other sizes may be anything then
        s->states = 0;
    }
    s->query = given[QUERY].data;
    s->key = given[KEY].data;
    s->value = given[VALUE].data;
    s->decay = given[DECAY].data;
    s->beta = given[BETA].data;
    s->initial = given[INITIAL].data;
    s->y = y.data;
    s->state = state.data;
    ember_work_products(node, s->states * s->tokens, s->rows * s->columns,
                        PASSES + s->queries);
    ember_work_products(node, s->states * s->tokens, s->columns + s->rows,
                        PASSES + s->queries);
    return EMBER_OK;
}

EMBER_KERNEL(gated_delta_rule, gated_delta_t);
