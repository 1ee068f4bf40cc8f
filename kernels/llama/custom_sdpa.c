// SPDX-License-Identifier: Apache-2.0
// llama::custom_sdpa: attention of the newest tokens to a cache of keys and values.
//
//     y = softmax(q k^T * scale + mask) v        for each head; heads share keys
//
// Without a mask a token sees the cache up to the last of the new tokens, or up to
// itself if `is_causal`; with one, the whole cache. Sums are float32 for every dtype.
#include "kernels/engine/element.h"
#include "kernels/engine/mathf.h"
#include "kernels/engine/work.h"

enum { Q, K, V, START, MASK, DROPOUT, CAUSAL, SCALE, OUT };
enum { BATCH, TOKENS, HEADS, DEPTH, RANK };

// Elementary steps for a weight: its exponential, its scale, and finding its rows.
enum { STEPS_WEIGHT = 48 };

typedef struct custom_sdpa {
    const char *q;     // (batches, tokens, heads, depth)
    const char *k;     // (batches, capacity, groups, depth)
    const char *v;     // as k
    const float *mask; // (tokens, capacity); NULL without
    char *y;           // as q
    float *weights;    // scratch: (capacity,), then three rows of depth
    float scale;
    int32_t batches;
    int32_t tokens;
    int32_t heads;
    int32_t groups; // of heads, which share keys and values
    int32_t capacity;
    int32_t depth;
    int32_t start; // of the tokens in the cache
    bool causal;
    uint8_t dtype;
} custom_sdpa_t;

// Row `row` of a tensor: where it is, if it is of float32, else a copy in `to`.
static const float *row_of(const custom_sdpa_t *s, const char *data, int64_t row,
                           float *to) {
    const int32_t size = (int32_t)ember_dtype_size(s->dtype);
    const char *at = data + (ptrdiff_t)row * s->depth * size;

    if (s->dtype == EMBER_F32) {
        return (const float *)(const void *)at;
    }
    ember_elements_load(EMBER_CLASS_F32, to, s->dtype, at, size, (uint32_t)s->depth);
    return to;
}

// Rows of the cache that a token sees.
static int32_t seen_by(const custom_sdpa_t *s, int32_t token) {
    if (s->mask != NULL) {
        return s->capacity;
    }
    return s->start + (s->causal ? token + 1 : s->tokens);
}

// exp(weight - the largest one); returns their sum. A row without any is all NaN, as
// in PyTorch.
static float soften(float *weights, int32_t count) {
    float top = -EMBER_INF, sum = 0.0f;

    for (int32_t j = 0; j < count; j++) {
        top = weights[j] > top ? weights[j] : top;
    }
    for (int32_t j = 0; j < count; j++) {
        weights[j] = ember_expf(weights[j] - top);
        sum += weights[j];
    }
    return sum;
}

static void attend(const custom_sdpa_t *s, int32_t batch, int32_t token, int32_t head) {
    const int32_t depth = s->depth, count = seen_by(s, token);
    const int32_t size = (int32_t)ember_dtype_size(s->dtype);
    float *query = s->weights + s->capacity, *other = query + depth;
    float *sums = other + depth;
    const int64_t at = ((int64_t)batch * s->tokens + token) * s->heads + head;
    const int64_t first = (int64_t)batch * s->capacity * s->groups +
                          head / (s->heads / s->groups); // of the keys and values
    const float *q = row_of(s, s->q, at, query);

    for (int32_t j = 0; j < count; j++) {
        const float *k = row_of(s, s->k, first + (int64_t)j * s->groups, other);
        float sum = 0.0f;
        for (int32_t i = 0; i < depth; i++) {
            sum += q[i] * k[i];
        }
        s->weights[j] = sum * s->scale;
        if (s->mask != NULL) {
            s->weights[j] += s->mask[(ptrdiff_t)token * s->capacity + j];
        }
    }
    const float scale = 1.0f / soften(s->weights, count);
    for (int32_t i = 0; i < depth; i++) {
        sums[i] = 0.0f;
    }
    for (int32_t j = 0; j < count; j++) {
        const float *v = row_of(s, s->v, first + (int64_t)j * s->groups, other);
        const float weight = s->weights[j] * scale;
        for (int32_t i = 0; i < depth; i++) {
            sums[i] += weight * v[i];
        }
    }
    ember_elements_store(EMBER_CLASS_F32, sums, s->dtype,
                         s->y + (ptrdiff_t)at * depth * size, size, (uint32_t)depth);
}

