// SPDX-License-Identifier: Apache-2.0
// llama::update_cache: new tokens are written into a cache, from a position on.
#include "ember/node.h"

#include <string.h>

enum { VALUE, CACHE, START, OUT };
enum { BATCH, TOKENS, RANK = 4 };

typedef struct update_cache {
    const char *value;
    char *cache; // at the position
    void *out;   // (1,): nothing of use, but the schema has it
    uint32_t batches;
    size_t bytes; // of the tokens of a batch
    size_t step;  // bytes of a batch of the cache
    size_t out_bytes;
} update_cache_t;

static int32_t run(void *state) {
    const update_cache_t *s = state;

    for (uint32_t batch = 0; s->bytes > 0 && batch < s->batches; batch++) {
        memcpy(s->cache + batch * s->step, s->value + batch * s->bytes, s->bytes);
    }
    memset(s->out, 0, s->out_bytes);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    static const int32_t one = 1;
    update_cache_t *s = state;
    ember_tensor_t value, cache, out;

    ember_node_tensor(node, VALUE, &value);
    ember_node_inout(node, CACHE, &cache);
    ember_node_output(node, OUT, 1, &one, &out);
    const int32_t start = ember_node_int_in(node, START, 0, INT32_MAX);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (value.dtype != cache.dtype || !ember_tensor_is_contiguous(&value) ||
        !ember_tensor_is_contiguous(&cache)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "update_cache: wrong dtypes or layout");
    }
    if (value.rank != RANK || cache.rank != RANK ||
        value.sizes[BATCH] != cache.sizes[BATCH] ||
        memcmp(value.sizes + 2, cache.sizes + 2, 2 * sizeof(value.sizes[0])) != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "update_cache: sizes do not fit");
    }
    if (start > cache.sizes[TOKENS] - value.sizes[TOKENS]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "update_cache: the tokens are outside of the cache");
    }
    const size_t row = (size_t)(uint32_t)cache.sizes[2] * (uint32_t)cache.sizes[3] *
                       ember_dtype_size(cache.dtype);
    s->value = value.data;
    s->bytes = value.numel == 0 ? 0 : (size_t)(uint32_t)value.sizes[TOKENS] * row;
    s->step = (size_t)(uint32_t)cache.sizes[TOKENS] * row;
    s->cache = s->bytes > 0 && cache.data != NULL
                   ? (char *)cache.data + (size_t)(uint32_t)start * row
                   : NULL;
    s->batches = (uint32_t)value.sizes[BATCH];
    s->out = out.data;
    s->out_bytes = ember_dtype_size(out.dtype);
    return EMBER_OK;
}

EMBER_KERNEL(update_cache, update_cache_t);