static int32_t run(void *state) {
    const custom_sdpa_t *s = state;

    for (int32_t batch = 0; batch < s->batches; batch++) {
        for (int32_t token = 0; token < s->tokens; token++) {
            for (int32_t head = 0; head < s->heads; head++) {
                attend(s, batch, token, head);
            }
        }
    }
    return EMBER_OK;
}

// Reads sizes; false if they do not fit.
static bool set_sizes(custom_sdpa_t *s, const ember_tensor_t *q,
                      const ember_tensor_t *k, const ember_tensor_t *v) {
    if (q->rank != RANK || k->rank != RANK || !ember_tensor_same_shape(k, v) ||
        q->sizes[BATCH] != k->sizes[BATCH] || q->sizes[DEPTH] != k->sizes[DEPTH]) {
        return false;
    }
    s->batches = q->sizes[BATCH];
    s->tokens = q->sizes[TOKENS];
    s->heads = q->sizes[HEADS];
    s->depth = q->sizes[DEPTH];
    s->capacity = k->sizes[TOKENS];
    s->groups = k->sizes[HEADS];
    return s->groups > 0 && s->heads % s->groups == 0;
}

static void read_mask(custom_sdpa_t *s, ember_node_t *node) {
    ember_tensor_t mask;

    s->mask = NULL;
    if (!ember_node_optional_tensor(node, MASK, &mask)) {
        if (s->start > s->capacity - s->tokens) {
            ember_node_fail(node, EMBER_BAD_PROGRAM,
                            "custom_sdpa: the tokens are outside of the cache");
        }
        return;
    }
    if (s->causal || mask.rank != 2 || mask.sizes[0] != s->tokens ||
        mask.sizes[1] != s->capacity) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "custom_sdpa: the mask does not fit");
    } else if (mask.dtype != EMBER_F32 || !ember_tensor_is_contiguous(&mask)) {
        ember_node_fail(node, EMBER_UNSUPPORTED, "custom_sdpa: the mask's dtype");
    } else {
        s->mask = mask.data;
    }
}

static void set_work(custom_sdpa_t *s, ember_node_t *node, uint32_t elements) {
    if (elements == 0) { // other sizes may be anything then
        s->batches = 0;
        return;
    }
    const uint32_t rows = elements / (uint32_t)s->depth;
    const uint32_t each = s->dtype == EMBER_F32 ? 2 : 2 + 2 * EMBER_STEPS_ANY;

    ember_work_products(node, rows, (uint32_t)s->capacity * (uint32_t)s->depth, each);
    ember_work_products(node, rows, (uint32_t)s->capacity, STEPS_WEIGHT);
    ember_work_products(node, rows, (uint32_t)s->depth, EMBER_STEPS_ANY);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    custom_sdpa_t *s = state;
    ember_tensor_t q, k, v, y;

    ember_node_tensor(node, Q, &q);
    ember_node_tensor(node, K, &k);
    ember_node_tensor(node, V, &v);
    s->start = ember_node_int_in(node, START, 0, INT32_MAX);
    s->causal = ember_node_bool(node, CAUSAL);
    ember_node_output_like(node, OUT, &q, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (ember_class_of(q.dtype) != EMBER_CLASS_F32 || k.dtype != q.dtype ||
        v.dtype != q.dtype || y.dtype != q.dtype || !ember_tensor_is_contiguous(&q) ||
        !ember_tensor_is_contiguous(&k) || !ember_tensor_is_contiguous(&v) ||
        !ember_tensor_is_contiguous(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "custom_sdpa: wrong dtypes or layout");
    }
    if (!set_sizes(s, &q, &k, &v)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "custom_sdpa: sizes do not fit");
    }
    read_mask(s, node);
    s->scale = ember_node_kind(node, SCALE) == EMBER_NONE
                   ? 1.0f / __builtin_sqrtf((float)s->depth)
                   : (float)ember_node_double(node, SCALE);
    s->q = q.data;
    s->k = k.data;
    s->v = v.data;
    s->y = y.data;
    s->dtype = q.dtype;
    s->weights = ember_node_scratch(
        node, ((size_t)(uint32_t)s->capacity + 3 * (size_t)(uint32_t)s->depth) *
                  sizeof(float));
    set_work(s, node, y.numel);
    return ember_node_status(node);
}

EMBER_KERNEL(custom_sdpa, custom_sdpa_t);
